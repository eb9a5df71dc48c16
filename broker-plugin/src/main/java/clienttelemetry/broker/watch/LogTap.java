package clienttelemetry.broker.watch;

/**
 * Listens to a logger of the broker at a level of its own, while the operator's appenders go on getting what the
 * operator's level lets through, also when the operator changes that level meanwhile. Nothing is changed in a file.
 */
public interface LogTap {
    /** A logger's event: its message, what it was thrown for (may be null), and when, Unix time in milliseconds. */
    interface Listener {
        void event(String message, Throwable error, long millis);
    }

    enum Detail {
        ERROR,
        INFO,
        DEBUG
    }

    /**
     * Begins to listen, or sees to it that it still does: a reloaded configuration of the logging forgets the tap.
     *
     * @param detail what to get; null: what the operator's level lets through
     */
    void listen(Detail detail);

    /** Leaves the logger as the operator configured it. */
    void remove();
}
