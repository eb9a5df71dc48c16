package clienttelemetry.broker.registry;

import clienttelemetry.broker.contract.DumpRecord;
import clienttelemetry.broker.identifiers.IdentifierRules;

/** A connection as far as the log tells of it. Guarded by its own monitor. */
final class Connection {
    final ClientConnection client = new ClientConnection();
    /** Since the start, or since it was summed up. */
    ClientUse use = new ClientUse();
    final long openedNanos;
    /** By the clock that never steps, when the log told of it first. */
    final long openedTicks;
    /** A client of a broker itself, or another one that is left out. */
    boolean isOfBroker;
    /** Not told yet: it is one of many of its address, and told of alone only if it lasts. */
    boolean isHeldBack;
    /** It was held back until it closed, and is counted in a sum. */
    volatile boolean isSummedUp;
    /** The registry has let go of it. */
    boolean isForgotten;
    long lastRequestNanos;
    /** By the clock that never steps. */
    volatile long lastSeenTicks;
    /** Null while it is open, as far as is known. */
    Long closedNanos;
    boolean hasNewRequests;
    /** What the registry's account has for it. */
    int accountedBytes;

    Connection(String id, long openedNanos, long ticks) {
        client.connectionId(id);
        this.openedNanos = openedNanos;
        openedTicks = ticks;
        lastSeenTicks = ticks;
    }

    /** Gives false where there was no room to count it. */
    boolean count(int apiKey, int version, boolean isRejected, long nanos) {
        lastRequestNanos = Math.max(lastRequestNanos, nanos);
        hasNewRequests = true;
        return use.count(apiKey, version, isRejected, nanos);
    }

    /** Bytes in memory, near enough for a bound. */
    int heapBytes() {
        return 300 + client.heapBytes() + use.heapBytes();
    }

    DumpRecord event(ConnectionEvent.Kind kind, long observedNanos, IdentifierRules identifiers) {
        ConnectionEvent event = new ConnectionEvent(kind, observedNanos, client);
        event.openedNanos = openedNanos;
        event.lastRequestNanos = lastRequestNanos;
        if (kind != ConnectionEvent.Kind.OPENED) {
            event.use = use;
        }
        return event.record(identifiers);
    }
}
