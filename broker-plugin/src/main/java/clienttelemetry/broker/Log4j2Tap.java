package clienttelemetry.broker;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.Appender;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.AppenderRef;
import org.apache.logging.log4j.core.config.Configuration;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;

/**
 * For Kafka 4. The logger's own appenders stay, with a level no lower than the operator's; what would go to its parent
 * is forwarded by this appender, since log4j 2 asks a parent's appenders whatever the parent's level is.
 */
final class Log4j2Tap extends AbstractAppender implements LogTap {
    private final String logger;
    private final Listener listener;
    private final LoggerContext context = (LoggerContext) LogManager.getContext(false);
    private LoggerConfig tapped;
    private boolean wasMissing;
    private boolean wasAdditive;
    private Level operatorsOwnLevel;
    private Level ourLevel;
    private final List<AppenderRef> operatorsRefs = new ArrayList<>();
    private volatile Level operatorsLevel = Level.OFF;
    private volatile LoggerConfig parent;

    Log4j2Tap(String logger, Listener listener) {
        super("client-telemetry-" + logger, null, null, true, Property.EMPTY_ARRAY);
        this.logger = logger;
        this.listener = listener;
        start();
    }

    @Override
    public synchronized void listen(LogTap.Detail detail) {
        if (!context.isStarted()) {
            return; // it ends by a hook of its own when the process is told to end, before the broker has stopped
        }
        Configuration configuration = context.getConfiguration();
        boolean isNew = configuration.getLoggers().get(logger) != tapped || tapped == null;
        if (isNew) {
            takeOver(configuration);
        } else if (!tapped.getLevel().equals(ourLevel)) { // the operator changed it meanwhile
            operatorsOwnLevel = tapped.getLevel();
        }
        Level operators = operatorsOwnLevel != null ? operatorsOwnLevel : tapped.getParent().getLevel();
        Level wanted = detail == null ? operators : detail == LogTap.Detail.DEBUG ? Level.DEBUG : Level.INFO;
        Level ours = wanted.isLessSpecificThan(operators) ? wanted : operators;
        if (isNew || !operators.equals(operatorsLevel)) {
            operatorsLevel = operators;
            refer(configuration, operators);
        }
        if (isNew || !ours.equals(ourLevel)) {
            ourLevel = ours;
            tapped.setLevel(ours);
            context.updateLoggers();
        }
    }

    private void takeOver(Configuration configuration) {
        operatorsRefs.clear();
        LoggerConfig found = configuration.getLoggers().get(logger);
        wasMissing = found == null;
        if (wasMissing) {
            LoggerConfig above = configuration.getLoggerConfig(logger);
            found = new LoggerConfig(logger, above.getLevel(), true);
            operatorsOwnLevel = null;
            configuration.addLogger(logger, found);
            found.setParent(above);
        } else {
            operatorsOwnLevel = found.getLevel();
            operatorsRefs.addAll(found.getAppenderRefs());
        }
        tapped = found;
        wasAdditive = found.isAdditive();
        parent = wasAdditive ? found.getParent() : null;
        found.setAdditive(false);
        found.addAppender(this, Level.ALL, null);
    }

    /** Attaches the operator's appenders with at least this level. */
    private void refer(Configuration configuration, Level atLeast) {
        Map<String, Appender> appenders = configuration.getAppenders();
        for (AppenderRef ref : operatorsRefs) {
            Appender appender = appenders.get(ref.getRef());
            if (appender != null) {
                Level own = ref.getLevel();
                tapped.removeAppender(ref.getRef());
                tapped.addAppender(appender, own != null && own.isMoreSpecificThan(atLeast) ? own : atLeast, ref.getFilter());
            }
        }
    }

    @Override
    public synchronized void remove() {
        if (!context.isStarted() || tapped == null || context.getConfiguration().getLoggers().get(logger) != tapped) {
            return;
        }
        if (wasMissing) {
            context.getConfiguration().removeLogger(logger);
        } else {
            tapped.removeAppender(getName());
            tapped.setAdditive(wasAdditive);
            tapped.setLevel(operatorsOwnLevel);
            Map<String, Appender> appenders = context.getConfiguration().getAppenders();
            for (AppenderRef ref : operatorsRefs) {
                Appender appender = appenders.get(ref.getRef());
                if (appender != null) {
                    tapped.removeAppender(ref.getRef());
                    tapped.addAppender(appender, ref.getLevel(), ref.getFilter());
                }
            }
        }
        tapped = null;
        context.updateLoggers();
    }

    @Override
    public void append(LogEvent event) {
        listener.event(event.getMessage().getFormattedMessage(), event.getThrown(), event.getTimeMillis());
        LoggerConfig above = parent;
        if (above != null && event.getLevel().isMoreSpecificThan(operatorsLevel)) {
            above.log(event);
        }
    }
}
