package clienttelemetry.broker;

import java.time.Clock;
import java.time.Instant;
import java.util.function.LongSupplier;

/**
 * The broker's two clocks: the time of day, which people and daemons set, and which says to which hour a record belongs;
 * and one that never steps, by which everything is due that comes round again.
 */
final class BrokerClock {
    static final BrokerClock SYSTEM = new BrokerClock(Clock.systemUTC(), System::nanoTime);
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final Clock timeOfDay;
    private final LongSupplier ticks;

    BrokerClock(Clock timeOfDay, LongSupplier ticks) {
        this.timeOfDay = timeOfDay;
        this.ticks = ticks;
    }

    Instant now() {
        return timeOfDay.instant();
    }

    /** Nanoseconds from some moment on. */
    long ticks() {
        return ticks.getAsLong();
    }

    /** Milliseconds from that moment on. */
    long millis() {
        return ticks.getAsLong() / NANOS_PER_MILLI;
    }
}
