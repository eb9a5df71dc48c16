package clienttelemetry.broker;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The manifests of one incarnation, one for each hour. They lie in the spool from the first moment of their hour on,
 * so that a successor can finish them. For one thread.
 */
final class Manifests {
    static final ObjectMapper JSON = new ObjectMapper();
    private static final String PREFIX = "manifest_";
    private static final int KEPT_HOURS = 3;
    private static final Object SAVING = new Object();

    private final Incarnation broker;
    private final Path folder;
    private final TreeMap<Hour, ObjectNode> hours = new TreeMap<>();
    private Map<String, Long> droppedBefore = new HashMap<>();

    Manifests(Incarnation broker, Path folder) {
        this.broker = broker;
        this.folder = folder;
    }

    /** The manifest of the hour, begun if it is not there yet. */
    ObjectNode of(Hour hour) {
        return hours.computeIfAbsent(hour, each -> {
            ObjectNode manifest = JSON.createObjectNode()
                    .put("schema_version", 1)
                    .put("cluster_id", broker.clusterId)
                    .put("broker_id", broker.brokerId)
                    .put("incarnation", broker.id)
                    .put("hour", hour.toString())
                    .put("broker_started_at", SpooledObject.time(broker.startedAt))
                    .put("broker_software_name", "apache-kafka")
                    .put("broker_software_version", broker.softwareVersion);
            manifest.putArray("files");
            ObjectNode dropped = manifest.putObject("dropped");
            for (Drops.Reason reason : Drops.Reason.values()) {
                dropped.put(reason.text, 0L);
            }
            return manifest;
        });
    }

    void add(SpooledObject object) throws IOException {
        add(of(object.hour()), object.manifestEntry(broker));
        save(object.hour());
    }

    /** Adds what was dropped since the last call to this hour. */
    void addDropped(Hour hour, Map<String, Long> totals) {
        ObjectNode dropped = (ObjectNode) of(hour).get("dropped");
        for (Map.Entry<String, Long> total : totals.entrySet()) {
            long more = total.getValue() - droppedBefore.getOrDefault(total.getKey(), 0L);
            if (more > 0) {
                dropped.put(total.getKey(), dropped.path(total.getKey()).asLong() + more);
            }
        }
        droppedBefore = totals;
    }

    /** Writes the manifest into the spool and gives its path. */
    Path save(Hour hour) throws IOException {
        while (hours.size() > KEPT_HOURS && hours.firstKey().compareTo(hour) < 0) {
            hours.pollFirstEntry();
        }
        return save(folder, hour, of(hour));
    }

    static Path save(Path folder, Hour hour, ObjectNode manifest) throws IOException {
        Path file = path(folder, hour);
        Path part = file.resolveSibling(file.getFileName() + ".part");
        synchronized (SAVING) {
            Files.write(part, JSON.writerWithDefaultPrettyPrinter().writeValueAsBytes(manifest));
            return Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /** Deletes a manifest that was uploaded, unless another one was saved in its place since. */
    static void deleteIfSame(Path file, byte[] uploaded) throws IOException {
        synchronized (SAVING) {
            if (Files.exists(file) && Arrays.equals(Files.readAllBytes(file), uploaded)) {
                Files.delete(file);
            }
        }
    }

    static Path path(Path folder, Hour hour) {
        return folder.resolve(PREFIX + hour + ".json");
    }

    static boolean isManifest(Path file) {
        String name = file.getFileName().toString();
        return name.startsWith(PREFIX) && name.endsWith(".json");
    }

    /** Adds a file to a manifest, in place of an entry with the same key. */
    static void add(ObjectNode manifest, ObjectNode entry) {
        ArrayNode files = (ArrayNode) manifest.get("files");
        for (int i = 0; i < files.size(); i++) {
            if (files.get(i).path("key").equals(entry.get("key"))) {
                files.set(i, entry);
                return;
            }
        }
        files.add(entry);
    }
}
