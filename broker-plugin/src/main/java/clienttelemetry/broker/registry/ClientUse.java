package clienttelemetry.broker.registry;

import clienttelemetry.broker.contract.ProtobufWriter;
import clienttelemetry.broker.identifiers.BoundedText;
import clienttelemetry.broker.identifiers.IdentifierRules;
import java.util.ArrayList;
import java.util.List;

/**
 * What a client did, on one connection or on many: requests by API and version, groups and transactional ids. Bounded in
 * bytes: clients choose the ids. Guarded by whoever owns it.
 */
final class ClientUse {
    private static final int MAX_IDS = 16;
    /** Of ids and request versions; a request version takes {@link #USE_BYTES}. */
    private static final int MAX_BYTES = 16 << 10;
    private static final int USE_BYTES = 64;

    private final List<ApiUse> uses = new ArrayList<>(4);
    private List<String> groups = List.of();
    private List<String> transactionalIds = List.of();
    private int bytes;
    private boolean isUseMissing;

    boolean hasRequests() {
        return !uses.isEmpty();
    }

    /** Gives false where the bound leaves no room for another request version. */
    boolean count(int apiKey, int version, boolean isRejected, long nanos) {
        ApiUse use = use(apiKey, version, nanos);
        if (use == null) {
            return false;
        }
        if (isRejected) {
            use.rejected++;
        } else {
            use.requests++;
        }
        use.lastNanos = Math.max(use.lastNanos, nanos);
        return true;
    }

    private ApiUse use(int apiKey, int version, long nanos) {
        for (ApiUse each : uses) {
            if (each.apiKey == apiKey && each.version == version) {
                return each;
            }
        }
        if (bytes + USE_BYTES > MAX_BYTES) {
            isUseMissing = true;
            return null;
        }
        bytes += USE_BYTES;
        ApiUse use = new ApiUse(apiKey, version, nanos);
        uses.add(use);
        return use;
    }

    void addGroup(String id) {
        groups = with(groups, id);
    }

    void addTransactionalId(String id) {
        transactionalIds = with(transactionalIds, id);
    }

    private List<String> with(List<String> ids, String id) {
        if (id == null || id.isEmpty() || ids.size() >= MAX_IDS || ids.contains(id)) {
            return ids;
        }
        String bounded = BoundedText.name(id);
        int more = BoundedText.heapBytes(bounded);
        if (ids.contains(bounded) || bytes + more > MAX_BYTES) {
            return ids;
        }
        bytes += more;
        List<String> longer = ids.isEmpty() ? new ArrayList<>(1) : ids;
        longer.add(bounded);
        return longer;
    }

    void add(ClientUse other) {
        for (ApiUse each : other.uses) {
            ApiUse use = use(each.apiKey, each.version, each.firstNanos);
            if (use != null) {
                use.requests += each.requests;
                use.rejected += each.rejected;
                use.lastNanos = Math.max(use.lastNanos, each.lastNanos);
            }
        }
        other.groups.forEach(this::addGroup);
        other.transactionalIds.forEach(this::addTransactionalId);
    }

    int heapBytes() {
        return 120 + bytes;
    }

    /** Fields 10 to 12 of a ConnectionEvent. */
    void encode(ProtobufWriter out, IdentifierRules identifiers) {
        for (ApiUse use : uses) {
            out.message(10, use.encode());
        }
        groups.forEach(id -> out.presentString(11, identifiers.treated(IdentifierRules.Kind.GROUP_ID, id)));
        transactionalIds.forEach(id -> out.presentString(12, identifiers.treated(IdentifierRules.Kind.TRANSACTIONAL_ID, id)));
    }

    /** Names of the contract's fields of which something was cut or is missing. */
    void cutFields(List<String> cut) {
        if (isUseMissing) {
            cut.add("api_uses");
        }
        if (groups.stream().anyMatch(BoundedText::isCut)) {
            cut.add("group_ids");
        }
        if (transactionalIds.stream().anyMatch(BoundedText::isCut)) {
            cut.add("transactional_ids");
        }
    }

    private static final class ApiUse {
        final int apiKey;
        final int version;
        final long firstNanos;
        long lastNanos;
        long requests;
        long rejected;

        ApiUse(int apiKey, int version, long nanos) {
            this.apiKey = apiKey;
            this.version = version;
            firstNanos = nanos;
        }

        ProtobufWriter encode() {
            return new ProtobufWriter(48)
                    .varint(1, apiKey)
                    .varint(2, version)
                    .varint(3, requests)
                    .varint(4, rejected)
                    .fixed64(5, firstNanos)
                    .fixed64(6, lastNanos);
        }
    }
}
