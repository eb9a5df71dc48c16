package clienttelemetry.broker.contract;

import java.time.Clock;
import java.time.Instant;
import java.util.function.LongSupplier;

/**
 * The broker's two clocks: the time of day, which people and daemons set, and which says to which hour a record belongs;
 * and one that never steps, by which everything is due that comes round again.
 */
public final class BrokerClock {
    public static final BrokerClock SYSTEM = new BrokerClock(Clock.systemUTC(), System::nanoTime);
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final Clock timeOfDay;
    private final LongSupplier ticks;

    public BrokerClock(Clock timeOfDay, LongSupplier ticks) {
        this.timeOfDay = timeOfDay;
        this.ticks = ticks;
    }

    public Instant now() {
        return timeOfDay.instant();
    }

    /** Nanoseconds from some moment on. */
    public long ticks() {
        return ticks.getAsLong();
    }

    /** Milliseconds from that moment on. */
    public long millis() {
        return ticks.getAsLong() / NANOS_PER_MILLI;
    }
}
