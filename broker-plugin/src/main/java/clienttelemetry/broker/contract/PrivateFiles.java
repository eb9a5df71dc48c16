package clienttelemetry.broker.contract;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;

/** Files and folders for the broker's user alone (0600 and 0700), whatever its umask is, where the file system knows that. */
public final class PrivateFiles {
    private static final boolean IS_POSIX = FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
    private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> FOLDER = PosixFilePermissions.fromString("rwx------");
    private static final Set<PosixFilePermission> GROUPS_FILE = PosixFilePermissions.fromString("rw-r-----");
    private static final Set<PosixFilePermission> GROUPS_FOLDER = PosixFilePermissions.fromString("rwxr-x---");

    private PrivateFiles() {}

    private static FileAttribute<?>[] attributes(Set<PosixFilePermission> permissions) {
        return IS_POSIX ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(permissions)} : new FileAttribute<?>[0];
    }

    /** With the folders above it that are not there yet. */
    public static void createFolder(Path folder) throws IOException {
        createFolder(folder, false);
    }

    public static void createFolder(Path folder, boolean isGroupReadable) throws IOException {
        Files.createDirectories(folder, attributes(isGroupReadable ? GROUPS_FOLDER : FOLDER));
    }

    /** A new file, or one that is emptied. */
    public static FileChannel create(Path file) throws IOException {
        return create(file, false);
    }

    public static FileChannel create(Path file, boolean isGroupReadable) throws IOException {
        return open(file, isGroupReadable ? GROUPS_FILE : FILE, StandardOpenOption.TRUNCATE_EXISTING);
    }

    public static FileChannel open(Path file) throws IOException {
        return open(file, FILE);
    }

    private static FileChannel open(Path file, Set<PosixFilePermission> permissions, OpenOption... more) throws IOException {
        Set<OpenOption> options = new HashSet<>(EnumSet.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE));
        options.addAll(Set.of(more));
        return FileChannel.open(file, options, attributes(permissions));
    }

    /** Writes a file that is there whole or not at all, also after the machine loses power. */
    public static Path write(Path file, byte[] content) throws IOException {
        Path part = file.resolveSibling(file.getFileName() + ".part");
        try (FileChannel channel = create(part)) {
            OutputStream out = Channels.newOutputStream(channel);
            out.write(content);
            channel.force(true);
        }
        return Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
