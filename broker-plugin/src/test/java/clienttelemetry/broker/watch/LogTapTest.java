package clienttelemetry.broker.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import org.apache.logging.log4j.core.config.Configurator;
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

    /** Sets the operator's level as Kafka does for `kafka-configs --entity-type broker-loggers`; null takes it back. */
    private interface Operator {
        void set(String level);
    }

    /** What broke in 0.1: DEBUG and back to WARN, as the README tells operators to do, and DEBUG while the tap is on. */
    private void checkChanges(LogTap tap, Operator operator, Runnable speak) {
        written.clear();
        tap.listen(LogTap.Detail.DEBUG);
        expect(tap, speak, "WARN", operator, List.of("warn", "info", "debug"), List.of("warn"));
        expect(tap, speak, "DEBUG", operator, List.of("warn", "info", "debug"), List.of("warn", "info", "debug"));
        expect(tap, speak, "WARN", operator, List.of("warn", "info", "debug"), List.of("warn"));
        expect(tap, speak, "INFO", operator, List.of("warn", "info", "debug"), List.of("warn", "info"));
        expect(tap, speak, null, operator, List.of("warn", "info", "debug"), List.of("warn"));

        operator.set("DEBUG"); // inside a window, which then ends: the operator's level stays
        tap.listen(null);
        speak.run();
        assertEquals(List.of("warn", "info", "debug"), written);
        heard.clear();
        written.clear();
        tap.listen(LogTap.Detail.DEBUG);
        tap.listen(null);
        operator.set("ERROR");
        tap.listen(LogTap.Detail.DEBUG);
        speak.run();
        assertEquals(List.of("warn", "info", "debug"), heard);
        assertEquals(List.of(), written);
        heard.clear();
        operator.set("DEBUG");
        tap.remove();
        speak.run();
        assertEquals(List.of(), heard);
        assertEquals(List.of("warn", "info", "debug"), written, "his level stays when the plugin goes");
        operator.set(null);
    }

    private void expect(LogTap tap, Runnable speak, String level, Operator operator, List<String> hears, List<String> writes) {
        operator.set(level);
        tap.listen(LogTap.Detail.DEBUG); // the next tick
        speak.run();
        assertEquals(hears, heard, "heard at the operator's " + level);
        assertEquals(writes, written, "written at the operator's " + level);
        heard.clear();
        written.clear();
    }

    private static void setLog4j2(String logger, String level) {
        Configurator.setLevel(logger, level == null ? null : Level.valueOf(level)); // null: as Kafka unsets a level
    }

    private static void setReload4j(Logger logger, String level) {
        logger.setLevel(level == null ? null : org.apache.log4j.Level.toLevel(level));
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
        Level root = context.getConfiguration().getRootLogger().getLevel();
        Configurator.setRootLevel(Level.WARN);
        checkChanges(new Log4j2Tap("tapped.own", this::hear), level -> setLog4j2("tapped.own", level), () -> speakLog4j2("tapped.own"));
        Configurator.setRootLevel(root);
    }

    /** Between two ticks, too, the operator's log gets nothing that the level does not let through. */
    @Test
    void log4j2WithoutATick() {
        LoggerContext context = (LoggerContext) LogManager.getContext(false);
        AbstractAppender appender = log4j2Appender("between");
        context.getConfiguration().getRootLogger().addAppender(appender, null, null);
        Log4j2Tap tap = new Log4j2Tap("tapped.between", this::hear);
        try {
            tap.listen(LogTap.Detail.DEBUG);
            Configurator.setLevel("tapped.between", Level.WARN); // makes a configuration of its own for the logger
            speakLog4j2("tapped.between");
            assertEquals(List.of("warn", "info", "debug"), heard);
            assertEquals(List.of("warn"), written);
            heard.clear();
            written.clear();
            context.reconfigure();
            tap.listen(LogTap.Detail.DEBUG);
            speakLog4j2("tapped.between");
            assertEquals(List.of("warn", "info", "debug"), heard, "after the configuration was reloaded");
        } finally {
            tap.remove();
            context.getConfiguration().getRootLogger().removeAppender("between");
        }
    }

    /** A file with monitorInterval is read again whenever it changes: a second of requests would be unseen each time. */
    @Test
    void log4j2ReadsItsFileAgain() {
        LoggerContext context = (LoggerContext) LogManager.getContext(false);
        Log4j2Tap tap = new Log4j2Tap("tapped.again", this::hear);
        try {
            tap.listen(LogTap.Detail.DEBUG);
            for (int i = 0; i < 3; i++) {
                context.reconfigure();
                speakLog4j2("tapped.again");
                assertEquals(List.of("warn", "info", "debug"), heard);
                heard.clear();
            }
            tap.remove();
            context.reconfigure();
            speakLog4j2("tapped.again");
            assertEquals(List.of(), heard, "a tap that was removed stays so");
        } finally {
            tap.remove();
        }
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
            checkChanges(new Log4j2Tap("tapped.inherits", this::hear), level -> setLog4j2("tapped.inherits", level),
                    () -> speakLog4j2("tapped.inherits"));
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
        Logger.getLogger("tapped").setLevel(org.apache.log4j.Level.WARN);
        checkChanges(new Reload4jTap("tapped.own", this::hear), level -> setReload4j(logger, level), () -> speakReload4j(logger));
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
        checkChanges(new Reload4jTap("tapped.above.inherits", this::hear), level -> setReload4j(logger, level), () -> speakReload4j(logger));
    }

    /** reload4j holds the logger's lock while it calls an appender: a tap that then waits for its own would stop the broker. */
    @Test
    void reload4jNeverWaitsForTheTap() throws Exception {
        Logger logger = Logger.getLogger("tapped.busy");
        logger.setLevel(org.apache.log4j.Level.DEBUG);
        logger.setAdditivity(false);
        AppenderSkeleton quiet = new AppenderSkeleton() {
            @Override
            protected void append(LoggingEvent event) {
                Thread.yield();
            }

            @Override
            public void close() {
                // nothing is open
            }

            @Override
            public boolean requiresLayout() {
                return false;
            }
        };
        logger.addAppender(quiet);
        Reload4jTap tap = new Reload4jTap("tapped.busy", (message, error, millis) -> { });
        boolean[] isOver = {false};
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                while (!isOver[0]) {
                    logger.warn("busy");
                }
            });
            threads[i].setDaemon(true);
            threads[i].start();
        }
        Thread operator = new Thread(() -> {
            for (int i = 0; i < 3000; i++) {
                tap.listen(i % 3 == 0 ? LogTap.Detail.INFO : LogTap.Detail.DEBUG);
                logger.setLevel(i % 2 == 0 ? org.apache.log4j.Level.WARN : org.apache.log4j.Level.ERROR);
                tap.listen(LogTap.Detail.DEBUG);
                tap.remove();
            }
        });
        operator.setDaemon(true);
        operator.start();
        operator.join(20_000);
        boolean isStuck = operator.isAlive();
        isOver[0] = true;
        assertFalse(isStuck, "two threads wait for each other");
    }

    /** Kafka's tools show the level that the operator set. */
    @Test
    void reload4jSaysTheOperatorsLevel() {
        Logger logger = Logger.getLogger("tapped.shown");
        logger.setLevel(org.apache.log4j.Level.ERROR);
        Reload4jTap tap = new Reload4jTap("tapped.shown", this::hear);
        tap.listen(LogTap.Detail.DEBUG);
        assertEquals("ERROR", logger.getLevel().toString());
        assertTrue(logger.isDebugEnabled());
        tap.remove();
        assertEquals(org.apache.log4j.Level.ERROR, logger.getLevel());
    }
}
