package clienttelemetry.broker.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import client_telemetry.raw.v1.RawDumpV1.ApiUse;
import client_telemetry.raw.v1.RawDumpV1.ConnectionEvent;
import client_telemetry.raw.v1.RawDumpV1.ConnectionEvent.Kind;
import clienttelemetry.broker.contract.Drops;
import clienttelemetry.broker.contract.DumpRecord;
import clienttelemetry.broker.identifiers.ConnectionId;
import clienttelemetry.broker.identifiers.IdentifierRules;
import clienttelemetry.broker.settings.Listeners;
import com.google.protobuf.InvalidProtocolBufferException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.apache.kafka.common.errors.InvalidRequestException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.junit.jupiter.api.Test;

public class ConnectionRegistryTest {
    private static final String ID = "127.0.0.1:29200-10.0.0.7:46656-0-6";
    private static final String TAIL = "\"totalTimeMs\":1.8,\"requestQueueTimeMs\":0.1,\"localTimeMs\":1.0,\"remoteTimeMs\":0.0,"
            + "\"throttleTimeMs\":0,\"responseQueueTimeMs\":0.3,\"sendTimeMs\":0.1,\"securityProtocol\":\"PLAINTEXT\",\"principal\":";

    private final List<DumpRecord> records = new ArrayList<>();
    private final Drops drops = new Drops();
    private long ticks;
    private final ConnectionRegistry registry = registry(records::add, drops, 64 << 20, () -> ticks);

    public static ConnectionRegistry registry(Consumer<DumpRecord> sink, Drops drops, long maxBytes, LongSupplier ticks) {
        Listeners listeners = Listeners.of(Map.of("controller.listener.names", "CONTROLLER",
                "listeners", "CLIENTS://:29200,CONTROLLER://:9093", "listener.security.protocol.map", "CLIENTS:SASL_SSL,CONTROLLER:PLAINTEXT"));
        return new ConnectionRegistry(sink, drops, listeners, IdentifierRules.CLEAR, java.util.Set.of(), 600_000, maxBytes, ticks);
    }

    public static String line(int key, int version, String clientId, String request, String response, String id, String software) {
        return "Completed request:{\"isForwarded\":false,\"requestHeader\":{\"requestApiKey\":" + key + ",\"requestApiVersion\":" + version
                + ",\"correlationId\":1,\"clientId\":" + clientId + ",\"requestApiKeyName\":\"X\"},\"request\":" + request
                + ",\"response\":" + response + ",\"connection\":\"" + id + "\"," + TAIL + "\"User:ANONYMOUS\",\"listener\":\"PLAINTEXT\","
                + "\"clientInformation\":{\"softwareName\":\"" + software + "\",\"softwareVersion\":\"" + software + "\"}}";
    }

    private static String apiVersions(int version, String name, int error) {
        return line(18, version, "\"app\"", "{\"clientSoftwareName\":\"" + name + "\",\"clientSoftwareVersion\":\"4.3.1\"}",
                "{\"errorCode\":" + error + ",\"apiKeys\":[{\"apiKey\":0,\"minVersion\":0,\"maxVersion\":13}]}", ID, "unknown");
    }

    private void disconnected(String message, long millis) {
        registry.selected(message, null, millis);
    }

    private ConnectionEvent last() {
        return event(records.size() - 1);
    }

    private ConnectionEvent event(int index) {
        try {
            return ConnectionEvent.parseFrom(records.get(index).fields);
        } catch (InvalidProtocolBufferException e) {
            throw new AssertionError(e);
        }
    }

    private static String uses(ConnectionEvent event) {
        return event.getApiUsesList().stream().map(ConnectionRegistryTest::use).collect(Collectors.joining(" "));
    }

    private static String use(ApiUse use) {
        return use.getApiKey() + ":" + use.getVersion() + "x" + use.getRequests() + "!" + use.getRejected();
    }

    @Test
    void aLife() {
        registry.accepted("Accepted connection from /10.0.0.7:46656 on /127.0.0.1:29200 and assigned it to processor 0, "
                + "sendBufferSize [actual|requested]: [1|1] recvBufferSize [actual|requested]: [1|1]", 1000);
        registry.request(apiVersions(4, "apache-kafka-java", 0), 1005);
        assertEquals(Kind.OPENED, last().getKind());
        assertEquals(1_000_000_000L, last().getOpenedAtNanos());
        assertEquals("apache-kafka-java", last().getClient().getClientSoftwareName());
        assertEquals("10.0.0.7", last().getClient().getClientAddress());
        assertEquals(46656, last().getClient().getClientPort());
        registry.request(line(9, 9, "\"app\"", "{\"groups\":[{\"groupId\":\"g1\",\"topics\":null}],\"requireStable\":true}", "{}", ID, "s"), 1010);
        registry.request(line(0, 13, "\"app\"", "{\"transactionalId\":\"t1\",\"acks\":-1}", "{}", ID, "s"), 1011);
        registry.request(line(0, 13, "\"app\"", "{\"transactionalId\":null,\"acks\":-1}", "{}", ID, "s"), 1012);
        assertEquals(1, records.size());
        disconnected("[SocketServer listenerType=BROKER, nodeId=1] Connection with /10.0.0.7 (channelId=" + ID + ") disconnected", 1020);
        assertEquals(Kind.CLOSED, last().getKind());
        assertEquals("18:4x1!0 9:9x1!0 0:13x2!0", uses(last()));
        assertEquals(List.of("g1"), last().getGroupIdsList());
        assertEquals(List.of("t1"), last().getTransactionalIdsList());
        assertEquals("s", last().getClient().getClientSoftwareName(), "what the broker has registered by now");
        assertEquals("apache-kafka-java", last().getClient().getSentSoftwareName());
        assertEquals(1_020_000_000L, last().getObservedAtNanos());
    }

