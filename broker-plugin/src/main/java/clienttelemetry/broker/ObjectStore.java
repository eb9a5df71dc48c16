package clienttelemetry.broker;

import java.io.IOException;
import java.nio.file.Path;

/** Where finished objects go. An object appears whole or not at all; the same key again is overwritten. */
interface ObjectStore {
    /** {@code sha256}: of the file, in hex. Throws a
     * {@link RefusedObject} where the store takes others, and another exception where another attempt may succeed. */
    void put(String key, Path file, String sha256) throws IOException, InterruptedException;

    static ObjectStore at(Settings settings) {
        return "s3".equals(settings.location.getScheme())
                ? new S3Store(settings)
                : new FolderStore(Path.of(settings.location.getPath()), settings.isGroupReadable);
    }
}
