package clienttelemetry.broker.contract;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/** Times as manifests write them: UTC, ISO 8601, to the microsecond. */
public final class Times {
    private Times() {}

    public static String text(long nanosSince1970) {
        long seconds = Math.floorDiv(nanosSince1970, 1_000_000_000L);
        return text(Instant.ofEpochSecond(seconds, Math.floorMod(nanosSince1970, 1_000_000_000L)));
    }

    public static String text(Instant time) {
        return time.truncatedTo(ChronoUnit.MICROS).toString();
    }
}
