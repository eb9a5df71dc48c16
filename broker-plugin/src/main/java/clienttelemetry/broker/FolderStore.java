package clienttelemetry.broker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** A mounted folder. */
final class FolderStore implements ObjectStore {
    private final Path root;

    FolderStore(Path root) {
        this.root = root;
    }

    @Override
    public void put(String key, Path file, String sha256) throws IOException {
        Path target = root.resolve(key);
        Files.createDirectories(target.getParent());
        Path part = target.resolveSibling("." + target.getFileName() + ".part"); // readers skip names with a dot
        Files.copy(file, part, StandardCopyOption.REPLACE_EXISTING);
        Files.move(part, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