    @Test
    void aRequestLoggedAfterTheEndIsCounted() {
        registry.request(line(3, 1, "\"a\"", "{}", "{}", ID, "s"), 1);
        disconnected("[SocketServer] Connection with /10.0.0.7 (channelId=" + ID + ") disconnected", 2);
        registry.request(line(3, 1, "\"a\"", "{}", "{}", ID, "s"), 3);
        assertEquals(Kind.CLOSED, last().getKind());
        assertEquals("3:1x2!0", uses(last()));
        assertEquals(2_000_000L, last().getObservedAtNanos());
        assertEquals(3, records.size());
    }

    @Test
    void aFallbackOfApiVersionsIsNoUse() {
        registry.request(line(18, 5, "\"app\"", "{}", "{\"errorCode\":35,\"apiKeys\":[]}", ID, "unknown"), 1);
        registry.request(apiVersions(4, "kgo", 0), 2);
        registry.snapshot(false, 10, records::add);
        assertEquals("18:5x0!1 18:4x1!0", uses(last()));
        assertFalse(last().getClient().hasApiVersionsError());
    }

    @Test
    void aRefusedNameIsKeptAsSent() {
        registry.request(apiVersions(3, "my_client", 42), 1);
        assertEquals("unknown", last().getClient().getClientSoftwareName());
        assertEquals("my_client", last().getClient().getSentSoftwareName());
        assertEquals(42, last().getClient().getApiVersionsError());
    }

    @Test
    void refusalsOfKafka3And4() {
        registry.refused("Exception while processing request from " + ID,
                new UnsupportedVersionException("Received request for api with key 0 (Produce) and unsupported version 2"), 5);
        assertEquals("0:2x0!1", uses(last()));
        assertEquals(Kind.CLOSED, last().getKind());
        registry.refused("Exception while processing request from a:1-b:2-3",
                new InvalidRequestException("Received request api key FETCH with version 99 which is not enabled"), 5);
        assertEquals("1:99x0!1", uses(last()));
        registry.refused("Exception while processing request from a:1-b:2-4",
                new InvalidRequestException("Unsupported api with key 4 (LeaderAndIsr) and version 1"), 5);
        assertEquals("4:1x0!1", uses(last()));
        registry.refused("Exception while processing request from a:1-b:2-5",
                new InvalidRequestException("Error getting request for apiKey: METADATA, apiVersion: 1, connectionId: x",
                        new java.nio.BufferUnderflowException()), 5);
        assertEquals("", uses(last()), "malformed, which says nothing of versions");
        registry.refused("Closing socket for a:1-b:2-6 because of error", new InvalidRequestException("x"), 5);
        assertEquals(4, records.size(), "the same refusal is logged twice");
    }

    @Test
    void brokersThemselvesAreLeftOut() {
        registry.request(line(1, 17, "\"broker-1-fetcher-0\"", "{\"replicaState\":{\"replicaId\":1,\"replicaEpoch\":6}}", "{}", ID, "s"), 1);
        registry.request(line(2, 9, "\"broker-3-fetcher-0\"", "{\"replicaId\":3}", "{}", "a:1-b:4-0-0", "s"), 1);
        registry.request(line(63, 1, "\"1\"", "{}", "{}", "a:1-b:2-0-0", "s").replace("\"listener\":\"PLAINTEXT\"", "\"listener\":\"CONTROLLER\""), 1);
        registry.request(line(3, 1, "\"x\"", "{}", "{}", "a:1-b:3-0-0", "s").replace("\"isForwarded\":false", "\"isForwarded\":true"), 1);
        disconnected("[SocketServer] Connection with /b (channelId=a:1-b:2-0-0) disconnected", 2);
        disconnected("[BrokerToControllerChannelManager] Connection with /b (channelId=1) disconnected", 2);
        registry.snapshot(true, 10, records::add);
        assertTrue(records.isEmpty());
    }

