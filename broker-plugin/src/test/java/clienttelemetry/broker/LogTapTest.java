package clienttelemetry.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.ArrayList;
import java.util.List;
import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.Logger;
import org.apache.log4j.spi.LoggingEvent;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Configuration;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;
import org.junit.jupiter.api.Test;

/** The tap gets what it asks for, and the operator's log files get what they got before. */
class LogTapTest {
    private final List<String> heard = new ArrayList<>();
    private final List<String> written = new ArrayList<>();

    private void hear(String message, Throwable error, long millis) {
        heard.add(message);
    }

    private void check(LogTap tap, Runnable speak) {
        tap.listen(LogTap.Detail.DEBUG);
        speak.run();
        tap.listen(LogTap.Detail.DEBUG);
        assertEquals(List.of("warn", "info", "debug"), heard);
        assertEquals(List.of("warn"), written);
        heard.clear();
        written.clear();

        tap.listen(LogTap.Detail.INFO);
        speak.run();
        assertEquals(List.of("warn", "info"), heard);
        assertEquals(List.of("warn"), written);
        heard.clear();
        written.clear();

        tap.listen(null);
        speak.run();
        assertEquals(List.of("warn"), heard);
        heard.clear();
        written.clear();

        tap.remove();
        speak.run();
        assertEquals(List.of(), heard);
        assertEquals(List.of("warn"), written);
    }

    private void speakLog4j2(String logger) {
        org.apache.logging.log4j.Logger log = LogManager.getLogger(logger);
        log.warn("warn");
        log.info("info");
        log.debug("debug");
    }

    private AbstractAppender log4j2Appender(String name) {
        AbstractAppender appender = new AbstractAppender(name, null, null, true, Property.EMPTY_ARRAY) {
            @Override
            public void append(LogEvent event) {
                written.add(event.getMessage().getFormattedMessage());
            }
        };
        appender.start();
        return appender;
    }

    @Test
    void log4j2LoggerWithAppendersOfItsOwn() {
        LoggerContext context = (LoggerContext) LogManager.getContext(false);
        Configuration configuration = context.getConfiguration();
        AbstractAppender appender = log4j2Appender("own");
        configuration.addAppender(appender);
        LoggerConfig logger = LoggerConfig.newBuilder().withConfig(configuration).withLoggerName("tapped.own")
                .withLevel(Level.WARN).withAdditivity(false)
                .withRefs(new org.apache.logging.log4j.core.config.AppenderRef[] {
                    org.apache.logging.log4j.core.config.AppenderRef.createAppenderRef("own", null, null)})
                .build();
        logger.addAppender(appender, null, null);
        configuration.addLogger("tapped.own", logger);
        context.updateLoggers();
        check(new Log4j2Tap("tapped.own", this::hear), () -> speakLog4j2("tapped.own"));
    }

    /** When the process is told to end, log4j 2 ends while the broker still stops, and refuses to begin again. */
    @Test
    void log4j2ThatHasEndedIsLeftAlone() {
        LoggerContext context = (LoggerContext) LogManager.getContext(false);
        Log4j2Tap tap = new Log4j2Tap("tapped.ended", this::hear);
        context.stop();
        try {
            tap.listen(LogTap.Detail.DEBUG);
            tap.remove();
            assertFalse(context.getConfiguration().getLoggers().containsKey("tapped.ended"));
        } finally {
            context.start();
        }
    }

    @Test
    void log4j2LoggerThatInherits() {
        LoggerContext context = (LoggerContext) LogManager.getContext(false);
        AbstractAppender appender = log4j2Appender("root");
        LoggerConfig root = context.getConfiguration().getRootLogger();
        Level before = root.getLevel();
        root.addAppender(appender, null, null);
        root.setLevel(Level.WARN);
        context.updateLoggers();
        try {
            check(new Log4j2Tap("tapped.inherits", this::hear), () -> speakLog4j2("tapped.inherits"));
        } finally {
            root.removeAppender("root");
            root.setLevel(before);
            context.updateLoggers();
        }
    }

    private AppenderSkeleton reload4jAppender() {
        return new AppenderSkeleton() {
            @Override
            protected void append(LoggingEvent event) {
                written.add(event.getRenderedMessage());
            }

            @Override
            public void close() {
                throw new AssertionError("the operator's appender is still in use");
            }

            @Override
            public boolean requiresLayout() {
                return false;
            }
        };
    }

    private static void speakReload4j(Logger logger) {
        logger.warn("warn");
        logger.info("info");
        logger.debug("debug");
    }

    @Test
    void reload4jLoggerWithAppendersOfItsOwn() {
        Logger logger = Logger.getLogger("tapped.own");
        logger.addAppender(reload4jAppender());
        logger.setLevel(org.apache.log4j.Level.WARN);
        logger.setAdditivity(false);
        check(new Reload4jTap("tapped.own", this::hear), () -> speakReload4j(logger));
        assertFalse(logger.getAdditivity());
    }

    @Test
    void reload4jLoggerThatInherits() {
        Logger above = Logger.getLogger("tapped.above");
        above.addAppender(reload4jAppender());
        above.setLevel(org.apache.log4j.Level.WARN);
        above.setAdditivity(false);
        Logger logger = Logger.getLogger("tapped.above.inherits");
        check(new Reload4jTap("tapped.above.inherits", this::hear), () -> speakReload4j(logger));
        assertEquals(null, logger.getLevel());
    }
}
