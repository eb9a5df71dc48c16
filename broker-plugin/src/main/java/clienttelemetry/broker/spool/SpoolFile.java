package clienttelemetry.broker.spool;

import clienttelemetry.broker.contract.DumpRecord;
import clienttelemetry.broker.contract.PrivateFiles;
import clienttelemetry.broker.contract.RecordEncoder;
import clienttelemetry.broker.contract.Sha256;
import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;

/**
 * An object that still takes records. Its file is one zstd stream; what was flushed survives a killed process, and
 * {@link TornSpoolFile} reads it back. The file gets the name of a finished one when it ends.
 */
public final class SpoolFile {
    private static final int ZSTD_LEVEL = 1;
    /** Ends a zstd frame: last block, raw, of no bytes (RFC 8878, 3.1.1.2). */
    private static final byte[] EMPTY_LAST_BLOCK = {1, 0, 0};

    final SpoolName name;
    /** By the clock that never steps. */
    final long createdMillis;
    private final FileChannel file;
    private final Counted stored;
    private final OutputStream compressed;
    private final RecordSpan span = new RecordSpan();
    private boolean isDirty;
    private RecordSpan flushed = new RecordSpan();
    private long flushedBytes;

    public SpoolFile(SpoolName name, long nowMillis) throws IOException {
        this.name = name;
        this.createdMillis = nowMillis;
        file = PrivateFiles.create(name.open());
        stored = new Counted(Channels.newOutputStream(file));
        compressed = new ZstdOutputStreamNoFinalizer(stored, ZSTD_LEVEL);
    }

    public void append(DumpRecord record, long sequence, RecordEncoder encoder) throws IOException {
        isDirty = true;
        encoder.write(record, sequence, compressed);
        span.add(record.timeNanos);
    }

    /** Hands everything to the operating system: from here on a killed process loses none of it. */
    public void flush() throws IOException {
        if (isDirty) {
            compressed.flush();
            isDirty = false;
            flushed = span.copy();
            flushedBytes = stored.bytes;
        }
    }

    /** Ends the file; gives it under its final name. */
    SpooledObject finish() throws IOException {
        compressed.close(); // closes the file too
        return finished(span, stored.bytes, stored.digest.digest());
    }

    /**
     * After a failed write: ends the file after what was flushed; the records behind that are lost. Needs no room on
     * the disk: it cuts more than the three bytes of the empty last block that it adds. Null if nothing was flushed.
     */
    public SpooledObject cut() throws IOException {
        file.truncate(flushedBytes);
        if (flushed.records > 0) {
            file.position(flushedBytes);
            file.write(ByteBuffer.wrap(EMPTY_LAST_BLOCK));
        }
        file.close();
        try {
            compressed.close();
        } catch (IOException e) {
            // Its file is closed. It frees its memory all the same.
        }
        if (flushed.records == 0) {
            Files.delete(name.open());
            return null;
        }
        byte[] whole = Files.readAllBytes(name.open());
        return finished(flushed, whole.length, Sha256.begin().digest(whole));
    }

    private SpooledObject finished(RecordSpan held, long bytes, byte[] digest) throws IOException {
        Files.move(name.open(), name.finished(), StandardCopyOption.ATOMIC_MOVE);
        return new SpooledObject(name, held, bytes, Sha256.hex(digest));
    }

    /** Frees what it holds; its file is gone. */
    void abandon() {
        try {
            compressed.close();
        } catch (IOException e) {
            // It frees its memory all the same.
        }
    }

    long records() {
        return span.records;
    }

    /** Records that a killed process, or a failed disk, would lose. */
    public long unflushed() {
        return span.records - flushed.records;
    }

    /** What the file has by now; the compressor may hold more. */
    long storedBytes() {
        return stored.bytes;
    }

    /** Counts and digests what goes to the file. */
    private static final class Counted extends OutputStream {
        private final OutputStream out;
        private final MessageDigest digest = Sha256.begin();
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
