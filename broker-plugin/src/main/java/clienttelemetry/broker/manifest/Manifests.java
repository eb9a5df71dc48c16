package clienttelemetry.broker.manifest;

import clienttelemetry.broker.contract.Drops;
import clienttelemetry.broker.contract.Hour;
import clienttelemetry.broker.contract.Incarnation;
import clienttelemetry.broker.contract.Json;
import clienttelemetry.broker.contract.PluginVersion;
import clienttelemetry.broker.contract.PrivateFiles;
import clienttelemetry.broker.contract.Times;
import clienttelemetry.broker.spool.SpooledObject;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The manifests of one incarnation, one for each hour. They lie in the spool from the first moment of their hour on,
 * so that a successor can finish them. For one thread.
 */
public final class Manifests {
    private static final String PREFIX = "manifest_";
    /** A clock may step back into an hour that was; its manifest then goes on. */
    private static final int KEPT_HOURS = 100;
    private static final Object SAVING = new Object();

    private final Incarnation broker;
    private final Path folder;
    private final Map<Hour, ObjectNode> hours = new LinkedHashMap<>();
    /** With files that no upload of the manifest has told yet. */
    private final Set<Hour> changed = new TreeSet<>();
    private Map<String, Long> droppedBefore = new HashMap<>();
    private long failedLoginsBefore;

    public Manifests(Incarnation broker, Path folder) {
        this.broker = broker;
        this.folder = folder;
    }

    /** The manifest of the hour, begun if it is not there yet. */
    public ObjectNode of(Hour hour) {
        return hours.computeIfAbsent(hour, each -> {
            ObjectNode manifest = Json.MAPPER.createObjectNode()
                    .put("schema_version", 1)
                    .put("cluster_id", broker.clusterId)
                    .put("broker_id", broker.brokerId)
                    .put("incarnation", broker.id)
                    .put("hour", hour.toString())
                    .put("broker_started_at", Times.text(broker.startedAt))
                    .put("broker_software_name", "apache-kafka")
                    .put("broker_software_version", broker.softwareVersion);
            manifest.putObject("plugin").put("name", PluginVersion.NAME).put("version", PluginVersion.VERSION);
            manifest.putArray("files");
            ObjectNode dropped = manifest.putObject("dropped");
            for (Drops.Reason reason : Drops.Reason.values()) {
                dropped.put(reason.text, 0L);
            }
            return manifest;
        });
    }

    public void add(SpooledObject object) throws IOException {
        add(of(object.hour()), object.manifestEntry(broker));
        changed.add(object.hour());
        save(object.hour());
    }

    /** Hours, but for these, with files that their manifest in the store does not tell. */
    public List<Hour> untold(Hour... but) {
        List<Hour> hours = new ArrayList<>(changed);
        hours.removeAll(Arrays.asList(but));
        return hours;
    }

    /** The manifest of this hour is on its way to the store. */
    public void told(Hour hour) {
        changed.remove(hour);
    }

    /** Adds what was dropped since the last call to this hour. */
    public void addDropped(Hour hour, Map<String, Long> totals) {
        ObjectNode dropped = (ObjectNode) of(hour).get("dropped");
        for (Map.Entry<String, Long> total : totals.entrySet()) {
            long more = total.getValue() - droppedBefore.getOrDefault(total.getKey(), 0L);
            if (more > 0) {
                dropped.put(total.getKey(), dropped.path(total.getKey()).asLong() + more);
            }
        }
        droppedBefore = totals;
    }

    /** Adds failed logins since the last call to this hour; {@code total}: since the start. */
    public void addFailedLogins(Hour hour, long total) {
        ObjectNode manifest = of(hour);
        manifest.put("failed_logins", manifest.path("failed_logins").asLong() + total - failedLoginsBefore);
        failedLoginsBefore = total;
    }

    /** Writes the manifest into the spool and gives its path. */
    public Path save(Hour hour) throws IOException {
        Iterator<Hour> oldest = hours.keySet().iterator();
        while (hours.size() > KEPT_HOURS && !oldest.next().equals(hour)) {
            oldest.remove();
        }
        return save(folder, hour, of(hour));
    }

    public static Path save(Path folder, Hour hour, ObjectNode manifest) throws IOException {
        synchronized (SAVING) {
            return PrivateFiles.write(path(folder, hour), Json.MAPPER.writerWithDefaultPrettyPrinter().writeValueAsBytes(manifest));
        }
    }

    /** Deletes a manifest that was uploaded, unless another one was saved in its place since. */
    public static void deleteIfSame(Path file, byte[] uploaded) throws IOException {
        synchronized (SAVING) {
            if (Files.exists(file) && Arrays.equals(Files.readAllBytes(file), uploaded)) {
                Files.delete(file);
            }
        }
    }

    public static Path path(Path folder, Hour hour) {
        return folder.resolve(PREFIX + hour + ".json");
    }

    /** The hour of a manifest by its name. */
    public static Hour hourOf(Path file) {
        String name = file.getFileName().toString();
        return Hour.parse(name.substring(PREFIX.length(), name.length() - ".json".length()));
    }

    public static boolean isManifest(Path file) {
        String name = file.getFileName().toString();
        return name.startsWith(PREFIX) && name.endsWith(".json");
    }

    /** Adds a file to a manifest, in place of an entry with the same key. */
    public static void add(ObjectNode manifest, ObjectNode entry) {
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
