package clienttelemetry.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.record.TimestampType;
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
        MetadataLog log = new MetadataLog(folder);
        String some = "{\"name\":\"some\",\"interval_ms\":300000,\"metrics\":[\"org.apache.kafka.producer.\",\"org.apache.kafka.consumer.\"],"
                + "\"match\":{\"client_id\":\"orders-.*\",\"client_software_name\":\"apache-kafka-java\"}}";
        assertEquals("[{\"name\":\"all\",\"interval_ms\":5000,\"metrics\":[\"*\"],\"match\":{}}," + some + "]", log.subscriptions().toString());
        append(segment(0), 6, config(16, "all", "interval.ms", null), config(16, "all", "metrics", null));
        assertEquals("[" + some + "]", log.subscriptions().toString(), "only what is new is read");
        append(segment(8), 8, config(16, "all", "metrics", "a."));
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
        assertNull(new MetadataLog(folder.resolve("none")).subscriptions());
    }

    private static String names(MetadataLog log) {
        StringBuilder names = new StringBuilder();
        log.subscriptions().forEach(each -> names.append(names.length() == 0 ? "" : " ").append(each.get("name").asText()));
        return names.toString();
    }
}
