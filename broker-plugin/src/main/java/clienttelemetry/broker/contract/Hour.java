package clienttelemetry.broker.contract;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** One hour, UTC, by the broker's clock; and the keys of the raw dump contract, which are made of it. */
public final class Hour implements Comparable<Hour> {
    private static final long SECONDS = 3600;
    private static final DateTimeFormatter TEXT =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH", Locale.ROOT).withZone(ZoneOffset.UTC);

    /** Hours since 1970. */
    final long number;

    private Hour(long number) {
        this.number = number;
    }

    public static Hour of(Instant time) {
        return new Hour(Math.floorDiv(time.getEpochSecond(), SECONDS));
    }

    public static Hour ofNanos(long nanosSince1970) {
        return new Hour(Math.floorDiv(nanosSince1970, SECONDS * 1_000_000_000L));
    }

    /** Reads what {@link #toString} wrote. */
    public static Hour parse(String text) {
        return of(Instant.parse(text + ":00:00Z"));
    }

    public Instant start() {
        return Instant.ofEpochSecond(number * SECONDS);
    }

    public Instant end() {
        return next().start();
    }

    Hour next() {
        return new Hour(number + 1);
    }

    public String recordsKey(Incarnation broker, Dataset dataset, long first, long last) {
        return folder(broker, dataset.folder()) + String.format(Locale.ROOT, "%s-%020d-%020d.zst", broker.id, first, last);
    }

    public String manifestKey(Incarnation broker) {
        return folder(broker, "manifests") + broker.id + ".json";
    }

    private String folder(Incarnation broker, String dataset) {
        String text = toString();
        return "v1/dataset=" + dataset + "/cluster=" + broker.clusterId + "/dt=" + text.substring(0, 10)
                + "/hour=" + text.substring(11) + "/broker=" + broker.brokerId + "/";
    }

    @Override
    public int compareTo(Hour other) {
        return Long.compare(number, other.number);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Hour && ((Hour) other).number == number;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(number);
    }

    /** As manifests write it: {@code 2026-11-20T13}. */
    @Override
    public String toString() {
        return TEXT.format(start());
    }
}
