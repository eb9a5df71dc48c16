package clienttelemetry.broker.watch;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.log4j.Appender;
import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.Category;
import org.apache.log4j.Level;
import org.apache.log4j.Logger;
import org.apache.log4j.spi.LoggingEvent;

/**
 * For Kafka 3: stands in for the logger's own appenders and forwards to them. reload4j knows one level for each logger,
 * so the tap's is an object of its own with the operator's name: whatever other object is found there, equal or not, is
 * what the operator has set since.
 */
final class Reload4jTap extends AppenderSkeleton implements LogTap {
    private final Logger logger;
    private final Listener listener;
    private final List<Appender> operators = new ArrayList<>();
    private Detail detail;
    /** Null where the logger inherits its level. */
    private Level operatorsOwnLevel;
    private volatile Level ourLevel;
    private volatile Level operatorsLevel = Level.ALL;
    private volatile Appender[] forwardTo = {};
    private boolean wasAdditive;
    private volatile Category parent;

    Reload4jTap(String logger, Listener listener) {
        this.logger = Logger.getLogger(logger);
        this.listener = listener;
    }

    @Override
    public synchronized void listen(Detail wanted) {
        if (!logger.isAttached(this)) {
            takeOver();
        } else if (logger.getLevel() != ourLevel) {
            operatorsOwnLevel = logger.getLevel();
        }
        detail = wanted;
        setLevel();
    }

    private void setLevel() {
        operatorsLevel = operatorsOwnLevel != null ? operatorsOwnLevel : logger.getParent().getEffectiveLevel();
        Level wanted = detail == null ? operatorsLevel : Level.toLevel(detail.name());
        Level next = wanted.isGreaterOrEqual(operatorsLevel) ? operatorsOwnLevel : new TapLevel(wanted, operatorsLevel.toString());
        boolean isThere = next == ourLevel
                || next instanceof TapLevel && ourLevel instanceof TapLevel && ((TapLevel) next).isLike((TapLevel) ourLevel);
        if (!isThere || logger.getLevel() != ourLevel) {
            ourLevel = next;
            logger.setLevel(next);
        }
    }

    @SuppressWarnings("unchecked")
    private void takeOver() {
        if (!(logger.getLevel() instanceof TapLevel)) { // a reloaded configuration may leave the level
            operatorsOwnLevel = logger.getLevel();
        }
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
            if (logger.getLevel() == ourLevel) {
                logger.setLevel(operatorsOwnLevel);
            }
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
        if (event.getLevel().isGreaterOrEqual(operatorsLevelNow())) {
            for (Appender each : forwardTo) {
                each.doAppend(event);
            }
            if (parent != null) {
                parent.callAppenders(event);
            }
        }
    }

    /**
     * The operator may have changed it since the last tick. Without a lock: the caller holds that of the logger, for which
     * a thread with that of this tap may be waiting.
     */
    private Level operatorsLevelNow() {
        Level now = logger.getLevel();
        if (now == ourLevel || now instanceof TapLevel) {
            return operatorsLevel;
        }
        return now != null ? now : logger.getParent().getEffectiveLevel();
    }

    @Override
    public void close() {
        // nothing is open
    }

    @Override
    public boolean requiresLayout() {
        return false;
    }

    /** A level of the tap. It says the operator's, which is what Kafka's tools then show. */
    private static final class TapLevel extends Level {
        private static final long serialVersionUID = 1L;

        TapLevel(Level wanted, String name) {
            super(wanted.toInt(), name, wanted.getSyslogEquivalent());
        }

        boolean isLike(TapLevel other) {
            return toInt() == other.toInt() && toString().equals(other.toString());
        }
    }
}
