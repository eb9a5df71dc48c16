package clienttelemetry.broker.spool;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/** How much the spool may still take: its maximum, and what has to stay free on its disk. */
public final class SpoolRoom {
    private final Path root;
    private final long maxBytes;
    private final long minFreeBytes;
    private volatile long usedBytes;
    private volatile long freeBytes = Long.MAX_VALUE;

    public SpoolRoom(Path root, long maxBytes, long minFreeBytes) {
        this.root = root;
        this.maxBytes = maxBytes;
        this.minFreeBytes = minFreeBytes;
    }

    /** Looks at the disk; between two looks {@link #add} keeps account. */
    public void look() {
        Sum sum = new Sum();
        try {
            Files.walkFileTree(root, sum);
            usedBytes = sum.bytes;
            freeBytes = Files.getFileStore(root).getUsableSpace();
        } catch (IOException e) {
            // The next look is a moment away.
        }
    }

    /** Passes over what is gone meanwhile, and what is for others alone: a volume's lost+found, another broker's folder. */
    private static final class Sum extends SimpleFileVisitor<Path> {
        private long bytes;

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            bytes += attributes.isRegularFile() ? attributes.size() : 0;
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException error) {
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path folder, IOException error) {
            return FileVisitResult.CONTINUE;
        }
    }

    /** By the one thread that also looks. */
    @SuppressWarnings("NonAtomicOperationOnVolatileField")
    public void add(long bytes) {
        usedBytes += bytes;
        freeBytes -= bytes;
    }

    boolean isFull() {
        return usedBytes >= maxBytes || freeBytes <= minFreeBytes;
    }

    public long usedBytes() {
        return usedBytes;
    }

    String describe() {
        return "it has " + usedBytes + " of at most " + maxBytes + " bytes, and " + freeBytes + " bytes of its disk are free of which "
                + minFreeBytes + " have to stay so";
    }
}
