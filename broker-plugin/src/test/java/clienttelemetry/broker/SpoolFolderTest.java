package clienttelemetry.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.metrics.KafkaMetricsContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Kafka does not start any more once a foreign folder lies in a log dir. */
class SpoolFolderTest {
    @TempDir
    Path folder;

    private Map<String, Object> configuration(Path spool, Object logDirs) {
        Map<String, Object> all = new HashMap<>();
        all.put("client.telemetry.dump.location", folder.resolve("raw").toUri().toString());
        all.put("client.telemetry.dump.spool.dir", spool.toString());
        all.put("log.dirs", logDirs);
        return all;
    }

    private String refusal(Path spool, Object logDirs) {
        return assertThrows(ConfigException.class, () -> new Settings(configuration(spool, logDirs))).getMessage();
    }

    @Test
    void insideALogDir() {
        Path kafka = folder.resolve("kafka");
        String why = refusal(kafka.resolve("client-telemetry-spool"), kafka.toString());
        assertTrue(why.contains("client.telemetry.dump.spool.dir") && why.contains("log dir " + kafka), why);
        refusal(kafka, folder.resolve("other") + ", " + kafka);
        refusal(kafka.resolve("a/b"), List.of(folder.resolve("other").toString(), kafka.toString()));
        refusal(folder.resolve("x/../kafka/spool"), kafka.toString());
    }

    @Test
    void inALogDirBySymbolicLink() throws Exception {
        Path kafka = Files.createDirectory(folder.resolve("kafka"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), kafka);
        refusal(link.resolve("spool"), kafka.toString());
        refusal(kafka.resolve("spool"), link.toString());
    }

    @Test
    void aboveALogDir() {
        String why = refusal(folder, folder.resolve("kafka").toString());
        assertTrue(why.contains("contains Kafka's log dir"), why);
    }

    @Test
    void theMetadataLogAndTheOldNameCountToo() {
        for (String key : new String[] {"log.dir", "metadata.log.dir"}) {
            Map<String, Object> all = configuration(folder.resolve("kafka/spool"), folder.resolve("other").toString());
            all.put(key, folder.resolve("kafka").toString());
            assertThrows(ConfigException.class, () -> new Settings(all), key);
        }
    }

    @Test
    void aFolderOfSomeoneElse() throws Exception {
        Path foreign = Files.createDirectories(folder.resolve("etc/ssl")).getParent();
        String why = refusal(foreign, folder.resolve("kafka").toString());
        assertTrue(why.contains("neither empty nor a spool") && why.contains("ssl"), why);
        assertFalse(Files.exists(foreign.resolve("ssl/lock")));
    }

    @Test
    void aSpoolOfBeforeAndAnEmptyFolder() throws Exception {
        Path spool = Files.createDirectories(folder.resolve("spool/000102030405060708090a0b0c0d0e0f")).getParent();
        Files.createDirectory(spool.resolve("lost+found"));
        assertEquals(spool, new Settings(configuration(spool, folder.resolve("spool-of-kafka").toString())).spoolFolder);
    }

    @Test
    void aRelativePath() {
        assertTrue(refusal(Path.of("spool"), "/data").contains("absolute"));
    }

    /** The broker starts without the plugin's work, and nothing was created. */
    @Test
    void nothingIsCreated() {
        ClientTelemetryReporter reporter = new ClientTelemetryReporter();
        reporter.configure(configuration(folder.resolve("kafka/spool"), folder.resolve("kafka").toString()));
        reporter.contextChange(new KafkaMetricsContext("kafka.server", Map.of("kafka.cluster.id", "c", "kafka.node.id", "1")));
        reporter.close();
        assertFalse(Files.exists(folder.resolve("kafka")));
    }

    /** Folders that came later get no lock file. */
    @Test
    void recoveryLeavesForeignFoldersAlone() throws Exception {
        Path spool = folder.resolve("spool");
        Path foreign = Files.createDirectories(spool.resolve("someone-elses"));
        Path died = Files.createDirectories(spool.resolve("ff".repeat(16)));
        Recovery.recover(spool, spool.resolve("own"), new Uploads(new FolderStore(folder.resolve("raw"), false), BrokerClock.SYSTEM));
        assertFalse(Files.exists(foreign.resolve("lock")));
        assertFalse(Files.exists(died.resolve("lock")), "not one of an incarnation");
    }
}
