package clienttelemetry.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clienttelemetry.broker.contract.BrokerClock;
import clienttelemetry.broker.manifest.BrokerMetrics;
import clienttelemetry.broker.settings.Settings;
import clienttelemetry.broker.upload.FolderStore;
import clienttelemetry.broker.upload.Recovery;
import clienttelemetry.broker.upload.Uploads;
import java.io.IOException;
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

    /** `..` behind a symbolic link leads to the parent of where the link points. */
    @Test
    void inALogDirByTheParentOfASymbolicLink() throws Exception {
        Path kafka = Files.createDirectory(folder.resolve("kafka"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), Files.createDirectory(kafka.resolve("topic-0")));
        refusal(link.resolve("../spool"), kafka.toString());
        refusal(folder.resolve("kafka/spool"), link.resolve("..").toString());
        refusal(kafka.resolve("spool/"), List.of("", " " + kafka + "/ ", " "));
    }

    /** Where neither log.dirs nor log.dir is set. */
    @Test
    void kafkasDefaultLogDir() {
        Map<String, Object> all = configuration(Path.of("/tmp/kafka-logs/spool"), "");
        all.remove("log.dirs");
        assertThrows(ConfigException.class, () -> new Settings(all));
    }

    private String refusal(String location, Path spool) {
        Map<String, Object> all = configuration(spool, folder.resolve("kafka").toString());
        all.put("client.telemetry.dump.location", location);
        return assertThrows(ConfigException.class, () -> new Settings(all)).getMessage();
    }

    /** A mounted folder gets a `v1`, which in a log dir stops the broker just as a spool does. */
    @Test
    void theLocationIsNoPlaceOfKafkasEither() {
        Path spool = folder.resolve("spool");
        String why = refusal(folder.resolve("kafka").toUri().toString(), spool);
        assertTrue(why.contains("client.telemetry.dump.location") && why.contains("log dir " + folder.resolve("kafka")), why);
        refusal(folder.resolve("kafka/a/b").toUri().toString(), spool);
        refusal(spool.toUri().toString(), spool);
        refusal(spool.resolve("raw").toUri().toString(), spool);
        why = refusal(folder.resolve("raw").toUri().toString(), folder.resolve("raw/v1/spool"));
        assertTrue(why.contains("spool"), why);
        Map<String, Object> all = configuration(spool, folder.resolve("kafka").toString());
        all.put("client.telemetry.dump.location", folder.toUri().toString());
        assertEquals(spool, new Settings(all).spoolFolder, "beside each other in one folder");
    }

    @Test
    void locationsThatSayAnotherThing() {
        Path spool = folder.resolve("spool");
        String why = refusal("file://mnt/dumps", spool);
        assertTrue(why.contains("file:///mnt/dumps"), why);
        why = refusal("s3://AKIAKEY:sosecret@bucket/prefix", spool);
        assertTrue(why.contains("client.telemetry.dump.location") && !why.contains("sosecret"), why);
        for (String odd : new String[] {"s3://bucket/prefix?region=x", "s3://bucket/prefix#x", "s3://bucket:9000/prefix", "file:///a/b?c", "file:///a%00b"}) {
            assertTrue(refusal(odd, spool).contains("client.telemetry.dump.location"), odd);
        }
    }

    /** A sentence that names the setting, not only a path. */
    @Test
    void aSpoolThatCannotBeMade() throws Exception {
        Path file = Files.createFile(folder.resolve("file"));
        Map<String, Object> all = configuration(file.resolve("spool"), folder.resolve("kafka").toString());
        IOException refused = assertThrows(IOException.class, () -> new Dump(TestBroker.BROKER, new Settings(all), null, new BrokerMetrics(), all, null,
                BrokerClock.SYSTEM));
        assertTrue(refused.getMessage().startsWith("client.telemetry.dump.spool.dir"), refused.getMessage());
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
        Recovery.recover(spool, spool.resolve("own"), TestBroker.BROKER, new Uploads(new FolderStore(folder.resolve("raw"), false), BrokerClock.SYSTEM));
        assertFalse(Files.exists(foreign.resolve("lock")));
        assertFalse(Files.exists(died.resolve("lock")), "not one of an incarnation");
    }
}
