package clienttelemetry.broker.upload;

import clienttelemetry.broker.contract.PrivateFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** A mounted folder. */
public final class FolderStore implements ObjectStore {
    private final Path root;
    private final boolean isGroupReadable;

    public FolderStore(Path root, boolean isGroupReadable) {
        this.root = root;
        this.isGroupReadable = isGroupReadable;
    }

    @Override
    public void put(String key, Path file, String sha256) throws IOException {
        Path target = root.resolve(key);
        PrivateFiles.createFolder(target.getParent(), isGroupReadable);
        Path part = target.resolveSibling("." + target.getFileName() + ".part"); // readers skip names with a dot
        try (OutputStream out = Channels.newOutputStream(PrivateFiles.create(part, isGroupReadable))) {
            Files.copy(file, out);
        }
        Files.move(part, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
