package clienttelemetry.broker.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import client_telemetry.raw.v1.RawDumpV1.ConnectionEvent;
import client_telemetry.raw.v1.RawDumpV1.ConnectionEvent.Kind;
import clienttelemetry.broker.contract.Drops;
import clienttelemetry.broker.contract.DumpRecord;
import com.google.protobuf.InvalidProtocolBufferException;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.errors.InvalidRequestException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The lines, word for word, of Kafka 3.7.1 to 4.4.0. */
class FailedLoginsTest {
    private static final String SOCKET_SERVER = "[SocketServer listenerType=BROKER, nodeId=1] ";
    private static final String ID = "127.0.0.1:29200-10.0.0.7:46656-0-6";

    private final List<ConnectionEvent> events = new ArrayList<>();
    private final ConnectionRegistry registry = ConnectionRegistryTest.registry(this::tell, new Drops(), 1 << 20, System::nanoTime);

    private void tell(DumpRecord record) {
        try {
            events.add(ConnectionEvent.parseFrom(record.fields));
        } catch (InvalidProtocolBufferException e) {
            throw new AssertionError(e);
        }
    }

    private void failed(String id, String reason, long millis) {
        registry.selected(SOCKET_SERVER + "Failed authentication with /10.0.0.7 (channelId=" + id + ") (" + reason + ")", null, millis);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256 | SCRAM-SHA-256",
        "Authentication failed: Invalid username or password | PLAIN",
        "Unsupported SASL mechanism GSSAPI | GSSAPI",
        "Exception handling first SASL packet from client, GSSAPI is not supported by server | GSSAPI",
        "{\"status\":\"invalid_token\"} |",
        "Failing SASL authentication due to invalid receive size |",
        "Unexpected Kafka request of type METADATA during SASL handshake. |",
        "SSL handshake failed |"})
    void reasons(String reason, String mechanism) {
        failed(ID, reason, 5);
        ConnectionEvent event = events.get(0);
        assertEquals(Kind.AUTHENTICATION_FAILED, event.getKind());
        assertEquals(reason, event.getFailureReason());
        assertEquals("10.0.0.7", event.getClient().getClientAddress());
        assertEquals("CLIENTS", event.getClient().getListenerName(), "by the port that the client connected to");
        assertEquals("SASL_SSL", event.getClient().getSecurityProtocol());
        assertEquals(mechanism == null ? "" : mechanism, event.getClient().getSaslMechanism());
        assertEquals(5_000_000L, event.getObservedAtNanos());
        assertEquals(0, registry.size());
    }

    @Test
    void bytesThatAreNoLogin() {
        registry.selected(SOCKET_SERVER + "Unexpected error from /10.0.0.7 (channelId=" + ID + "); closing connection",
                new InvalidRequestException("Error getting request for apiKey: SASL_HANDSHAKE, apiVersion: 9, connectionId: " + ID
                        + ", principal: User:ANONYMOUS", new IllegalArgumentException("Unexpected api key: 97")), 5);
        String reason = events.get(0).getFailureReason();
        assertTrue(reason.contains("SASL_HANDSHAKE") && reason.endsWith("; Unexpected api key: 97"), reason);
        assertFalse(reason.contains("10.0.0.7"), "the address is elsewhere: " + reason);
    }

    @Test
    void repetitionsAreSummedUp() {
        for (int i = 0; i < 150; i++) {
            failed("127.0.0.1:29200-10.0.0.7:" + (40_000 + i) + "-0-" + i, "SSL handshake failed", 1000 + i);
        }
        assertEquals(1, events.size(), "the first one is told at once");
        registry.snapshot(false, 2000, this::tell);
        assertEquals(2, events.size());
        assertEquals(149, events.get(1).getConnections());
        assertEquals(1_001_000_000L, events.get(1).getOpenedAtNanos());
        assertEquals(1_149_000_000L, events.get(1).getObservedAtNanos());
        assertFalse(events.get(1).getClient().hasClientPort());
        registry.snapshot(false, 3000, this::tell);
        assertEquals(2, events.size());
    }

    /** The client chooses the name of the mechanism, line breaks and all. */
    @Test
    void aReasonOfSeveralLines() {
        failed(ID, "Unsupported SASL mechanism A\nB\r\nC", 5);
        assertEquals(1, events.size());
        assertEquals("Unsupported SASL mechanism A\nB\r\nC", events.get(0).getFailureReason());
    }

    /** One address that makes up ever new mechanisms hid the failed logins of all others. */
    @Test
    void oneAddressDoesNotHideOthers() {
        for (int i = 0; i < 6000; i++) {
            failed("127.0.0.1:29200-10.0.0.7:" + (1000 + i) + "-0-" + i, "Unsupported SASL mechanism M" + i, i);
        }
        int ofOne = events.size();
        assertTrue(ofOne < 200, ofOne + " events of one address");
        registry.selected(SOCKET_SERVER + "Failed authentication with /10.0.0.8 (channelId=127.0.0.1:29200-10.0.0.8:5-0-6) (SSL handshake failed)",
                null, 7000);
        assertEquals(ofOne + 1, events.size());
        assertEquals("10.0.0.8", events.get(ofOne).getClient().getClientAddress());
        registry.snapshot(false, 8000, this::tell);
        long failures = events.stream().filter(each -> each.getClient().getClientAddress().equals("10.0.0.7"))
                .mapToLong(ConnectionEvent::getConnections).sum();
        assertEquals(6000, failures, "none is lost");
        assertEquals(6001, registry.failedLogins());
    }

    @Test
    void aLoginThatWorkedIsNone() {
        registry.selected(SOCKET_SERVER + "Successfully authenticated with /10.0.0.7", null, 1);
        registry.selected("[Producer clientId=x] Failed authentication with b/10.0.0.7 (channelId=1) (x)", null, 1);
        assertTrue(events.isEmpty());
        assertEquals(0, registry.failedLogins());
    }
}
