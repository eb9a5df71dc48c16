package clienttelemetry.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import client_telemetry.raw.v1.RawDumpV1.ClientPush;
import clienttelemetry.broker.contract.BrokerClock;
import clienttelemetry.broker.contract.Dataset;
import clienttelemetry.broker.contract.Drops;
import clienttelemetry.broker.contract.Hour;
import clienttelemetry.broker.contract.Json;
import clienttelemetry.broker.contract.RecordEncoder;
import clienttelemetry.broker.contract.Sha256;
import clienttelemetry.broker.manifest.BrokerMetrics;
import clienttelemetry.broker.manifest.Manifests;
import clienttelemetry.broker.settings.Settings;
import clienttelemetry.broker.spool.RecordQueue;
import clienttelemetry.broker.spool.Spool;
import clienttelemetry.broker.spool.SpoolFile;
import clienttelemetry.broker.spool.SpoolName;
import clienttelemetry.broker.spool.SpoolRoom;
import clienttelemetry.broker.spool.SpooledObject;
import clienttelemetry.broker.spool.TornSpoolFile;
import clienttelemetry.broker.upload.FolderStore;
import clienttelemetry.broker.upload.ObjectStore;
import clienttelemetry.broker.upload.Recovery;
import clienttelemetry.broker.upload.Uploads;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.kafka.common.config.ConfigException;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Spool, uploads, manifests and recovery together, on real files. */
class DumpTest {
    private static final Duration LONG = Duration.ofSeconds(20);

    @TempDir
    Path folder;

    private final Drops drops = new Drops();
    private Uploads uploads;
    private Manifests manifests;

    private Path raw() {
        return folder.resolve("raw");
    }

    private Path spoolFolder() {
        return folder.resolve("spool").resolve(TestBroker.BROKER.id);
    }

    private Spool spool(Settings settings, ObjectStore store) throws IOException {
        Files.createDirectories(spoolFolder());
        SpoolRoom room = new SpoolRoom(settings.spoolFolder, settings.spoolMaxBytes, settings.spoolMinFreeBytes);
        room.look();
        uploads = new Uploads(store, BrokerClock.SYSTEM);
        manifests = new Manifests(TestBroker.BROKER, spoolFolder());
        BrokerClock clock = new BrokerClock(Clock.fixed(TestBroker.NOON, ZoneOffset.UTC), System::nanoTime);
        return new Spool(spoolFolder(), settings, TestBroker.BROKER, clock, drops, room, object -> {
            manifests.add(object);
            uploads.object(object, TestBroker.BROKER);
        });
    }

    private static byte[] noise(int bytes, long seed) {
        byte[] content = new byte[bytes];
        new java.util.Random(seed).nextBytes(content);
        return content;
    }

    private List<Long> sequences() throws IOException {
        return TestBroker.pushes(raw()).stream().map(ClientPush::getSequence).sorted().collect(Collectors.toList());
    }

    private static List<Long> upTo(long count) {
        return LongStream.range(0, count).boxed().collect(Collectors.toList());
    }

