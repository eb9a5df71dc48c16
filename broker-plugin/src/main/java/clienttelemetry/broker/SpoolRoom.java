package clienttelemetry.broker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** How much the spool may still take: its maximum, and what has to stay free on its disk. */
final class SpoolRoom {
    private final Path root;
    private final long maxBytes;
    private final long minFreeBytes;
    private volatile long usedBytes;
    private volatile long freeBytes = Long.MAX_VALUE;

    SpoolRoom(Path root, long maxBytes, long minFreeBytes) {
        this.root = root;
        this.maxBytes = maxBytes;
        this.minFreeBytes = minFreeBytes;
    }

    /** Looks at the disk; between two looks {@link #add} keeps account. */
    void look() {
        try (Stream<Path> files = Files.walk(root)) {
            usedBytes = files.mapToLong(SpoolRoom::sizeOf).sum();
            freeBytes = Files.getFileStore(root).getUsableSpace();
        } catch (IOException | UncheckedIOException e) {
            // Files come and go while it looks; the next look is a moment away.
        }
    }

    private static long sizeOf(Path file) {
        try {
            return Files.isRegularFile(file) ? Files.size(file) : 0;
        } catch (IOException e) {
            return 0; // uploaded meanwhile
        }
    }

    /** By the one thread that also looks. */
    @SuppressWarnings("NonAtomicOperationOnVolatileField")
    void add(long bytes) {
        usedBytes += bytes;
        freeBytes -= bytes;
    }

    boolean isFull() {
        return usedBytes >= maxBytes || freeBytes <= minFreeBytes;
    }

    long usedBytes() {
        return usedBytes;
    }

    String describe() {
        return "it has " + usedBytes + " of at most " + maxBytes + " bytes, and " + freeBytes + " bytes of its disk are free of which "
                + minFreeBytes + " have to stay so";
    }
}
