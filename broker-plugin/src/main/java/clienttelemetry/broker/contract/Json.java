package clienttelemetry.broker.contract;

import com.fasterxml.jackson.databind.ObjectMapper;

/** The text of manifests and of the broker's request log. */
public final class Json {
    public static final ObjectMapper MAPPER = new ObjectMapper();

    private Json() {}
}
