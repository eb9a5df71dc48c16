package clienttelemetry.broker.identifiers;

import clienttelemetry.broker.contract.ProtobufWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * MetricsData of OpenTelemetry with the identifiers in its attributes treated: of resources, of data points, and in
 * librdkafka's scope name, which begins with the client id. All else is copied as it is.
 */
public final class TreatedPayload {
    /** Attributes by what they identify; those of Kafka Streams carry the application id, which is its group. */
    private static final Map<String, IdentifierRules.Kind> ATTRIBUTES = Map.ofEntries(
            Map.entry("client_id", IdentifierRules.Kind.CLIENT_ID), Map.entry("client.id", IdentifierRules.Kind.CLIENT_ID),
            Map.entry("group_member_id", IdentifierRules.Kind.CLIENT_ID), Map.entry("member_id", IdentifierRules.Kind.CLIENT_ID),
            Map.entry("thread_id", IdentifierRules.Kind.CLIENT_ID), Map.entry("process_id", IdentifierRules.Kind.CLIENT_ID),
            Map.entry("group_id", IdentifierRules.Kind.GROUP_ID), Map.entry("group_instance_id", IdentifierRules.Kind.GROUP_ID),
            Map.entry("application_id", IdentifierRules.Kind.GROUP_ID),
            Map.entry("transactional_id", IdentifierRules.Kind.TRANSACTIONAL_ID),
            Map.entry("topic", IdentifierRules.Kind.TOPIC), Map.entry("topic_name", IdentifierRules.Kind.TOPIC));
    private static final int BYTES = 2;

    private final IdentifierRules identifiers;

    public TreatedPayload(IdentifierRules identifiers) {
        this.identifiers = identifiers;
    }

    /** Null where it is not MetricsData that can be read: nobody knows what it would tell. */
    public byte[] of(byte[] payload) {
        try {
            ProtobufWriter out = new ProtobufWriter(payload.length + 64);
            message(payload, 0, payload.length, Level.METRICS_DATA, out);
            return out.toBytes();
        } catch (RuntimeException e) {
            return null;
        }
    }

    /** Messages of metrics.proto on the way to attributes, and which of their fields lead there. */
    private enum Level {
        METRICS_DATA,
        RESOURCE_METRICS,
        RESOURCE,
        SCOPE_METRICS,
        SCOPE,
        METRIC,
        DATA,
        POINT,
        ATTRIBUTE,
        COPIED;

        Level of(int field) {
            switch (this) {
                case METRICS_DATA:
                    return field == 1 ? RESOURCE_METRICS : COPIED;
                case RESOURCE_METRICS:
                    return field == 1 ? RESOURCE : field == 2 ? SCOPE_METRICS : COPIED;
                case RESOURCE:
                    return field == 1 ? ATTRIBUTE : COPIED;
                case SCOPE_METRICS:
                    return field == 1 ? SCOPE : field == 2 ? METRIC : COPIED;
                case SCOPE:
                    return field == 3 ? ATTRIBUTE : COPIED;
                case METRIC: // gauge, sum, histogram, exponential histogram, summary; metadata
                    return field == 12 ? ATTRIBUTE : field == 5 || field == 7 || field >= 9 && field <= 11 ? DATA : COPIED;
                case DATA:
                    return field == 1 ? POINT : COPIED;
                case POINT: // number, summary and histogram points have them in 7 or 9, exponential ones in 1
                    return COPIED;
                default:
                    return COPIED;
            }
        }
    }

