package clienttelemetry.broker.watch;

import java.beans.PropertyChangeEvent;
import java.beans.PropertyChangeListener;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Marker;
import org.apache.logging.log4j.core.Filter;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.config.Configuration;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.filter.AbstractFilter;
import org.apache.logging.log4j.message.Message;

/**
 * For Kafka 4. Touches no level and no appender: a filter of the whole configuration (the gate) accepts what the tap
 * wants whatever the operator's level is, and a filter of the logger's configuration (the ear) takes it, and keeps from
 * the operator's appenders what his level would not have let through. So levels can change from outside at any time
 * ({@code Configurator.setLevel}, which Kafka's dynamic logger levels use), and neither side notices the other.
 */
final class Log4j2Tap implements LogTap {
    private final String logger;
    private final Listener listener;
    private final LoggerContext context = (LoggerContext) LogManager.getContext(false);
    private final Gate gate = new Gate();
    private final PropertyChangeListener reloads = this::reloaded;
    private volatile Level detail = Level.OFF;
    private volatile Ear ear;
    private Configuration gated;
    private boolean isToldOfReloads;

    Log4j2Tap(String logger, Listener listener) {
        this.logger = logger;
        this.listener = listener;
    }

    @Override
    public synchronized void listen(LogTap.Detail wanted) {
        if (!context.isStarted()) {
            return; // it ends by a hook of its own when the process is told to end, before the broker has stopped
        }
        detail = wanted == null ? Level.OFF : Level.getLevel(wanted.name());
        if (!isToldOfReloads) {
            isToldOfReloads = true;
            context.addPropertyChangeListener(reloads);
        }
        install();
    }

    private void reloaded(PropertyChangeEvent event) {
        synchronized (this) {
            if (isToldOfReloads && LoggerContext.PROPERTY_CONFIG.equals(event.getPropertyName())) {
                install();
            }
        }
    }

    private void install() {
        Configuration configuration = context.getConfiguration();
        if (gated != configuration) { // a reloaded configuration knows nothing of the tap
            gated = configuration;
            configuration.addFilter(gate);
        }
        hearFrom(context.getLogger(logger).get());
    }

    /** The configuration that serves the logger changes when one of its own is made for it, or the whole is reloaded. */
    private synchronized void hearFrom(LoggerConfig serving) {
        Ear before = ear;
        if (before == null || before.config != serving) {
            if (before != null) {
                before.config.removeFilter(before);
            }
            Ear next = new Ear(serving);
            serving.addFilter(next);
            ear = next;
        }
    }

    @Override
    public synchronized void remove() {
        detail = Level.OFF;
        isToldOfReloads = false;
        context.removePropertyChangeListener(reloads);
        if (gated != null) {
            gated.removeFilter(gate);
            gated = null;
        }
        if (ear != null) {
            ear.config.removeFilter(ear);
            ear = null;
        }
    }

    /** Asked before a logger looks at its level. */
    private final class Gate extends AbstractFilter {
        private Result decide(Logger asking, Level level) {
            if (!asking.getName().equals(logger) || !level.isMoreSpecificThan(detail)) {
                return Result.NEUTRAL;
            }
            Ear current = ear;
            if (current == null || current.config != asking.get()) {
                hearFrom(asking.get());
            }
            return Result.ACCEPT;
        }

        @Override
        public Result filter(Logger asking, Level level, Marker marker, String message, Object... parameters) {
            return decide(asking, level);
        }

        @Override
        public Result filter(Logger asking, Level level, Marker marker, Object message, Throwable thrown) {
            return decide(asking, level);
        }

        @Override
        public Result filter(Logger asking, Level level, Marker marker, Message message, Throwable thrown) {
            return decide(asking, level);
        }
    }

    /** Asked for each event of the loggers that a configuration serves, before its appenders get it. */
    private final class Ear extends AbstractFilter {
        private final LoggerConfig config;

        Ear(LoggerConfig config) {
            this.config = config;
        }

        @Override
        public Result filter(LogEvent event) {
            if (!logger.equals(event.getLoggerName())) {
                return Result.NEUTRAL;
            }
            listener.event(event.getMessage().getFormattedMessage(), event.getThrown(), event.getTimeMillis());
            return event.getLevel().isMoreSpecificThan(config.getLevel()) || isAcceptedByOperator(event) ? Result.NEUTRAL : Result.DENY;
        }

        /** By a filter of his whole configuration; the gates of taps are neutral to events. */
        private boolean isAcceptedByOperator(LogEvent event) {
            Filter all = context.getConfiguration().getFilter();
            return all != null && all.filter(event) == Result.ACCEPT;
        }
    }
}
