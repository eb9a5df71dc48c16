package clienttelemetry.broker;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A finished object in the spool, as the manifest lists it. Sequences are inclusive. */
final class SpooledObject {
    private static final Pattern NAME =
            Pattern.compile("(client_pushes|connections)_([0-9-]{10}T[0-9]{2})_([0-9]{20})\\.(zst|open)");

    final Dataset dataset;
    final Hour hour;
    final long records;
    final long bytes;
    final long firstSequence;
    final long lastSequence;
    final long minNanos;
    final long maxNanos;
    final String sha256;
    final Path file;

    SpooledObject(Dataset dataset, Hour hour, long records, long bytes, long firstSequence, long lastSequence,
            long minNanos, long maxNanos, String sha256, Path file) {
        this.dataset = dataset;
        this.hour = hour;
        this.records = records;
        this.bytes = bytes;
        this.firstSequence = firstSequence;
        this.lastSequence = lastSequence;
        this.minNanos = minNanos;
        this.maxNanos = maxNanos;
        this.sha256 = sha256;
        this.file = file;
    }

    /** Where a finished object lies in the spool. */
    static Path path(Path folder, Dataset dataset, Hour hour, long firstSequence) {
        return folder.resolve(name(dataset, hour, firstSequence) + ".zst");
    }

    /** Where an object lies that still takes records. */
    static Path openPath(Path folder, Dataset dataset, Hour hour, long firstSequence) {
        return folder.resolve(name(dataset, hour, firstSequence) + ".open");
    }

    private static String name(Dataset dataset, Hour hour, long firstSequence) {
        return String.format(Locale.ROOT, "%s_%s_%020d", dataset.folder(), hour, firstSequence);
    }

    /** Groups: dataset, hour, first sequence, ending. */
    static Matcher parseName(Path file) {
        return NAME.matcher(file.getFileName().toString());
    }

    String key(Incarnation broker) {
        return hour.recordsKey(broker, dataset, firstSequence, lastSequence);
    }

    ObjectNode manifestEntry(Incarnation broker) {
        return JsonNodeFactory.instance.objectNode()
                .put("key", key(broker))
                .put("dataset", dataset.folder())
                .put("records", records)
                .put("bytes", bytes)
                .put("first_sequence", firstSequence)
                .put("last_sequence", lastSequence)
                .put("min_time", time(minNanos))
                .put("max_time", time(maxNanos))
                .put("sha256", sha256);
    }

    static String time(long nanosSince1970) {
        long seconds = Math.floorDiv(nanosSince1970, 1_000_000_000L);
        return time(Instant.ofEpochSecond(seconds, Math.floorMod(nanosSince1970, 1_000_000_000L)));
    }

    static String time(Instant time) {
        return time.truncatedTo(ChronoUnit.MICROS).toString();
    }
}
