package clienttelemetry.broker;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.log4j.Appender;
import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.Category;
import org.apache.log4j.Logger;
import org.apache.log4j.spi.LoggingEvent;

/** For Kafka 3: stands in for the logger's own appenders and forwards to them. */
final class Reload4jTap extends AppenderSkeleton implements LogTap {
    private final Logger logger;
    private final Listener listener;
    private final List<Appender> operators = new ArrayList<>();
    private org.apache.log4j.Level operatorsOwnLevel;
    private org.apache.log4j.Level ourLevel;
    private volatile org.apache.log4j.Level operatorsLevel;
    private volatile Appender[] forwardTo = {};
    private boolean wasAdditive;
    private volatile Category parent;

    Reload4jTap(String logger, Listener listener) {
        this.logger = Logger.getLogger(logger);
        this.listener = listener;
    }

    @Override
    public synchronized void listen(LogTap.Detail detail) {
        if (!logger.isAttached(this)) {
            takeOver();
        } else if (logger.getLevel() != ourLevel) { // the operator changed it meanwhile
            operatorsOwnLevel = logger.getLevel();
        }
        operatorsLevel = operatorsOwnLevel != null ? operatorsOwnLevel : logger.getParent().getEffectiveLevel();
        org.apache.log4j.Level wanted = detail == null ? operatorsLevel
                : detail == LogTap.Detail.DEBUG ? org.apache.log4j.Level.DEBUG : org.apache.log4j.Level.INFO;
        boolean isOperatorsEnough = wanted.isGreaterOrEqual(operatorsLevel);
        ourLevel = isOperatorsEnough ? operatorsOwnLevel : wanted;
        logger.setLevel(ourLevel);
    }

    @SuppressWarnings("unchecked")
    private void takeOver() {
        operatorsOwnLevel = logger.getLevel();
        wasAdditive = logger.getAdditivity();
        parent = wasAdditive ? logger.getParent() : null;
        operators.clear();
        operators.addAll(Collections.list(logger.getAllAppenders()));
        forwardTo = operators.toArray(new Appender[0]);
        logger.addAppender(this);
        operators.forEach(logger::removeAppender);
        logger.setAdditivity(false);
    }

    @Override
    public synchronized void remove() {
        if (logger.isAttached(this)) {
            logger.setLevel(operatorsOwnLevel);
            operators.forEach(logger::addAppender);
            logger.setAdditivity(wasAdditive);
            logger.removeAppender(this);
        }
    }

    /** Without the lock of the super class: the listener is safe for many threads. */
    @Override
    @SuppressWarnings("UnsynchronizedOverridesSynchronized")
    public void doAppend(LoggingEvent event) {
        append(event);
    }

    @Override
    protected void append(LoggingEvent event) {
        listener.event(event.getRenderedMessage(),
                event.getThrowableInformation() == null ? null : event.getThrowableInformation().getThrowable(),
                event.getTimeStamp());
        if (event.getLevel().isGreaterOrEqual(operatorsLevel)) {
            for (Appender each : forwardTo) {
                each.doAppend(event);
            }
            if (parent != null) {
                parent.callAppenders(event);
            }
        }
    }

    @Override
    public void close() {
        // nothing is open
    }

    @Override
    public boolean requiresLayout() {
        return false;
    }
}
