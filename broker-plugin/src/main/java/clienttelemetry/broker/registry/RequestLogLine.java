package clienttelemetry.broker.registry;

/**
 * What the registry takes from a line of {@code kafka.request.logger} (JSON since Kafka 2.8, KIP-673; the keys have
 * kept their order since: isForwarded, requestHeader, request, response, connection, …, securityProtocol, principal,
 * listener, clientInformation). Request and response may be long and are not parsed: what stands behind them is looked
 * for from the end. A client's text cannot pass for a key, since its quotes are escaped.
 */
final class RequestLogLine {
    static final int API_VERSIONS = 18;
    private static final String START = "Completed request:{";

    final String message;
    final boolean isForwarded;
    final int apiKey;
    final int apiVersion;
    /** Null where the client sent none. */
    final String clientId;
    final String connectionId;
    final String securityProtocol;
    final String principal;
    final String listener;
    final String softwareName;
    final String softwareVersion;
    /** Where what stands behind the response begins. */
    private final int behind;
    private int at;

    private RequestLogLine(String message) {
        this.message = message;
        at = START.length();
        isForwarded = message.startsWith("\"isForwarded\":true", at);
        apiKey = number("\"requestApiKey\":");
        apiVersion = number("\"requestApiVersion\":");
        clientId = textAfter("\"clientId\":");
        behind = message.lastIndexOf("\"connection\":\"");
        if (behind < 0) {
            throw new IllegalArgumentException("no connection");
        }
        at = behind;
        connectionId = textAfter("\"connection\":");
        securityProtocol = textAfter("\"securityProtocol\":");
        principal = textAfter("\"principal\":");
        listener = textAfter("\"listener\":");
        softwareName = textAfter("\"softwareName\":");
        softwareVersion = textAfter("\"softwareVersion\":");
    }

    /** Null for another kind of line; throws for a line of this kind in a form that is not known. */
    static RequestLogLine parse(String message) {
        return message.startsWith(START) ? new RequestLogLine(message) : null;
    }

    /** A number of the response, or of the request where it has such a key; -1 where neither has. */
    int numberIn(String part, String key) {
        int from = message.indexOf(part, START.length());
        int found = from < 0 ? -1 : message.indexOf(key, from);
        if (found < 0) {
            return -1;
        }
        at = found;
        return number(key);
    }

    /** As {@link #numberIn}, for numbers that may be negative; null where neither has it. */
    Integer signedIn(String part, String key) {
        int from = message.indexOf(part, START.length());
        int found = from < 0 ? -1 : message.indexOf(key, from);
        if (found < 0) {
            return null;
        }
        at = found;
        return number(key);
    }

    /** Of the response, where that is short and begins with one; the request before it may be long. -1 where there is none. */
    int errorCode() {
        int from = message.lastIndexOf("\"response\":{", behind);
        int found = from < 0 ? -1 : message.indexOf("\"errorCode\":", from);
        if (found < 0 || found > behind) {
            return -1;
        }
        at = found;
        return number("\"errorCode\":");
    }

    /** Whether this text is in the request, outside of what clients choose. */
    boolean requestHas(String text) {
        int found = message.indexOf(text, START.length());
        return found >= 0 && found < behind;
    }

    /** A text of the request; null where it is null or the request does not have that key. */
    String textInRequest(String key) {
        return textIn("\"request\":{", key);
    }

    String textIn(String part, String key) {
        int from = message.indexOf(part, START.length());
        int found = from < 0 ? -1 : message.indexOf(key, from);
        if (found < 0) {
            return null;
        }
        at = found;
        return textAfter(key);
    }

    /** Whether the request begins with this. */
    boolean requestStartsWith(String text) {
        int from = message.indexOf("\"request\":{", START.length());
        return from >= 0 && message.startsWith(text, from + "\"request\":{".length());
    }

    private void goBehind(String key) {
        int found = message.indexOf(key, at);
        if (found < 0) {
            throw new IllegalArgumentException("no " + key);
        }
        at = found + key.length();
    }

    private int number(String key) {
        goBehind(key);
        int sign = 1;
        if (message.charAt(at) == '-') {
            sign = -1;
            at++;
        }
        int value = 0;
        for (char c = message.charAt(at); c >= '0' && c <= '9'; c = message.charAt(++at)) {
            value = value * 10 + (c - '0');
        }
        return sign * value;
    }

    private String textAfter(String key) {
        goBehind(key);
        if (message.charAt(at) != '"') {
            return null;
        }
        int from = ++at;
        for (char c = message.charAt(at); c != '"'; c = message.charAt(++at)) {
            if (c == '\\') {
                return unescaped(from);
            }
        }
        return message.substring(from, at++);
    }

    private String unescaped(int from) {
        StringBuilder text = new StringBuilder(message.substring(from, at));
        for (char c = message.charAt(at); c != '"'; c = message.charAt(++at)) {
            if (c != '\\') {
                text.append(c);
                continue;
            }
            c = message.charAt(++at);
            switch (c) {
                case 'b':
                    text.append('\b');
                    break;
                case 'f':
                    text.append('\f');
                    break;
                case 'n':
                    text.append('\n');
                    break;
                case 'r':
                    text.append('\r');
                    break;
                case 't':
                    text.append('\t');
                    break;
                case 'u':
                    text.append((char) Integer.parseInt(message.substring(at + 1, at + 5), 16));
                    at += 4;
                    break;
                default:
                    text.append(c);
            }
        }
        at++;
        return text.toString();
    }
}
