package clienttelemetry.broker.watch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clienttelemetry.broker.TestBroker;
import clienttelemetry.broker.contract.Drops;
import clienttelemetry.broker.contract.Hour;
import clienttelemetry.broker.registry.ConnectionRegistry;
import clienttelemetry.broker.registry.ConnectionRegistryTest;
import clienttelemetry.broker.settings.Settings;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.common.config.ConfigException;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The modes on the log4j 2 of this process. */
class ConnectionWatchTest {
    @TempDir
    Path folder;

    private ConnectionWatch watch;

    private void watch(String... settings) {
        watch = new ConnectionWatch(TestBroker.settings(folder, settings), 0,
                ConnectionRegistryTest.registry(record -> { }, new Drops(), 1 << 20, System::nanoTime), Log4j2Tap::new);
    }

    @AfterEach
    void remove() {
        watch.stop();
    }

    /** What the broker would log, for the tap or for the operator. */
    private static Level level(String logger) {
        Logger log = LogManager.getLogger(logger);
        return log.isDebugEnabled() ? Level.DEBUG : log.isInfoEnabled() ? Level.INFO : log.isErrorEnabled() ? Level.ERROR : Level.OFF;
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
        assertFalse(watch.adjust(at("11:59:59"), false));
        assertEquals(operators, requests());
        assertFalse(watch.adjust(at("12:00:00.400"), false));
        assertEquals(Level.DEBUG, requests());
        assertFalse(watch.adjust(at("12:04:59"), false));
        assertEquals("12:00:00-12:04:59", windows("12", "12:04:59"));
        assertTrue(watch.adjust(at("12:05:00.100"), false));
        assertEquals(operators, requests());
        assertEquals(Level.DEBUG, level("kafka.network.DataPlaneAcceptor"), "opening and closing always");
        assertFalse(watch.adjust(at("12:05:01"), false));
        assertEquals("12:00:00-12:05:00", windows("12", "12:30:00"));
    }

    /** An operator's level takes the place of the tap's there: the writer puts it back ten times a second, not only each second. */
    @Test
    void reload4jIsListenedToAgainBetweenTicks() {
        watch = new ConnectionWatch(TestBroker.settings(folder, "connections", "continuous"), 0,
                ConnectionRegistryTest.registry(record -> { }, new Drops(), 1 << 20, System::nanoTime), Reload4jTap::new);
        org.apache.log4j.Logger logger = org.apache.log4j.Logger.getLogger("kafka.request.logger");
        watch.hold();
        assertFalse(logger.getLevel() != null, "nothing is listened to before the first look");
        watch.adjust(at("12:00:00"), false);
        logger.setLevel(org.apache.log4j.Level.WARN);
        assertFalse(logger.isDebugEnabled());
        watch.hold();
        assertTrue(logger.isDebugEnabled());
        watch.stop();
        assertEquals(org.apache.log4j.Level.WARN, logger.getLevel());
        logger.setLevel(null);
    }

    /** On the broker's network threads, whose logging calls the tap. */
    @Test
    void nothingIsThrownAtWhoLogs() {
        Map<String, LogTap.Listener> listeners = new HashMap<>();
        Drops drops = new Drops();
        ConnectionRegistry registry = ConnectionRegistryTest.registry(record -> {
            throw new IllegalStateException("a queue that fails");
        }, drops, 1 << 20, System::nanoTime);
        watch = new ConnectionWatch(TestBroker.settings(folder, "connections", "continuous"), 0, registry, (logger, listener) -> {
            listeners.put(logger, listener);
            return new Log4j2Tap(logger, listener);
        });
        String id = "127.0.0.1:29200-10.0.0.7:46656-0-6";
        listeners.get("org.apache.kafka.common.network.Selector").event("[SocketServer listenerType=BROKER, nodeId=1] Failed authentication with "
                + "/10.0.0.7 (channelId=" + id + ") (SSL handshake failed)", null, 1);
        listeners.get("kafka.network.DataPlaneAcceptor").event(null, null, 1);
        listeners.get("kafka.request.logger").event(ConnectionRegistryTest.line(3, 12, "\"app\"", "{}", "{}", id, "x"), null, 1);
        listeners.get("kafka.request.logger").event("Completed request:{", null, 1);
        assertTrue(drops.of(Drops.Reason.FAILED) >= 3, "and it is counted: " + drops.of(Drops.Reason.FAILED));
    }

