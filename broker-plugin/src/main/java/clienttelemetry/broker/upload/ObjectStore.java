package clienttelemetry.broker.upload;

import java.io.IOException;
import java.nio.file.Path;

/** Where finished objects go. An object appears whole or not at all; the same key again is overwritten. */
public interface ObjectStore {
    /**
     * Puts a file.
     *
     * @param sha256 of the file, in hex
     * @throws RefusedObject where the store takes others; another exception where another attempt may succeed
     */
    void put(String key, Path file, String sha256) throws IOException, InterruptedException;
}
