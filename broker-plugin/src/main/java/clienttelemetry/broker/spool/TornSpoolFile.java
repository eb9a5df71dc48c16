package clienttelemetry.broker.spool;

import clienttelemetry.broker.contract.PrivateFiles;
import clienttelemetry.broker.contract.RecordEncoder;
import clienttelemetry.broker.contract.Sha256;
import com.github.luben.zstd.ZstdIOException;
import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;

/** A file of a spool whose process was killed: its whole records count, the torn tail is cut. */
public final class TornSpoolFile {
    private static final int TIME_FIELD = 5;

    private TornSpoolFile() {}

    /**
     * Reads a spool file, finished or not. A finished one stays as it is, byte for byte: it may have been uploaded. An
     * open one is written again without its tail, under the name of a finished one. Null if it has no whole record.
     */
    public static SpooledObject recover(Path file) throws IOException {
        SpoolName name = SpoolName.parse(file);
        if (name == null) {
            throw new IOException("not a file of the spool: " + file);
        }
        boolean isTorn = !file.equals(name.finished());
        Path finished = name.finished();
        Path rewritten = file.resolveSibling(finished.getFileName() + ".rewritten");
        RecordSpan span;
        if (isTorn) {
            try (OutputStream out = new ZstdOutputStreamNoFinalizer(Channels.newOutputStream(PrivateFiles.create(rewritten)))) {
                span = read(file, out);
            }
        } else {
            span = read(file, OutputStream.nullOutputStream());
        }
        if (span.records == 0) {
            Files.deleteIfExists(rewritten);
            Files.deleteIfExists(file);
            return null;
        }
        if (isTorn) {
            Files.move(rewritten, finished, StandardCopyOption.ATOMIC_MOVE);
            Files.delete(file);
        }
        return new SpooledObject(name, span, Files.size(finished), sha256(finished));
    }

    private static String sha256(Path file) throws IOException {
        MessageDigest digest = Sha256.begin();
        try (InputStream in = Files.newInputStream(file)) {
            byte[] buffer = new byte[1 << 16];
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                digest.update(buffer, 0, read);
            }
        }
        return Sha256.hex(digest.digest());
    }

    /** Copies the whole records and tells what they are. */
    private static RecordSpan read(Path file, OutputStream copy) throws IOException {
        RecordSpan span = new RecordSpan();
        try (ZstdInputStreamNoFinalizer zstd =
                        new ZstdInputStreamNoFinalizer(new BufferedInputStream(Files.newInputStream(file), 1 << 16));
                DataInputStream in = new DataInputStream(new BufferedInputStream(zstd, 1 << 16))) {
            zstd.setContinuous(true); // an unfinished frame ends the stream instead of failing
            while (true) {
                int length = in.readInt();
                if (length <= 0 || length > RecordEncoder.MAX_RECORD_BYTES) {
                    return span;
                }
                byte[] message = new byte[length];
                in.readFully(message);
                long time = time(message);
                copy.write(new byte[] {(byte) (length >> 24), (byte) (length >> 16), (byte) (length >> 8), (byte) length});
                copy.write(message);
                span.add(time);
            }
        } catch (EOFException end) {
            // of the file, or of a torn record
        } catch (ZstdIOException damaged) {
            // a torn block: nothing behind it can be read
        }
        return span;
    }

    /** The fixed64 field 5 of both messages: when the broker saw it. */
    private static long time(byte[] message) throws IOException {
        int at = 0;
        while (at < message.length) {
            int tag = message[at] & 0xFF; // all fields up to 15 have a tag of one byte
            at++;
            switch (tag & 7) {
                case 0:
                    while (message[at++] < 0) {
                        // the varint goes on
                    }
                    break;
                case 1:
                    if (tag >> 3 == TIME_FIELD) {
                        return ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN).getLong(at);
                    }
                    at += 8;
                    break;
                case 2:
                    int length = 0;
                    int shift = 0;
                    byte part;
                    do {
                        part = message[at++];
                        length |= (part & 0x7F) << shift;
                        shift += 7;
                    } while (part < 0);
                    at += length;
                    break;
                case 5:
                    at += 4;
                    break;
                default:
                    throw new IOException("not a record of the contract: tag " + tag);
            }
        }
        return 0;
    }
}
