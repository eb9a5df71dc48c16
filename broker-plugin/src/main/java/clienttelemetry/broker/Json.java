package clienttelemetry.broker;

import com.fasterxml.jackson.databind.ObjectMapper;

/** The text of manifests and of the broker's request log. */
final class Json {
    static final ObjectMapper MAPPER = new ObjectMapper();

    private Json() {}
}
