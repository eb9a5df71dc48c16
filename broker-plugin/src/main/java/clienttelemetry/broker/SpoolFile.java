package clienttelemetry.broker;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * An object that still takes records. Its file is one zstd stream; what was flushed survives a killed process, and
 * {@link TornSpoolFile} reads it back. The file gets the name of a finished one when it ends.
 */
final class SpoolFile {
    private static final int ZSTD_LEVEL = 1;
    /** Ends a zstd frame: last block, raw, of no bytes (RFC 8878, 3.1.1.2). */
    private static final byte[] EMPTY_LAST_BLOCK = {1, 0, 0};

    final Dataset dataset;
    final Hour hour;
    final long firstSequence;
    final long createdMillis;
    private final Path path;
    private final FileOutputStream file;
    private final Counted stored;
    private final OutputStream compressed;
    private long records;
    private long minNanos = Long.MAX_VALUE;
    private long maxNanos = Long.MIN_VALUE;
    private boolean isDirty;
    private long flushedRecords;
    private long flushedBytes;

    SpoolFile(Path folder, Dataset dataset, Hour hour, long firstSequence, long nowMillis) throws IOException {
        this.dataset = dataset;
        this.hour = hour;
        this.firstSequence = firstSequence;
        this.createdMillis = nowMillis;
        path = SpooledObject.openPath(folder, dataset, hour, firstSequence);
        file = new FileOutputStream(path.toFile());
        stored = new Counted(file);
        compressed = new ZstdOutputStreamNoFinalizer(stored, ZSTD_LEVEL);
    }

    void append(DumpRecord record, long sequence, RecordEncoder encoder) throws IOException {
        isDirty = true;
        encoder.write(record, sequence, compressed);
        records++;
        minNanos = Math.min(minNanos, record.timeNanos);
        maxNanos = Math.max(maxNanos, record.timeNanos);
    }

    /** Hands everything to the operating system: from here on a killed process loses none of it. */
    void flush() throws IOException {
        if (isDirty) {
            compressed.flush();
            isDirty = false;
            flushedRecords = records;
            flushedBytes = stored.bytes;
        }
    }

    /** Ends the file; gives it under its final name. */
    SpooledObject finish() throws IOException {
        compressed.close(); // closes the file too
        SpooledObject done = finished(stored.bytes, stored.digest.digest());
        Files.move(path, done.file, StandardCopyOption.ATOMIC_MOVE);
        return done;
    }

    /**
     * After a failed write: ends the file after what was flushed; the records behind that are lost. Needs no room on
     * the disk: it cuts more than the three bytes of the empty last block that it adds. Null if nothing was flushed.
     */
    SpooledObject cut() throws IOException {
        FileChannel channel = file.getChannel();
        channel.truncate(flushedBytes);
        if (flushedRecords > 0) {
            channel.position(flushedBytes);
            channel.write(ByteBuffer.wrap(EMPTY_LAST_BLOCK));
        }
        file.close();
        try {
            compressed.close();
        } catch (IOException e) {
            // Its file is closed. It frees its memory all the same.
        }
        if (flushedRecords == 0) {
            Files.delete(path);
            return null;
        }
        records = flushedRecords;
        byte[] whole = Files.readAllBytes(path);
        SpooledObject done = finished(whole.length, sha256().digest(whole));
        Files.move(path, done.file, StandardCopyOption.ATOMIC_MOVE);
        return done;
    }

    private SpooledObject finished(long bytes, byte[] digest) {
        return new SpooledObject(
                dataset, hour, records, bytes, firstSequence, firstSequence + records - 1, minNanos, maxNanos,
                hex(digest), SpooledObject.path(path.getParent(), dataset, hour, firstSequence));
    }

    long records() {
        return records;
    }

    /** Records that a killed process, or a failed disk, would lose. */
    long unflushed() {
        return records - flushedRecords;
    }

    /** What the file has by now; the compressor may hold more. */
    long storedBytes() {
        return stored.bytes;
    }

    static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder(2 * bytes.length);
        for (byte each : bytes) {
            text.append(Character.forDigit(each >> 4 & 0xF, 16)).append(Character.forDigit(each & 0xF, 16));
        }
        return text.toString();
    }

    static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** Counts and digests what goes to the file. */
    private static final class Counted extends OutputStream {
        private final OutputStream out;
        private final MessageDigest digest = sha256();
        private long bytes;

        Counted(OutputStream out) {
            this.out = out;
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] data, int from, int length) throws IOException {
            out.write(data, from, length);
            digest.update(data, from, length);
            bytes += length;
        }

        @Override
        public void close() throws IOException {
            out.close();
        }
    }
}
