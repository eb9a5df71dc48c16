package clienttelemetry.broker.manifest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import clienttelemetry.broker.identifiers.IdentifierRules;
import clienttelemetry.broker.settings.Settings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.RemoveUserScramCredentialRecord;
import org.apache.kafka.common.metadata.UserScramCredentialRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.ByteUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On logs whose batches Kafka's own classes write. */
class MetadataLogTest {
    @TempDir
    Path folder;

    private Path segment(long offset) {
        return folder.resolve(String.format("%020d.log", offset));
    }

    private static SimpleRecord config(int type, String resource, String name, String value) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(new byte[] {1, 4, 0, (byte) type}); // frame, ConfigRecord, version, type of the resource
        for (String text : new String[] {resource, name, value}) {
            byte[] utf8 = text == null ? new byte[0] : text.getBytes(StandardCharsets.UTF_8);
            ByteBuffer length = ByteBuffer.allocate(5);
            ByteUtils.writeUnsignedVarint(text == null ? 0 : utf8.length + 1, length);
            out.write(length.array(), 0, length.position());
            out.write(utf8);
        }
        out.write(0); // no tagged fields
        return new SimpleRecord(1, null, out.toByteArray());
    }

    /** Written by Kafka's own class, behind frame, API key and version. */
    private static SimpleRecord record(ApiMessage message) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer content = ByteBuffer.allocate(3 + message.size(cache, (short) 0));
        content.put((byte) 1).put((byte) message.apiKey()).put((byte) 0);
        message.write(new ByteBufferAccessor(content), cache, (short) 0);
        return new SimpleRecord(1, null, content.array());
    }

    private static UserScramCredentialRecord credentials(String user, int mechanism) {
        return new UserScramCredentialRecord().setName(user).setMechanism((byte) mechanism).setIterations(4096)
                .setSalt(new byte[] {1, 2, 3}).setStoredKey(new byte[32]).setServerKey(new byte[32]);
    }

    @Test
    void usersWithScramCredentials() throws Exception {
        append(segment(0), 0, record(credentials("bob", 2)), record(credentials("alice", 1)), record(credentials("alice", 2)),
                record(credentials("gone", 1)), record(new RemoveUserScramCredentialRecord().setName("gone").setMechanism((byte) 1)),
                record(new RemoveUserScramCredentialRecord().setName("never").setMechanism((byte) 1)));
        MetadataLog log = looked(folder);
        assertEquals("[{\"principal\":\"User:alice\",\"mechanisms\":[\"SCRAM-SHA-256\",\"SCRAM-SHA-512\"]},"
                + "{\"principal\":\"User:bob\",\"mechanisms\":[\"SCRAM-SHA-512\"]}]", log.scramUsers(IdentifierRules.CLEAR).toString());
        append(segment(0), 6, record(new RemoveUserScramCredentialRecord().setName("alice").setMechanism((byte) 1)));
        log.look();
        assertEquals("[\"SCRAM-SHA-512\"]", log.scramUsers(IdentifierRules.CLEAR).at("/0/mechanisms").toString());
        byte[] key = "sixteen bytes and more".getBytes(StandardCharsets.UTF_8);
        IdentifierRules digests = new IdentifierRules(Map.of(IdentifierRules.Kind.PRINCIPAL, IdentifierRules.Treatment.HMAC), key);
        assertEquals(digests.treated(IdentifierRules.Kind.PRINCIPAL, "User:alice"), log.scramUsers(digests).at("/0/principal").asText());
        IdentifierRules omitted = new IdentifierRules(Map.of(IdentifierRules.Kind.PRINCIPAL, IdentifierRules.Treatment.OMIT), null);
        assertEquals("[{\"principal\":null,\"mechanisms\":[\"SCRAM-SHA-512\"]},{\"principal\":null,\"mechanisms\":[\"SCRAM-SHA-512\"]}]",
                log.scramUsers(omitted).toString());
    }

    @Test
    void settingsOfThisPluginAsKafkaStoredThem() throws Exception {
        append(segment(0), 0, record(new ConfigRecord().setResourceType((byte) 4).setResourceName("").setName("client.telemetry.dump.conections").setValue("off")),
                config(4, "1", "client.telemetry.dump.connections", "off"), config(4, "2", "client.telemetry.dump.roll.mss", "7"),
                config(4, "1", "ssl.keystore.password", "secret"));
        MetadataLog log = looked(folder);
        assertEquals("{client.telemetry.dump.conections=off, client.telemetry.dump.connections=off}", log.settings(1).toString());
        append(segment(0), 4, config(4, "", "client.telemetry.dump.conections", null));
        log.look();
        assertEquals(List.of("client.telemetry.dump.roll.mss"), List.copyOf(Settings.unknown(log.settings(2).keySet()).keySet()));
        assertEquals("{client.telemetry.dump.connections=off}", log.settings(1).toString());
    }

    private static MetadataLog looked(Path folder) {
        MetadataLog log = new MetadataLog(folder);
        log.look();
        return log;
    }

    private static void append(Path file, long offset, SimpleRecord... records) throws IOException {
        MemoryRecords batch = MemoryRecords.withRecords(RecordBatch.MAGIC_VALUE_V2, offset, Compression.NONE, TimestampType.CREATE_TIME, records);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            channel.write(batch.buffer().duplicate());
        }
    }

    @Test
    void subscriptionsAsTheyWereAltered() throws Exception {
        append(segment(0), 0, config(4, "1", "log.retention.ms", "5"), new SimpleRecord(1, null, new byte[] {1, 99, 0, 1, 2, 3}),
                config(16, "all", "metrics", "*"), config(16, "all", "interval.ms", "5000"),
                config(16, "some", "match", "client_id=orders-.*, client_software_name = apache-kafka-java"),
                config(16, "some", "metrics", "org.apache.kafka.producer.,org.apache.kafka.consumer."));
        MetadataLog log = looked(folder);
        String some = "{\"name\":\"some\",\"interval_ms\":300000,\"metrics\":[\"org.apache.kafka.producer.\",\"org.apache.kafka.consumer.\"],"
                + "\"match\":{\"client_id\":\"orders-.*\",\"client_software_name\":\"apache-kafka-java\"}}";
        assertEquals("[{\"name\":\"all\",\"interval_ms\":5000,\"metrics\":[\"*\"],\"match\":{}}," + some + "]", log.subscriptions().toString());
        append(segment(0), 6, config(16, "all", "interval.ms", null), config(16, "all", "metrics", null));
        log.look();
        assertEquals("[" + some + "]", log.subscriptions().toString(), "only what is new is read");
        append(segment(8), 8, config(16, "all", "metrics", "a."));
        log.look();
        assertEquals("all", log.subscriptions().get(0).get("name").asText(), "from another segment");
    }

    @Test
    void aSnapshotAndWhatCameAfterIt() throws Exception {
        append(folder.resolve("00000000000000000100-0000000003.checkpoint"), 0, config(16, "old", "metrics", "*"), config(16, "gone", "metrics", "*"));
        append(segment(90), 90, config(16, "older", "metrics", "*"));
        append(segment(90), 100, config(16, "gone", "metrics", null));
        assertEquals("old", names(new MetadataLog(folder)));
    }

    @Test
    void aLogThatWasCleanedMeanwhile() throws Exception {
        append(segment(0), 0, config(16, "first", "metrics", "*"));
        MetadataLog log = new MetadataLog(folder);
        assertEquals("first", names(log));
        Files.delete(segment(0));
        append(folder.resolve("00000000000000000050-0000000003.checkpoint"), 0, config(16, "second", "metrics", "*"));
        append(segment(50), 50, config(16, "third", "metrics", "*"));
        assertEquals("second third", names(log));
    }

    @Test
    void aBatchThatIsBeingWritten() throws Exception {
        append(segment(0), 0, config(16, "first", "metrics", "*"));
        append(segment(0), 1, config(16, "second", "metrics", "*"));
        byte[] whole = Files.readAllBytes(segment(0));
        Files.write(segment(0), java.util.Arrays.copyOf(whole, whole.length - 3));
        MetadataLog log = new MetadataLog(folder);
        assertEquals("first", names(log));
        Files.write(segment(0), whole);
        assertEquals("first second", names(log));
    }

    @Test
    void noLogIsNotKnown() {
        assertNull(looked(folder.resolve("none")).subscriptions());
        assertNull(looked(folder.resolve("none")).scramUsers(IdentifierRules.CLEAR));
    }

    private static String names(MetadataLog log) {
        StringBuilder names = new StringBuilder();
        log.look();
        log.subscriptions().forEach(each -> names.append(names.length() == 0 ? "" : " ").append(each.get("name").asText()));
        return names.toString();
    }
}
