package clienttelemetry.broker.registry;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.protocol.ApiKeys;

/**
 * A request that the broker refused by closing the connection, from what {@code kafka.network.Processor} logs at ERROR.
 * Such requests are in no request log. Kafka 3 writes "Received request api key FETCH with version 99 which is not
 * enabled", Kafka 4 "Received request for api with key 1 (Fetch) and unsupported version 99" or "Unsupported api with
 * key 4 (LeaderAndIsr) and version 1".
 */
final class Refusal {
    private static final Pattern LINE = Pattern.compile("Exception while processing request from (\\S+)");
    private static final Pattern NAMED = Pattern.compile("Received request api key (\\w+) with version (-?\\d+)");
    private static final Pattern NUMBERED =
            Pattern.compile("api with key (-?\\d+) \\(\\w+\\) and (?:unsupported )?version (-?\\d+)");
    /** Until 3.2 or so the body's parser noticed; the same line with another cause is a malformed request. */
    private static final Pattern UNPARSED = Pattern.compile("Error getting request for apiKey: (\\w+), apiVersion: (-?\\d+)");

    final String connectionId;
    /** -1: the broker does not say which, or the request was malformed rather than of a version it does not serve. */
    final int apiKey;
    final int apiVersion;

    private Refusal(String connectionId, int apiKey, int apiVersion) {
        this.connectionId = connectionId;
        this.apiKey = apiKey;
        this.apiVersion = apiVersion;
    }

    /** Null for a line that is about something else. */
    static Refusal parse(String message, Throwable error) {
        Matcher line = LINE.matcher(message);
        if (!line.find()) {
            return null;
        }
        String why = error == null || error.getMessage() == null ? "" : error.getMessage();
        Matcher found = NUMBERED.matcher(why);
        if (found.find()) {
            return new Refusal(line.group(1), Integer.parseInt(found.group(1)), Integer.parseInt(found.group(2)));
        }
        found = NAMED.matcher(why);
        boolean isFound = found.find();
        if (!isFound && isUnsupported(error)) {
            found = UNPARSED.matcher(why);
            isFound = found.find();
        }
        if (isFound) {
            return new Refusal(line.group(1), keyOf(found.group(1)), Integer.parseInt(found.group(2)));
        }
        return new Refusal(line.group(1), -1, -1);
    }

    private static boolean isUnsupported(Throwable error) {
        return error != null && error.getCause() != null
                && error.getCause().getClass().getSimpleName().equals("UnsupportedVersionException");
    }

    private static int keyOf(String name) {
        for (ApiKeys key : ApiKeys.values()) {
            if (key.name().equals(name)) {
                return key.id;
            }
        }
        return -1;
    }
}
