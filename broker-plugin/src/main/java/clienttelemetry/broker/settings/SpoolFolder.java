package clienttelemetry.broker.settings;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.common.config.ConfigException;

/**
 * Where the spool may be. Kafka refuses to start when a folder in one of its log dirs is not named topic-partition, and a
 * spool among other files would make the plugin a guest in folders that are not its own. Both are refused before
 * anything is created.
 */
public final class SpoolFolder {
    /** Of server.properties; {@code log.dirs} wins over {@code log.dir}, but a folder in either is Kafka's. */
    private static final String[] LOG_DIRS = {"log.dirs", "log.dir", "metadata.log.dir"};
    private static final Pattern INCARNATION = Pattern.compile("[0-9a-f]{32}");
    /** Where neither {@code log.dirs} nor {@code log.dir} is set. */
    private static final String DEFAULT_LOG_DIR = "/tmp/kafka-logs";
    /** What a file system has of its own at its top. */
    private static final String LOST_AND_FOUND = "lost+found";

    private SpoolFolder() {}

    /**
     * Gives the folder.
     *
     * @throws ConfigException that names the setting, the folder in the way, and what to do
     */
    static Path checked(String setting, String text, Map<String, ?> configuration) {
        Path folder = Path.of(text);
        if (!folder.isAbsolute()) {
            throw new ConfigException(setting, text, "must be an absolute path");
        }
        try {
            Path real = real(folder);
            for (Path logDir : logDirs(configuration)) {
                Path realLogDir = real(logDir);
                if (real.startsWith(realLogDir)) {
                    throw new ConfigException(setting, text, "lies in Kafka's log dir " + logDir
                            + ", where Kafka accepts no folders but its own: choose a folder outside of all log dirs");
                }
                if (realLogDir.startsWith(real)) {
                    throw new ConfigException(setting, text, "contains Kafka's log dir " + logDir
                            + ": choose a folder of its own for the spool");
                }
            }
            Optional<Path> foreign = foreignEntry(folder);
            if (foreign.isPresent()) {
                throw new ConfigException(setting, text, "is neither empty nor a spool, it has " + foreign.get().getFileName()
                        + ": choose an empty folder");
            }
        } catch (IOException | UncheckedIOException e) {
            throw new ConfigException(setting, text, "cannot be examined: " + e);
        }
        return folder;
    }

    /**
     * Refuses a mounted folder where what comes below it, {@code v1}, would lie in or above a log dir, or in the spool, or
     * around it.
     *
     * @throws ConfigException that names the setting, the folder in the way, and what to do
     */
    static void checkLocation(String setting, Path location, Path spool, Map<String, ?> configuration) {
        try {
            Path real = real(location.resolve("v1"));
            for (Path logDir : logDirs(configuration)) {
                Path realLogDir = real(logDir);
                if (real.startsWith(realLogDir) || realLogDir.startsWith(real)) {
                    throw new ConfigException(setting, location, "its folder v1 would lie in or above Kafka's log dir " + logDir
                            + ", where Kafka accepts no folders but its own: choose a folder outside of all log dirs");
                }
            }
            Path realSpool = real(spool);
            if (real.startsWith(realSpool) || realSpool.startsWith(real)) {
                throw new ConfigException(setting, location, "and the spool " + spool + " lie in each other: choose folders of their own");
            }
        } catch (IOException | UncheckedIOException e) {
            throw new ConfigException(setting, location, "cannot be examined: " + e);
        }
    }

    /** Whether a folder in the spool can be that of an incarnation, by its name. */
    public static boolean isIncarnation(Path folder) {
        return INCARNATION.matcher(folder.getFileName().toString()).matches() && Files.isDirectory(folder);
    }

    private static List<Path> logDirs(Map<String, ?> configuration) {
        List<Path> all = new ArrayList<>();
        if (Listeners.text(configuration, "log.dirs").isBlank() && Listeners.text(configuration, "log.dir").isBlank()) {
            all.add(Path.of(DEFAULT_LOG_DIR));
        }
        for (String key : LOG_DIRS) {
            Object value = configuration.get(key);
            List<?> texts = value instanceof List ? (List<?>) value : value == null ? List.of() : List.of(value.toString().split(","));
            for (Object each : texts) {
                if (!each.toString().isBlank()) {
                    all.add(Path.of(each.toString().trim()).toAbsolutePath());
                }
            }
        }
        return all;
    }

    /** Without symbolic links, as far as the folder exists; {@code ..} behind a link is the parent of where it points. */
    private static Path real(Path folder) throws IOException {
        Path whole = folder.toAbsolutePath();
        for (Path there = whole; there != null; there = there.getParent()) {
            if (Files.exists(there)) {
                int depth = there.getNameCount();
                Path rest = depth == whole.getNameCount() ? Path.of("") : whole.subpath(depth, whole.getNameCount());
                return there.toRealPath().resolve(rest).normalize();
            }
        }
        return whole.normalize();
    }

    private static Optional<Path> foreignEntry(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return Optional.empty();
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(entry -> !isIncarnation(entry) && !entry.getFileName().toString().equals(LOST_AND_FOUND))
                    .sorted().findFirst();
        }
    }
}