    /** A manifest is written some seconds after its hour, when the next window is open already. */
    @Test
    void aWindowIsToldByTheManifestOfItsHour() {
        watch("connections", "sampled", "connections.sampled.minutes", "5");
        watch.adjust(at("12:03:00"), false);
        watch.adjust(at("12:05:00"), false);
        watch.adjust(at("13:00:00"), false);
        watch.adjust(at("13:00:02"), false);
        assertEquals("12:03:00-12:05:00", windows("12", "13:00:02"));
        watch.forgetBefore(Hour.parse("2026-11-20T13"));
        assertEquals("13:00:00-13:00:02", windows("13", "13:00:02"));
        watch.adjust(at("13:05:00"), false);
        assertEquals("13:00:00-13:05:00", windows("13", "13:59:59"));
    }

    @Test
    void aWindowDoesNotReachOverAStepOfTheTimeOfDay() {
        watch("connections", "sampled", "connections.sampled.minutes", "30");
        watch.adjust(at("13:00:00"), false);
        watch.adjust(at("13:00:10"), false);
        watch.adjust(at("12:00:11"), true);
        watch.adjust(at("12:00:20"), false);
        assertEquals("13:00:00-13:00:10", windows("13", "13:59:59"));
        assertEquals("12:00:11-12:00:20", windows("12", "12:00:20"));
        watch.adjust(at("12:20:00"), true);
        assertEquals("12:00:11-12:00:20 12:20:00-12:20:00", windows("12", "12:20:00"));
    }

    /** All at once would be a dent in the cluster's throughput. */
    @Test
    void brokersSampleOneAfterTheOther() {
        watch("connections", "sampled", "connections.sampled.minutes", "5");
        watch.stop();
        watch = new ConnectionWatch(TestBroker.settings(folder, "connections", "sampled"), 13,
                ConnectionRegistryTest.registry(record -> { }, new Drops(), 1 << 20, System::nanoTime), Log4j2Tap::new);
        assertFalse(watch.isForEveryRequest(at("12:04:59")));
        assertTrue(watch.isForEveryRequest(at("12:05:00")));
        assertFalse(watch.isForEveryRequest(at("12:10:00")));
        watch.configure(TestBroker.settings(folder, "connections", "sampled", "connections.sampled.from.minute", "55"));
        assertTrue(watch.isForEveryRequest(at("12:59:59")));
        assertThrows(ConfigException.class, () -> TestBroker.settings(folder, "connections", "sampled",
                "connections.sampled.from.minute", "56"));
    }

    /** Of an hour in which the operator changed the mode, nobody may think that it was watched throughout. */
    @Test
    void anHourInWhichTheModeChanged() {
        watch("connections", "off");
        watch.adjust(at("12:00:00"), false);
        assertEquals(Settings.Watch.OFF, watch.modeOfHour());
        watch.configure(TestBroker.settings(folder, "connections", "continuous"));
        watch.adjust(at("12:20:00"), false);
        watch.adjust(at("12:59:59"), false);
        assertEquals(Settings.Watch.SAMPLED, watch.modeOfHour());
        assertEquals("12:20:00-12:59:59", windows("12", "12:59:59"));
        watch.forgetBefore(Hour.parse("2026-11-20T13"));
        watch.adjust(at("13:00:00"), false);
        assertEquals(Settings.Watch.CONTINUOUS, watch.modeOfHour());
    }

    @Test
    void deprecatedOnlyLeavesConnectionsAlone() {
        watch("connections", "deprecated_only");
        Level acceptor = level("kafka.network.DataPlaneAcceptor");
        assertFalse(watch.adjust(at("12:00:00"), false));
        assertEquals(Level.INFO, requests());
        assertEquals(acceptor, level("kafka.network.DataPlaneAcceptor"));
        assertEquals("", windows("12", "12:30:00"));
    }

    @Test
    void continuousAlwaysWatches() {
        watch("connections", "continuous");
        assertFalse(watch.adjust(at("12:30:00"), false));
        assertEquals(Level.DEBUG, requests());
        assertEquals("", windows("12", "12:31:00"));
        watch.stop();
        assertTrue(requests().isMoreSpecificThan(Level.INFO), "the operator's level is back");
    }
}
