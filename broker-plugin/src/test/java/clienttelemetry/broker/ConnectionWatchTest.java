package clienttelemetry.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LoggerContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The modes on the log4j 2 of this process. */
class ConnectionWatchTest {
    @TempDir
    Path folder;

    private ConnectionWatch watch;

    private void watch(String... settings) {
        watch = new ConnectionWatch(TestBroker.settings(folder, settings),
                new ConnectionRegistry(record -> { }, new Drops(), Set.of(), false, 1000), Log4j2Tap::new);
    }

    @AfterEach
    void remove() {
        watch.stop();
    }

    private static Level level(String logger) {
        return ((LoggerContext) LogManager.getContext(false)).getConfiguration().getLoggerConfig(logger).getLevel();
    }

    private static Level requests() {
        return level("kafka.request.logger");
    }

    private static Instant at(String time) {
        return Instant.parse("2026-11-20T" + time + "Z");
    }

    private String windows(String hour, String now) {
        return watch.windows(Hour.parse("2026-11-20T" + hour), at(now)).stream()
                .map(window -> window[0] + "-" + window[1]).collect(Collectors.joining(" "));
    }

    @Test
    void sampledWatchesTheFirstMinutesOfEachHour() {
        watch("connections", "sampled", "connections.sampled.minutes", "5");
        Level operators = requests();
        assertFalse(watch.adjust(at("11:59:59")));
        assertEquals(operators, requests());
        assertFalse(watch.adjust(at("12:00:00.400")));
        assertEquals(Level.DEBUG, requests());
        assertFalse(watch.adjust(at("12:04:59")));
        assertEquals("12:00:00-12:04:59", windows("12", "12:04:59"));
        assertTrue(watch.adjust(at("12:05:00.100")));
        assertEquals(operators, requests());
        assertEquals(Level.DEBUG, level("kafka.network.DataPlaneAcceptor"), "opening and closing always");
        assertFalse(watch.adjust(at("12:05:01")));
        assertEquals("12:00:00-12:05:00", windows("12", "12:30:00"));
    }

    /** A manifest is written some seconds after its hour, when the next window is open already. */
    @Test
    void aWindowIsToldByTheManifestOfItsHour() {
        watch("connections", "sampled", "connections.sampled.minutes", "5");
        watch.adjust(at("12:03:00"));
        watch.adjust(at("12:05:00"));
        watch.adjust(at("13:00:00"));
        assertEquals("12:03:00-12:05:00", windows("12", "13:00:02"));
        watch.forgetBefore(Hour.parse("2026-11-20T13"));
        assertEquals("13:00:00-13:00:02", windows("13", "13:00:02"));
        watch.adjust(at("13:05:00"));
        assertEquals("13:00:00-13:05:00", windows("13", "13:59:59"));
    }

    @Test
    void deprecatedOnlyLeavesConnectionsAlone() {
        watch("connections", "deprecated_only");
        Level acceptor = level("kafka.network.DataPlaneAcceptor");
        assertFalse(watch.adjust(at("12:00:00")));
        assertEquals(Level.INFO, requests());
        assertEquals(acceptor, level("kafka.network.DataPlaneAcceptor"));
        assertEquals("", windows("12", "12:30:00"));
    }

    @Test
    void continuousAlwaysWatches() {
        watch("connections", "continuous");
        assertFalse(watch.adjust(at("12:30:00")));
        assertEquals(Level.DEBUG, requests());
        assertEquals("", windows("12", "12:31:00"));
        watch.stop();
        assertTrue(requests().isMoreSpecificThan(Level.INFO), "the operator's level is back");
    }
}
