package clienttelemetry.broker.upload;

import clienttelemetry.broker.contract.Hour;
import clienttelemetry.broker.contract.Incarnation;
import clienttelemetry.broker.contract.Json;
import clienttelemetry.broker.contract.PrivateFiles;
import clienttelemetry.broker.manifest.Manifests;
import clienttelemetry.broker.settings.Settings;
import clienttelemetry.broker.settings.SpoolFolder;
import clienttelemetry.broker.spool.SpoolName;
import clienttelemetry.broker.spool.SpooledObject;
import clienttelemetry.broker.spool.TornSpoolFile;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The folders of the spool, one for each incarnation, and what becomes of those whose process is gone: their objects
 * are uploaded under the names that the process would have given them, then their manifests.
 *
 * <p>A folder holds {@code broker.json}, a {@code lock} that its process holds, finished and open objects, manifests,
 * and {@code stopped} if the process ended in order.
 */
public final class Recovery {
    private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);
    private static final String BROKER = "broker.json";
    private static final String LOCK = "lock";
    private static final String STOPPED = "stopped";

    private Recovery() {}

    /** Makes the folder of an incarnation. Whoever holds the lock lives. */
    public static FileLock claim(Path folder, Incarnation broker) throws IOException {
        try {
            return claimed(folder, broker);
        } catch (IOException e) {
            throw new IOException(Settings.SPOOL + ": " + folder.getParent() + " cannot be written: " + e, e);
        }
    }

    private static FileLock claimed(Path folder, Incarnation broker) throws IOException {
        PrivateFiles.createFolder(folder);
        FileLock lock = lock(folder);
        if (lock == null) {
            throw new IOException("another process holds " + folder);
        }
        ObjectNode identity = Json.MAPPER.createObjectNode()
                .put("cluster_id", broker.clusterId)
                .put("broker_id", broker.brokerId)
                .put("incarnation", broker.id)
                .put("started_at", broker.startedAt.toString())
                .put("software_version", broker.softwareVersion);
        PrivateFiles.write(folder.resolve(BROKER), Json.MAPPER.writeValueAsBytes(identity));
        return lock;
    }

    /** Notes that the process ended in order, so that its manifests are as complete as they say. */
    public static void markStopped(Path folder) throws IOException {
        PrivateFiles.write(folder.resolve(STOPPED), new byte[0]);
    }

    /**
     * Hands what predecessors left to the uploads, and gives how many of their folders cannot be. {@code successor}: this
     * process, whose cluster and broker id a predecessor has that left no readable {@code broker.json}.
     */
    public static int recover(Path root, Path own, Incarnation successor, Uploads uploads) {
        int stuck = 0;
        for (Path folder : list(root)) {
            if (isOfAnIncarnation(folder) && !folder.equals(own)) {
                try {
                    recover(folder, successor, uploads);
                } catch (IOException | RuntimeException e) {
                    stuck++;
                    LOG.error("The spool that an earlier process left in {} cannot be uploaded; it stays there.", folder, e);
                }
            }
        }
        return stuck;
    }

    /** The lock is made first, and {@code broker.json} may be missing after the machine lost power. */
    private static boolean isOfAnIncarnation(Path folder) {
        return SpoolFolder.isIncarnation(folder) && (Files.exists(folder.resolve(BROKER)) || Files.exists(folder.resolve(LOCK)));
    }

    private static void recover(Path folder, Incarnation successor, Uploads uploads) throws IOException {
        FileLock lock = lock(folder);
        if (lock == null) {
            return; // its process lives
        }
        Incarnation broker = readBroker(folder, successor);
        boolean wasKilled = !Files.exists(folder.resolve(STOPPED));
        TreeMap<Hour, ObjectNode> manifests = new TreeMap<>();
        Manifests empty = new Manifests(broker, folder);
        List<SpooledObject> objects = new ArrayList<>();
        for (Path file : list(folder)) {
            if (SpoolName.parse(file) != null) {
                SpooledObject object = TornSpoolFile.recover(file);
                if (object != null) {
                    objects.add(object);
                }
            } else if (Manifests.isManifest(file)) {
                Hour hour = Manifests.hourOf(file);
                ObjectNode manifest = readManifest(file);
                manifests.put(hour, manifest == null ? empty.of(hour).put("recovered", true) : manifest);
            }
        }
        for (SpooledObject object : objects) {
            Manifests.add(manifests.computeIfAbsent(object.hour(), empty::of), object.manifestEntry(broker));
            uploads.object(object, broker);
        }
        for (Hour hour : manifests.keySet()) {
            ObjectNode manifest = manifests.get(hour);
            if (wasKilled) {
                manifest.put("recovered", true);
            }
            uploads.manifest(Manifests.save(folder, hour, manifest), hour, broker);
        }
        LOG.info("Uploading what incarnation {} of broker {} left: {} objects, {} manifests.", broker.id, broker.brokerId,
                objects.size(), manifests.size());
        uploads.then(broker.id, () -> {
            lock.channel().close();
            delete(folder);
        });
    }

    /** Deletes the folder of an incarnation that has nothing left to upload. */
    public static void delete(Path folder) throws IOException {
        for (Path file : list(folder)) {
            Files.delete(file);
        }
        Files.delete(folder);
    }

    /** Null if it is torn: what it listed and is not in the spool any more is in the store all the same. */
    private static ObjectNode readManifest(Path file) throws IOException {
        try {
            ObjectNode manifest = (ObjectNode) Json.MAPPER.readTree(Files.readAllBytes(file));
            return manifest.path("files").isArray() && manifest.path("dropped").isObject() ? manifest : null;
        } catch (JsonProcessingException | ClassCastException e) {
            LOG.warn("The manifest {} cannot be read and is made anew from the objects: {}", file, e.getMessage());
            return null;
        }
    }

    private static Incarnation readBroker(Path folder, Incarnation successor) throws IOException {
        try {
            JsonNode identity = Json.MAPPER.readTree(Files.readAllBytes(folder.resolve(BROKER)));
            return new Incarnation(identity.get("cluster_id").asText(), identity.get("broker_id").asInt(),
                    identity.get("incarnation").asText(), Instant.parse(identity.get("started_at").asText()),
                    identity.get("software_version").asText());
        } catch (NoSuchFileException | JsonProcessingException | NullPointerException | DateTimeParseException e) {
            // The lock was made when the process started, and is never written.
            Instant startedAt = Files.getLastModifiedTime(folder.resolve(LOCK)).toInstant();
            LOG.warn("{} in {} cannot be read: the spool is taken for this broker's, by a release that is not known, started at {}.",
                    BROKER, folder, startedAt);
            return new Incarnation(successor.clusterId, successor.brokerId, folder.getFileName().toString(), startedAt, "unknown");
        }
    }

    /** Null if a living process has it. */
    private static FileLock lock(Path folder) throws IOException {
        FileChannel channel = PrivateFiles.open(folder.resolve(LOCK));
        FileLock lock = null;
        try {
            lock = channel.tryLock();
        } catch (OverlappingFileLockException e) {
            LOG.debug("This process itself has {}", folder);
        }
        if (lock == null) {
            channel.close();
        }
        return lock;
    }

    public static List<Path> list(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().collect(Collectors.toList());
        } catch (IOException e) {
            LOG.error("Cannot list {}", folder, e);
            return List.of();
        }
    }
}
