package clienttelemetry.broker.watch;

import org.slf4j.LoggerFactory;

/** What listens to a logger, by the logging that this process uses. */
public final class LogTaps {
    private LogTaps() {}

    /** Throws {@link IllegalStateException} where the logging is neither of the two that Kafka ships. */
    public static LogTap on(String logger, LogTap.Listener listener) {
        String binding = LoggerFactory.getILoggerFactory().getClass().getName();
        if (binding.startsWith("org.apache.logging.slf4j.")) {
            return new Log4j2Tap(logger, listener);
        }
        if (binding.contains("eload4j") || binding.equals("org.slf4j.impl.Log4jLoggerFactory")) {
            return new Reload4jTap(logger, listener);
        }
        throw new IllegalStateException("the logging of this process is " + binding
                + "; connections can be watched with log4j 2 and reload4j");
    }
}
