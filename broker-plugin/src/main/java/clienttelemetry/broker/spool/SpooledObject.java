package clienttelemetry.broker.spool;

import clienttelemetry.broker.contract.Hour;
import clienttelemetry.broker.contract.Incarnation;
import clienttelemetry.broker.contract.Times;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;

/** A finished object in the spool, as the manifest lists it. */
public final class SpooledObject {
    final SpoolName name;
    public final RecordSpan span;
    final long bytes;
    public final String sha256;

    public SpooledObject(SpoolName name, RecordSpan span, long bytes, String sha256) {
        this.name = name;
        this.span = span;
        this.bytes = bytes;
        this.sha256 = sha256;
    }

    public Path file() {
        return name.finished();
    }

    public Hour hour() {
        return name.hour;
    }

    /** Inclusive. */
    private long lastSequence() {
        return name.firstSequence + span.records - 1;
    }

    public String key(Incarnation broker) {
        return name.hour.recordsKey(broker, name.dataset, name.firstSequence, lastSequence());
    }

    public ObjectNode manifestEntry(Incarnation broker) {
        return JsonNodeFactory.instance.objectNode()
                .put("key", key(broker))
                .put("dataset", name.dataset.folder())
                .put("records", span.records)
                .put("bytes", bytes)
                .put("first_sequence", name.firstSequence)
                .put("last_sequence", lastSequence())
                .put("min_time", Times.text(span.minNanos))
                .put("max_time", Times.text(span.maxNanos))
                .put("sha256", sha256);
    }
}