    @Test
    void anApplicationWithTheClientIdOfAFetcher() {
        registry.request(line(1, 11, "\"broker-1-fetcher-0\"", "{\"replicaId\":-1}", "{}", ID, "s"), 1);
        registry.snapshot(true, 10, records::add);
        assertEquals("broker-1-fetcher-0", last().getClient().getClientId());
    }

    @Test
    void aConnectionThatNeverAskedAnything() {
        registry.accepted("Accepted connection from /0:0:0:0:0:0:0:1:46656 on /0:0:0:0:0:0:0:1:9092 and assigned it to processor 0", 1);
        disconnected("[SocketServer] Connection with /x (channelId=0:0:0:0:0:0:0:1:9092-0:0:0:0:0:0:0:1:46656-0-6) disconnected", 2);
        assertEquals("0:0:0:0:0:0:0:1", last().getClient().getClientAddress());
        assertFalse(last().getClient().hasClientId());
        assertEquals(1_000_000L, last().getOpenedAtNanos());
    }

    @Test
    void snapshots() {
        registry.request(line(3, 1, "null", "{}", "{}", ID, "s"), 1);
        registry.snapshot(false, 10, records::add);
        assertEquals(Kind.ACTIVE, last().getKind());
        registry.snapshot(false, 20, records::add);
        assertEquals(2, records.size(), "no requests since");
        registry.snapshot(true, 30, records::add);
        assertEquals(3, records.size(), "all, at the end of an hour");
        ticks = 700_000_000_000L;
        registry.snapshot(false, 700_000, records::add);
        assertEquals(0, registry.size(), "closed for idleness, which is not logged");
        assertEquals(3, records.size(), "its end stays unknown");
    }

    /** The controller of a ZooKeeper cluster talks to every broker under its id, on the brokers' listener. */
    @Test
    void theControllerOfAZooKeeperClusterIsNoClient() {
        registry.request(line(6, 8, "\"1\"", "{}", "{\"errorCode\":0}", ID, "unknown"), 1);
        registry.request(line(4, 7, "\"1\"", "{}", "{\"errorCode\":0}", ID, "unknown"), 2);
        registry.snapshot(true, 10, records::add);
        assertTrue(records.isEmpty());
        registry.request(line(6, 8, "\"spy\"", "{}", "{\"errorCode\":31}", "a:1-b:2-9", "unknown"), 3);
        assertEquals("spy", last().getClient().getClientId(), "one that only pretends to be a controller is told of");
        assertEquals(3, registry.requests(), "and all of them are counted, as the broker does");
    }

    @Test
    void aClientsTextIsNoKey() {
        String hostile = "\"x\\\",\\\"connection\\\":\\\"1:1-2:2-3\\\",\\u0007\\\\\"";
        registry.request(line(3, 1, hostile, "{}", "{}", ID, "s"), 1);
        assertEquals("x\",\"connection\":\"1:1-2:2-3\",\u0007\\", last().getClient().getClientId());
        assertEquals(ID, last().getClient().getConnectionId());
    }

    @Test
    void anUnknownFormIsToldToWhoeverCounts() {
        assertThrows(IllegalArgumentException.class, () -> registry.request("Completed request:{\"isForwarded\":false}", 1));
        registry.request("Something else", 1);
        assertNull(registry.takeApiVersionsLine());
    }

    /** A connection that never gets to a logged request names no listener; the port that it came to does. */
    @Test
    void ofAListenerThatIsLeftOutNothingIsTold() {
        Listeners listeners = Listeners.of(Map.of("controller.listener.names", "CONTROLLER",
                "listeners", "CLIENTS://:29200,CONTROLLER://:9093", "listener.security.protocol.map", "CLIENTS:SASL_SSL,CONTROLLER:PLAINTEXT"));
        ConnectionRegistry quiet = new ConnectionRegistry(records::add, drops, listeners, IdentifierRules.CLEAR, java.util.Set.of("CLIENTS"), 600_000,
                64 << 20, () -> ticks);
        String server = "[SocketServer listenerType=BROKER, nodeId=1] ";
        for (String id : new String[] {ID, ID.replace("29200", "9093")}) {
            String remote = ConnectionId.remote(id);
            quiet.accepted("Accepted connection from /" + remote + " on /127.0.0.1:29200 and assigned it to processor 0", 2);
            quiet.selected(server + "Connection with /10.0.0.7 (channelId=" + id + ") disconnected", null, 3);
            quiet.refused("Exception while processing request from " + id,
                    new InvalidRequestException("Received request api key FETCH with version 99 which is not enabled"), 4);
            quiet.refused("Exception while processing request from " + id,
                    new InvalidRequestException("Received request api key FETCH with version 99 which is not enabled"), 4);
        }
        quiet.selected(server + "Failed authentication with /10.0.0.7 (channelId=" + ID + ") (SSL handshake failed)", null, 1);
        quiet.drainAll();
        quiet.snapshot(true, 10, records::add);
        assertEquals(List.of(), records);
        assertEquals(0, drops.of(Drops.Reason.FAILED));
    }
}
