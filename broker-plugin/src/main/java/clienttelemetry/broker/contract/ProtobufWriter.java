package clienttelemetry.broker.contract;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Encodes fields of a protobuf message into a growing array. Proto3: what has its default value is left out. */
public final class ProtobufWriter {
    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int BYTES = 2;
    private static final int FIXED32 = 5;

    private byte[] buffer;
    private int size;

    public ProtobufWriter(int capacity) {
        buffer = new byte[capacity];
    }

    public byte[] toBytes() {
        return Arrays.copyOf(buffer, size);
    }

    public byte[] buffer() {
        return buffer;
    }

    int size() {
        return size;
    }

    void clear() {
        size = 0;
    }

    public ProtobufWriter varint(int field, long value) {
        return value == 0 ? this : present(field, value);
    }

    /** For fields with presence: zero is written too. Negative int32 values take ten bytes, as protobuf wants it. */
    public ProtobufWriter present(int field, long value) {
        tag(field, VARINT);
        rawVarint(value);
        return this;
    }

    public ProtobufWriter fixed64(int field, long value) {
        if (value != 0) {
            tag(field, FIXED64);
            raw(value, 8);
        }
        return this;
    }

    ProtobufWriter fixed32(int field, int value) {
        if (value != 0) {
            tag(field, FIXED32);
            raw(value, 4);
        }
        return this;
    }

    public ProtobufWriter string(int field, String value) {
        return value == null || value.isEmpty() ? this : presentString(field, value);
    }

    /** For fields with presence: null is absent, an empty string is written. Half of a surrogate pair becomes "?". */
    public ProtobufWriter presentString(int field, String value) {
        if (value != null) {
            byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
            bytes(field, utf8, 0, utf8.length);
        }
        return this;
    }

    public ProtobufWriter bytes(int field, byte[] value) {
        return value.length == 0 ? this : bytes(field, value, 0, value.length);
    }

    public ProtobufWriter message(int field, ProtobufWriter message) {
        return bytes(field, message.buffer, 0, message.size);
    }

    /** The tag and length of a field of bytes that the caller writes elsewhere. */
    public ProtobufWriter lengthOf(int field, int length) {
        tag(field, BYTES);
        rawVarint(length);
        return this;
    }

    /** Fields that are encoded already. */
    public ProtobufWriter encoded(byte[] fields) {
        return encoded(fields, 0, fields.length);
    }

    public ProtobufWriter encoded(byte[] fields, int from, int length) {
        ensure(length);
        System.arraycopy(fields, from, buffer, size, length);
        size += length;
        return this;
    }

    /** A big-endian number over four bytes that were reserved at this place. */
    void setInt(int at, int value) {
        for (int i = 0; i < 4; i++) {
            buffer[at + i] = (byte) (value >>> (24 - 8 * i));
        }
    }

    void reserve(int bytes) {
        ensure(bytes);
        size += bytes;
    }

    private ProtobufWriter bytes(int field, byte[] value, int from, int length) {
        lengthOf(field, length);
        ensure(length);
        System.arraycopy(value, from, buffer, size, length);
        size += length;
        return this;
    }

    private void tag(int field, int type) {
        rawVarint((long) field << 3 | type);
    }

    private void rawVarint(long value) {
        ensure(10);
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            buffer[size++] = (byte) (rest & 0x7F | 0x80);
            rest >>>= 7;
        }
        buffer[size++] = (byte) rest;
    }

    private void raw(long value, int bytes) {
        ensure(bytes);
        for (int i = 0; i < bytes; i++) {
            buffer[size++] = (byte) (value >>> 8 * i);
        }
    }

    private void ensure(int more) {
        if (size + more > buffer.length) {
            buffer = Arrays.copyOf(buffer, Math.max(buffer.length * 2, size + more));
        }
    }
}
