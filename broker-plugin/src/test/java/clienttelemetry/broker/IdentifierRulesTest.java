package clienttelemetry.broker;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import client_telemetry.raw.v1.RawDumpV1.ClientPush;
import clienttelemetry.broker.contract.ProtobufWriter;
import clienttelemetry.broker.identifiers.IdentifierRules;
import clienttelemetry.broker.identifiers.IdentifierRules.Kind;
import clienttelemetry.broker.identifiers.IdentifierRules.Treatment;
import clienttelemetry.broker.identifiers.TreatedPayload;
import clienttelemetry.broker.settings.Settings;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.config.ConfigException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What of identifiers leaves the broker. */
class IdentifierRulesTest {
    private static final byte[] KEY = "a key of this test".getBytes(StandardCharsets.UTF_8);

    @TempDir
    Path folder;

    private static IdentifierRules all(Treatment treatment) {
        return new IdentifierRules(Map.of(Kind.PRINCIPAL, treatment, Kind.ADDRESS, treatment, Kind.CLIENT_ID, treatment, Kind.GROUP_ID, treatment,
                Kind.TRANSACTIONAL_ID, treatment, Kind.TOPIC, treatment), KEY);
    }

    private static ClientPush push(IdentifierRules identifiers) throws Exception {
        return ClientPush.parseFrom(BrokerReporter.record(identifiers, TestBroker.context("app", "127.0.0.1:9092-10.0.0.7:50123-0-1"),
                TestBroker.payload(new byte[] {1}), -1, 7).fields);
    }

    @Test
    void digestsAreStableAndTellNothing() throws Exception {
        ClientPush push = push(all(Treatment.HMAC));
        assertEquals(push, push(all(Treatment.HMAC)));
        assertTrue(push.getClient().getPrincipal().matches("hmac:[0-9a-f]{32}"));
        String address = push.getClient().getClientAddress();
        assertEquals("127.0.0.1:9092-" + address + ":50123-0-1", push.getClient().getConnectionId());
        for (String secret : new String[] {"alice", "app", "10.0.0.7"}) {
            assertFalse(push.toString().contains(secret), secret);
        }
        assertEquals("apache-kafka-java", push.getClient().getClientSoftwareName(), "software is no identifier");
    }

    @Test
    void whatIsLeftOut() throws Exception {
        ClientPush push = push(all(Treatment.OMIT));
        assertFalse(push.getClient().hasClientId());
        assertEquals("", push.getClient().getPrincipal());
        assertEquals("", push.getClient().getClientAddress());
        assertEquals("127.0.0.1:9092-:50123-0-1", push.getClient().getConnectionId());
    }

    @Test
    void eachKindHasATreatmentOfItsOwn() {
        IdentifierRules some = new IdentifierRules(Map.of(Kind.PRINCIPAL, Treatment.HMAC), KEY);
        assertEquals("app", some.treated(Kind.CLIENT_ID, "app"));
        assertEquals("{\"principal\":\"hmac\",\"address\":\"clear\",\"client_id\":\"clear\",\"group_id\":\"clear\","
                + "\"transactional_id\":\"clear\",\"topic\":\"clear\"}", some.describe().toString());
        assertTrue(some.arePayloadsClear());
    }

    private static ProtobufWriter attribute(String key, String value) {
        return new ProtobufWriter(64).presentString(1, key).message(2, new ProtobufWriter(64).presentString(1, value));
    }

    /** As Java and librdkafka push: a resource, a scope, a sum with one point. */
    private static byte[] metrics(String clientId, String group, String topic) {
        ProtobufWriter point = new ProtobufWriter(64).fixed64(3, 99).fixed64(6, 5)
                .message(7, attribute("topic", topic)).message(7, attribute("node_id", "node-1"));
        ProtobufWriter metric = new ProtobufWriter(64).string(1, "org.apache.kafka.producer.record.send.total")
                .message(7, new ProtobufWriter(64).message(1, point).varint(2, 1).varint(3, 1));
        ProtobufWriter scope = new ProtobufWriter(64)
                .message(1, new ProtobufWriter(64).string(1, clientId + "#producer-1").string(2, "2.16.0")).message(2, metric);
        ProtobufWriter resource = new ProtobufWriter(64).message(1, attribute("group_id", group)).message(1, attribute("client_rack", "r1"));
        return new ProtobufWriter(64).message(1, new ProtobufWriter(64).message(1, resource).message(2, scope)).toBytes();
    }

