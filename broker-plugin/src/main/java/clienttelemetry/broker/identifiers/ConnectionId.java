package clienttelemetry.broker.identifiers;

/** What Kafka's connection ids say: {@code local:port-remote:port-index}, and what follows since 4.0. */
public final class ConnectionId {
    private ConnectionId() {}

    /** The {@code address:port} of the client in Kafka's connection id; empty where the id has another form. */
    public static String remote(String connectionId) {
        int from = connectionId.indexOf('-') + 1;
        int to = connectionId.indexOf('-', from);
        return from > 0 && to > 0 ? connectionId.substring(from, to) : "";
    }

    /** The port of the broker in Kafka's connection id; -1 where the id has another form. */
    public static int localPort(String connectionId) {
        int dash = connectionId.indexOf('-');
        int colon = connectionId.lastIndexOf(':', Math.max(0, dash));
        try {
            return dash > 0 && colon > 0 ? Integer.parseInt(connectionId.substring(colon + 1, dash)) : -1;
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