    private void message(byte[] in, int from, int to, Level level, ProtobufWriter out) {
        int at = from;
        while (at < to) {
            int start = at;
            long tag = 0;
            int shift = 0;
            do {
                tag |= (long) (in[at] & 0x7F) << shift;
                shift += 7;
            } while (in[at++] < 0);
            int field = (int) (tag >>> 3);
            int type = (int) (tag & 7);
            if (type != BYTES) {
                at = skipped(in, at, type);
                check(at, to);
                out.encoded(in, start, at - start);
                continue;
            }
            long length = 0;
            shift = 0;
            do {
                length |= (long) (in[at] & 0x7F) << shift;
                shift += 7;
            } while (in[at++] < 0);
            if (length < 0 || length > to - at) { // below zero it would lead backwards, and round and round
                throw new IllegalArgumentException("a field that goes beyond its message");
            }
            int end = at + (int) length;
            bytes(in, start, at, end, field, level, out);
            at = end;
        }
    }

    private void bytes(byte[] in, int start, int at, int end, int field, Level level, ProtobufWriter out) {
        Level inner = level.of(field);
        boolean isAttribute = inner == Level.ATTRIBUTE || level == Level.POINT && isPointAttribute(in, at, end, field);
        if (isAttribute) {
            attribute(in, start, at, end, field, out);
        } else if (level == Level.SCOPE && field == 1) {
            out.presentString(field, scopeName(text(in, at, end)));
        } else if (inner == Level.COPIED) {
            out.encoded(in, start, end - start);
        } else {
            ProtobufWriter message = new ProtobufWriter(end - at + 32);
            message(in, at, end, inner, message);
            out.message(field, message);
        }
    }

    /** KeyValue: of NumberDataPoint and SummaryDataPoint field 7, of HistogramDataPoint 9, of the exponential one 1. */
    private static boolean isPointAttribute(byte[] in, int at, int end, int field) {
        return (field == 7 || field == 9 || field == 1) && at < end && in[at] == 0x0A;
    }

    private void attribute(byte[] in, int start, int at, int end, int field, ProtobufWriter out) {
        int keyLength = at + 1 < end ? in[at + 1] : -1;
        String key = keyLength >= 0 && at + 2 + keyLength <= end && in[at] == 0x0A ? text(in, at + 2, at + 2 + keyLength) : "";
        IdentifierRules.Kind kind = ATTRIBUTES.get(key);
        if (kind == null || identifiers.isClear(kind)) {
            out.encoded(in, start, end - start);
            return;
        }
        String value = stringValue(in, at + 2 + keyLength, end);
        String treated = value == null ? null : identifiers.treated(kind, value);
        if (treated != null) {
            out.message(field, new ProtobufWriter(96).presentString(1, key).message(2, new ProtobufWriter(64).presentString(1, treated)));
        }
    }

    /** Of an AnyValue in field 2; null where it is no string. */
    private static String stringValue(byte[] in, int from, int end) {
        if (from >= end || in[from] != 0x12) {
            return null;
        }
        int at = from + 1;
        while (in[at++] < 0) {
            // the length of AnyValue
        }
        if (at >= end || in[at++] != 0x0A) {
            return null;
        }
        while (in[at++] < 0) {
            // the length of the string, which goes to the end
        }
        return text(in, at, end);
    }

    /** librdkafka: {@code <client id>#producer-1}. */
    private String scopeName(String name) {
        int mark = name.lastIndexOf('#');
        if (mark < 0 || identifiers.isClear(IdentifierRules.Kind.CLIENT_ID)) {
            return name;
        }
        String clientId = identifiers.treated(IdentifierRules.Kind.CLIENT_ID, name.substring(0, mark));
        return (clientId == null ? "" : clientId) + name.substring(mark);
    }

    private static int skipped(byte[] in, int at, int type) {
        int end = at;
        switch (type) {
            case 0:
                while (in[end++] < 0) {
                    // the varint goes on
                }
                return end;
            case 1:
                return end + 8;
            case 5:
                return end + 4;
            default:
                throw new IllegalArgumentException("wire type " + type);
        }
    }

    private static void check(int at, int to) {
        if (at > to) {
            throw new IllegalArgumentException("a field that goes beyond its message");
        }
    }

    private static String text(byte[] in, int from, int to) {
        return new String(in, from, to - from, StandardCharsets.UTF_8);
    }
}