    @Test
    void identifiersInPayloads() {
        IdentifierRules hmac = all(Treatment.HMAC);
        byte[] expected = metrics(hmac.treated(Kind.CLIENT_ID, "app"), hmac.treated(Kind.GROUP_ID, "the-group"), hmac.treated(Kind.TOPIC, "salaries"));
        assertArrayEquals(expected, new TreatedPayload(hmac).of(metrics("app", "the-group", "salaries")));
        String left = new String(new TreatedPayload(all(Treatment.OMIT)).of(metrics("app", "the-group", "salaries")), StandardCharsets.ISO_8859_1);
        assertFalse(left.contains("salaries") || left.contains("the-group") || left.contains("app#"), left);
        assertTrue(left.contains("node-1") && left.contains("record.send.total") && left.contains("#producer-1"), left);
    }

    @Test
    void aPayloadThatCannotBeReadIsLeftOut() {
        assertNull(new TreatedPayload(all(Treatment.HMAC)).of(new byte[] {0x28, (byte) 0xB5, 0x2F, (byte) 0xFD, 0, 0x58}));
        byte[] torn = java.util.Arrays.copyOf(metrics("a", "g", "t"), 40);
        assertNull(new TreatedPayload(all(Treatment.HMAC)).of(torn));
    }

    /** A varint of ten bytes is a negative length: such a push kept the writer, which is all there is, for ever. */
    @Test
    void lengthsThatGoBackwards() {
        for (int field : new int[] {1, 3}) {
            for (long back = -24; back < 0; back++) {
                byte[] hostile = new ProtobufWriter(64).lengthOf(field, 2).encoded(new byte[] {0x0A, 0}).toBytes();
                ProtobufWriter both = new ProtobufWriter(64).encoded(hostile).present(field, back);
                both.buffer()[hostile.length] |= 2; // a field of bytes, so the varint is its length
                assertTimeoutPreemptively(Duration.ofSeconds(5), () -> assertNull(new TreatedPayload(all(Treatment.HMAC)).of(both.toBytes())));
            }
        }
    }

    /** Clients choose labels as long as a push: what was treated is remembered, but not whatever its length. */
    @Test
    void longLabelsAreNotRemembered() throws Exception {
        IdentifierRules hmac = all(Treatment.HMAC);
        Runtime runtime = Runtime.getRuntime();
        System.gc();
        long before = runtime.totalMemory() - runtime.freeMemory();
        for (int i = 0; i < 200; i++) {
            hmac.treated(Kind.TOPIC, i + "x".repeat(1 << 20));
        }
        System.gc();
        long more = runtime.totalMemory() - runtime.freeMemory() - before;
        assertTrue(more < 32 << 20, more + " bytes more");
        assertEquals(hmac.treated(Kind.TOPIC, "t".repeat(9999)), hmac.treated(Kind.TOPIC, "t".repeat(9999)));
    }

    @Test
    void settings() throws Exception {
        Path key = Files.writeString(folder.resolve("key"), "0123456789abcdef\n");
        Settings settings = TestBroker.settings(folder, "identifiers.principal", "hmac", "identifiers.client.id", "omit",
                "identifiers.key.file", key.toString(), "exclude.listeners", "INTERNAL", "exclude.principals", "User:CN=a,O=b; User:c");
        assertNull(settings.identifiers.treated(Kind.CLIENT_ID, "app"));
        assertEquals(java.util.Set.of("INTERNAL", "User:CN=a,O=b", "User:c"), settings.leftOut);
        assertTrue(assertThrows(ConfigException.class, () -> TestBroker.settings(folder, "identifiers.topic", "hmac")).getMessage()
                .contains("client.telemetry.dump.identifiers.key.file"));
        Files.writeString(key, "short");
        assertTrue(assertThrows(ConfigException.class, () -> TestBroker.settings(folder, "identifiers.topic", "hmac",
                "identifiers.key.file", key.toString())).getMessage().contains("16 at least"));
    }
}