    /** A volume has lost+found, which is root's alone: its spool was full for ever once it had taken its maximum in all. */
    @Test
    void aFolderThatCannotBeReadDoesNotHideTheRoom() throws Exception {
        Path root = Files.createDirectories(folder.resolve("spool"));
        Path closed = Files.createDirectory(root.resolve("lost+found"));
        Files.write(root.resolve("file"), new byte[1000]);
        Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("---------"));
        try {
            Assumptions.assumeFalse(Files.isReadable(closed), "root reads everything");
            SpoolRoom room = new SpoolRoom(root, 5000, 0);
            room.add(4500);
            room.look();
            assertEquals(1000, room.usedBytes());
        } finally {
            Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString("rwx------"));
        }
    }

    @Test
    void objectsEndBySizeAndHourAndNamesSayWhatTheyHold() throws Exception {
        Spool spool = spool(TestBroker.settings(folder, "roll.bytes", "300000"), new FolderStore(raw(), false));
        for (int i = 0; i < 10; i++) {
            spool.append(TestBroker.push(TestBroker.NOON, noise(100_000, i)));
        }
        spool.append(TestBroker.push(TestBroker.NOON.plusSeconds(3600), noise(10, 1)));
        spool.finishAll();
        uploads.manifest(manifests.save(Hour.of(TestBroker.NOON)), Hour.of(TestBroker.NOON), TestBroker.BROKER);
        uploads.start();
        assertTrue(uploads.stop(LONG));
        assertEquals(upTo(11), sequences());
        String start = "v1/dataset=client_pushes/cluster=kQ7x0RvXTs-Y2r0m3Jw0zA/dt=2026-11-20/hour=12/broker=3/" + TestBroker.BROKER.id;
        List<String> keys = TestBroker.keys(raw());
        assertTrue(keys.contains(start + "-00000000000000000000-00000000000000000003.zst"), keys.toString());
        JsonNode manifest = TestBroker.manifest(raw(), "12");
        assertEquals(3, manifest.get("files").size());
        for (JsonNode file : manifest.get("files")) {
            byte[] stored = Files.readAllBytes(raw().resolve(file.get("key").asText()));
            assertEquals(file.get("bytes").asLong(), stored.length);
            assertEquals(file.get("sha256").asText(), Sha256.hex(Sha256.begin().digest(stored)));
        }
        assertEquals("2026-11-20T12:00:00Z", manifest.at("/files/0/min_time").asText());
        try (Stream<Path> left = Files.list(spoolFolder())) {
            assertEquals(List.of("manifest_2026-11-20T13.json"),
                    left.map(file -> file.getFileName().toString()).collect(Collectors.toList()), "what is uploaded leaves the spool");
        }
    }

    @Test
    void aKilledProcessLosesNothingThatWasFlushed() throws Exception {
        Spool spool = spool(TestBroker.settings(folder, "roll.bytes", "300000"), new FolderStore(raw(), false));
        FileLock lock = Recovery.claim(spoolFolder(), TestBroker.BROKER);
        manifests.addDropped(Hour.of(TestBroker.NOON), java.util.Map.of("queue_full", 5L));
        for (int i = 0; i < 10; i++) {
            spool.append(TestBroker.push(TestBroker.NOON, noise(100_000, i)));
            spool.flush();
        }
        spool.append(TestBroker.push(TestBroker.NOON, noise(200_000, 99))); // in the compressor, in part
        lock.channel().close();

        Uploads successors = new Uploads(new FolderStore(raw(), false), BrokerClock.SYSTEM);
        Recovery.recover(folder.resolve("spool"), folder.resolve("own"), TestBroker.BROKER, successors);
        successors.start();
        assertTrue(successors.stop(LONG));
        assertEquals(upTo(10), sequences());
        JsonNode manifest = TestBroker.manifest(raw(), "12");
        assertTrue(manifest.get("recovered").asBoolean());
        assertEquals(4, manifest.get("files").size());
        assertEquals(5, manifest.at("/dropped/queue_full").asLong());
        assertFalse(Files.exists(spoolFolder()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{\"schema_version\": 1, \"hou", "[]", "{}", "\u0000\u0000\u0000"})
    void aTornManifestOrBrokerFileHoldsUpNoObject(String torn) throws Exception {
        Spool spool = spool(TestBroker.settings(folder, "roll.bytes", "300000"), new FolderStore(raw(), false));
        FileLock lock = Recovery.claim(spoolFolder(), TestBroker.BROKER);
        for (int i = 0; i < 10; i++) {
            spool.append(TestBroker.push(TestBroker.NOON, noise(100_000, i)));
            spool.flush();
        }
        lock.channel().close();
        Files.writeString(Manifests.path(spoolFolder(), Hour.of(TestBroker.NOON)), torn);
        Files.writeString(spoolFolder().resolve("broker.json"), torn);

        Uploads successors = new Uploads(new FolderStore(raw(), false), BrokerClock.SYSTEM);
        assertEquals(0, Recovery.recover(folder.resolve("spool"), folder.resolve("own"), TestBroker.BROKER, successors));
        successors.start();
        assertTrue(successors.stop(LONG));
        assertEquals(upTo(10), sequences());
        JsonNode manifest = TestBroker.manifest(raw(), "12");
        assertTrue(manifest.get("recovered").asBoolean());
        assertEquals(4, manifest.get("files").size());
        assertEquals(TestBroker.BROKER.id, manifest.get("incarnation").asText());
        assertEquals("unknown", manifest.get("broker_software_version").asText());
        assertFalse(Files.exists(spoolFolder()));
    }

    @Test
    void aFolderThatCannotBeUploadedIsCounted() throws Exception {
        spool(TestBroker.settings(folder), new FolderStore(raw(), false));
        Recovery.claim(spoolFolder(), TestBroker.BROKER).channel().close();
        Files.createDirectory(Manifests.path(spoolFolder(), Hour.of(TestBroker.NOON)));
        Uploads successors = new Uploads(new FolderStore(raw(), false), BrokerClock.SYSTEM);
        assertEquals(1, Recovery.recover(folder.resolve("spool"), folder.resolve("own"), TestBroker.BROKER, successors));
        assertTrue(Files.exists(spoolFolder()));
    }

    @ParameterizedTest
    @CsvSource({
        "s3.endpoint, minio.example.com:9000, must be https://host",
        "s3.endpoint, s3://bucket, must be https://host",
        "s3.endpoint, https://minio.example.com/bucket, without the bucket",
        "s3.endpoint, https://key:secret@minio.example.com, must not have keys in it",
        "s3.endpoint, https://minio example.com, not a URL",
        "s3.profile.file, /nowhere/config, name it in client.telemetry.dump.s3.profile",
    })
    void mistakesOfTheStoreNameTheSettingAtTheStart(String setting, String value, String reason) {
        ConfigException refused = assertThrows(ConfigException.class, () -> TestBroker.settings(folder, setting, value));
        assertTrue(refused.getMessage().contains("client.telemetry.dump." + setting), refused.getMessage());
        assertTrue(refused.getMessage().contains(reason), refused.getMessage());
        assertFalse(refused.getMessage().contains("secret"));
    }

    @Test
    void aProfileFileThatIsNotThereIsRefused() {
        ConfigException refused = assertThrows(ConfigException.class,
                () -> TestBroker.settings(folder, "s3.profile", "dump", "s3.profile.file", "/nowhere/config"));
        assertTrue(refused.getMessage().contains("does not exist or cannot be read"), refused.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"clent.telemetry.dump.location", "client-telemetry.dump.location", "client.telemetry.location",
        "telemetry.dump.location", "kafka.client.telemetry.dump.location", "Client.Telemetry.Dump.location", "clienttelemetry.dump.location"})
    void misspeltPrefixesAreCaught(String name) {
        assertEquals(java.util.Set.of(name), Settings.unknown(java.util.Set.of(name)).keySet());
        assertTrue(Settings.unknown(java.util.Set.of(name)).get(name).contains("do you mean client.telemetry.dump.location"));
    }

    @Test
    void settingsOfKafkaAreNotTakenForMisspeltOnes() {
        java.util.Set<String> kafkas = new java.util.HashSet<>(org.apache.kafka.clients.admin.AdminClientConfig.configNames());
        kafkas.addAll(java.util.Set.of("telemetry.max.bytes", "metric.reporters", "log.dirs", "client.quota.callback.class", "broker.id",
                "log.roll.ms", "log.roll.hours", "connections.max.idle.ms"));
        assertEquals(java.util.Map.of(), Settings.unknown(kafkas));
    }

    @Test
    void failedLoginsAreCountedInTheirHour() {
        manifests = new Manifests(TestBroker.BROKER, spoolFolder());
        Hour noon = Hour.of(TestBroker.NOON);
        Hour next = Hour.of(noon.end());
        manifests.addFailedLogins(noon, 0);
        assertEquals(0, manifests.of(noon).get("failed_logins").asLong(-1), "none, which is not the same as not known");
        manifests.addFailedLogins(noon, 7);
        manifests.addFailedLogins(next, 9);
        assertEquals(7, manifests.of(noon).get("failed_logins").asLong());
        assertEquals(2, manifests.of(next).get("failed_logins").asLong());
    }

    @Test
    void aTornTailIsCutWhereverItIs() throws Exception {
        Spool spool = spool(TestBroker.settings(folder), new FolderStore(raw(), false));
        Recovery.claim(spoolFolder(), TestBroker.BROKER).channel().close();
        for (int i = 0; i < 20; i++) {
            spool.append(TestBroker.push(TestBroker.NOON, ("payload " + i).repeat(200).getBytes()));
            spool.flush();
        }
        Path open = new SpoolName(spoolFolder(), Dataset.CLIENT_PUSHES, Hour.of(TestBroker.NOON), 0).open();
        byte[] whole = Files.readAllBytes(open);
        long before = -1;
        for (int length = 0; length <= whole.length; length += 7) {
            Path copy = Files.createDirectories(folder.resolve("torn" + length)).resolve(open.getFileName());
            Files.write(copy, java.util.Arrays.copyOf(whole, length));
            SpooledObject object = TornSpoolFile.recover(copy);
            long records = object == null ? 0 : object.span.records;
            assertTrue(records >= before && records <= 20, length + " bytes hold " + records + " records after " + before);
            before = records;
        }
        assertTrue(before >= 19);
    }

    @Test
    void aLivingProcessKeepsItsSpool() throws Exception {
        FileLock lock = Recovery.claim(spoolFolder(), TestBroker.BROKER);
        Uploads others = new Uploads(new FolderStore(raw(), false), BrokerClock.SYSTEM);
        Recovery.recover(folder.resolve("spool"), folder.resolve("own"), TestBroker.BROKER, others);
        assertEquals(0, others.waiting());
        assertTrue(Files.exists(spoolFolder()));
        lock.channel().close();
    }

    @Test
    void theFullSpoolTakesNoMoreAndCounts() throws Exception {
        Spool spool = spool(TestBroker.settings(folder, "spool.max.bytes", "1048576", "roll.bytes", "100000"), (key, file, sha) -> {
            throw new IOException("the store is down");
        });
        for (int i = 0; i < 30; i++) {
            spool.append(TestBroker.push(TestBroker.NOON, noise(100_000, i)));
        }
        long dropped = drops.of(Drops.Reason.SPOOL_FULL);
        assertTrue(dropped >= 15 && dropped <= 20, dropped + " of 30");
        try (Stream<Path> files = Files.list(spoolFolder())) {
            long bytes = files.mapToLong(file -> file.toFile().length()).sum();
            assertTrue(bytes < 1_300_000, bytes + " bytes");
        }
    }

    @Test
    void aStoreThatFailsIsAskedAgainAndTheManifestComesLast() throws Exception {
        List<String> put = new ArrayList<>();
        FolderStore folderStore = new FolderStore(raw(), false);
        Spool spool = spool(TestBroker.settings(folder), (key, file, sha) -> {
            put.add(key);
            if (put.size() <= 2) {
                throw new IOException("503");
            }
            folderStore.put(key, file, sha);
        });
        spool.append(TestBroker.push(TestBroker.NOON, new byte[] {1}));
        spool.finishAll();
        uploads.manifest(manifests.save(Hour.of(TestBroker.NOON)), Hour.of(TestBroker.NOON), TestBroker.BROKER);
        uploads.start();
        assertTrue(uploads.stop(LONG));
        assertEquals(2, uploads.failures.get());
        assertTrue(put.get(2).contains("client_pushes") && put.get(3).contains("manifests"), put.toString());
    }

    /** What is done after a failed write, which needs no room on the disk. */
    /** A mount that is away, as automounters answer, says the same as a file of the spool that is gone: then it went for good. */
    @Test
    void aStoreWithoutItsFolderIsAskedAgain() throws Exception {
        int[] attempts = {0};
        FolderStore folderStore = new FolderStore(raw(), false);
        Spool spool = spool(TestBroker.settings(folder), (key, file, sha) -> {
            if (attempts[0]++ < 2) {
                throw new NoSuchFileException("/mnt/dumps");
            }
            folderStore.put(key, file, sha);
        });
        spool.append(TestBroker.push(TestBroker.NOON, new byte[] {1}));
        spool.finishAll();
        uploads.start();
        assertTrue(uploads.stop(LONG));
        assertEquals(2, uploads.failures.get());
        assertEquals(upTo(1), sequences());
    }

    @Test
    void aFileOfTheSpoolThatIsGoneHoldsUpNothing() throws Exception {
        Spool spool = spool(TestBroker.settings(folder), new FolderStore(raw(), false));
        spool.append(TestBroker.push(TestBroker.NOON, new byte[] {1}));
        spool.finishAll();
        for (Path file : Recovery.list(spoolFolder())) {
            Files.delete(file);
        }
        uploads.start();
        assertTrue(uploads.stop(LONG));
        assertEquals(0, uploads.failures.get());
    }

    @Test
    void aFileIsCutAfterWhatWasFlushed() throws Exception {
        Files.createDirectories(spoolFolder());
        SpoolFile file = new SpoolFile(new SpoolName(spoolFolder(), Dataset.CLIENT_PUSHES, Hour.of(TestBroker.NOON), 0), 0);
        RecordEncoder encoder = new RecordEncoder(TestBroker.BROKER);
        for (int i = 0; i < 5; i++) {
            file.append(TestBroker.push(TestBroker.NOON, noise(300_000, i)), i, encoder);
            if (i == 2) {
                file.flush();
            }
        }
        assertEquals(2, file.unflushed());
        SpooledObject kept = file.cut();
        assertEquals(3, kept.span.records);
        new FolderStore(raw(), false).put(kept.key(TestBroker.BROKER), kept.file(), kept.sha256);
        assertEquals(upTo(3), sequences());
        assertEquals(kept.sha256, Sha256.hex(Sha256.begin().digest(Files.readAllBytes(kept.file()))));
    }

    /** A broker that stops while the store is just back does not sit out the pause between two attempts. */
    @Test
    void stoppingEndsThePause() throws Exception {
        boolean[] isDown = {true};
        FolderStore folderStore = new FolderStore(raw(), false);
        Spool spool = spool(TestBroker.settings(folder), (key, file, sha) -> {
            if (isDown[0]) {
                throw new IOException("503");
            }
            folderStore.put(key, file, sha);
        });
        spool.append(TestBroker.push(TestBroker.NOON, new byte[] {1}));
        spool.finishAll();
        uploads.start();
        for (int i = 0; i < 200 && uploads.failures.get() < 4; i++) {
            Thread.sleep(100); // the pauses double: it is at some seconds by then
        }
        isDown[0] = false;
        long start = System.nanoTime();
        assertTrue(uploads.stop(LONG));
        assertTrue(System.nanoTime() - start < 1_500_000_000L);
    }

    @Test
    void oversizedRecordsAreCounted() throws Exception {
        Spool spool = spool(TestBroker.settings(folder), new FolderStore(raw(), false));
        spool.append(TestBroker.push(TestBroker.NOON, new byte[RecordEncoder.MAX_RECORD_BYTES]));
        assertEquals(1, drops.of(Drops.Reason.OVERSIZED));
    }

    @Test
    void aFullQueueDropsAndCounts() throws Exception {
        RecordQueue queue = new RecordQueue(100_000, drops);
        for (int i = 0; i < 30; i++) {
            queue.offer(TestBroker.push(TestBroker.NOON, new byte[10_000]));
        }
        assertEquals(30, queue.records() + drops.of(Drops.Reason.QUEUE_FULL));
        assertTrue(queue.bytes() <= 100_000);
        while (queue.poll(0) != null) {
            // takes all
        }
        assertEquals(0, queue.bytes());
    }

    /** The thread that writes, on a clock that stands shortly before the end of an hour and then runs. */
    @Test
    void hoursFollowEachOther() throws Exception {
        Settings settings = TestBroker.settings(folder);
        Instant begin = TestBroker.NOON.plus(Duration.ofMinutes(59)).plusSeconds(58);
        Clock clock = Clock.offset(Clock.systemUTC(), Duration.between(Instant.now(), begin));
        Dump dump = new Dump(TestBroker.BROKER, settings, new FolderStore(raw(), false), new BrokerMetrics(),
                java.util.Map.of(), null, new BrokerClock(clock, System::nanoTime));
        dump.start();
        dump.queue.offer(TestBroker.push(clock.instant(), new byte[] {1}));
        String twelve = "v1/dataset=manifests/cluster=kQ7x0RvXTs-Y2r0m3Jw0zA/dt=2026-11-20/hour=12/broker=3/" + TestBroker.BROKER.id + ".json";
        for (int i = 0; i < 100 && !Files.exists(raw().resolve(twelve)); i++) {
            Thread.sleep(100);
        }
        dump.stop();
        assertEquals(1, TestBroker.manifest(raw(), "12").get("files").size());
        JsonNode thirteen = TestBroker.manifest(raw(), "13");
        assertEquals(0, thirteen.get("files").size(), "an hour in which nothing happened has a manifest too");
        assertNotNull(thirteen.get("broker_started_at"));
        assertFalse(thirteen.has("recovered"));
        assertFalse(Files.exists(spoolFolder()));
    }

    @Test
    void anObjectThatOnePutCannotTakeIsRefused() {
        ConfigException refused = assertThrows(ConfigException.class,
                () -> TestBroker.settings(folder, "roll.bytes", Long.toString(6L << 30)));
        assertTrue(refused.getMessage().contains("client.telemetry.dump.roll.bytes") && refused.getMessage().contains("1073741824"),
                refused.getMessage());
    }

    /** A killed broker cannot count any more: what was dropped is in its manifest at once. */
    @Test
    void whatWasDroppedIsInTheSpoolsManifestWithinSeconds() throws Exception {
        Dump dump = new Dump(TestBroker.BROKER, TestBroker.settings(folder), new FolderStore(raw(), false), new BrokerMetrics(), java.util.Map.of(), null,
                BrokerClock.SYSTEM);
        dump.start();
        dump.drops.count(Drops.Reason.QUEUE_FULL, 7);
        Path manifest = Manifests.path(spoolFolder(), Hour.of(Instant.now()));
        long told = 0;
        for (int i = 0; i < 50 && told == 0; i++) {
            Thread.sleep(100);
            told = Files.exists(manifest) ? Json.MAPPER.readTree(Files.readAllBytes(manifest)).at("/dropped/queue_full").asLong() : 0;
        }
        assertEquals(7, told);
        dump.stop();
    }

    @Test
    void figuresAreShownInJmx() throws Exception {
        Dump dump = new Dump(TestBroker.BROKER, TestBroker.settings(folder), new FolderStore(raw(), false), new BrokerMetrics(), java.util.Map.of(), null,
                BrokerClock.SYSTEM);
        DumpStatus status = DumpStatus.register(dump);
        status.pushes.add(2);
        dump.drops.count(Drops.Reason.SPOOL_FULL, 3);
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName("client.telemetry.dump:type=status");
        assertEquals(2L, server.getAttribute(name, "Pushes"));
        assertEquals(3L, server.getAttribute(name, "DroppedSpoolFull"));
        for (MBeanAttributeInfo each : server.getMBeanInfo(name).getAttributes()) {
            assertEquals(each.getType(), server.getAttribute(name, each.getName()).getClass().getName(), each.getName());
        }
        status.unregister();
        assertFalse(server.isRegistered(name));
        dump.start();
        dump.stop();
    }
}
