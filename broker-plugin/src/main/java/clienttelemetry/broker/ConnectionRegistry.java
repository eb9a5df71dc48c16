package clienttelemetry.broker;

import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who is connected and which requests each connection uses (KIP-511), from what the broker logs of it. Called by the
 * threads that log, so a line costs them what parsing its two ends costs; nothing waits in between, and nothing is lost
 * by it.
 *
 * <p>The end of a connection is known where the client closes it or the broker refuses a request. Of a connection that
 * the broker closed for idleness nothing is logged: it is forgotten after a while, and its end stays unknown.
 */
final class ConnectionRegistry {
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionRegistry.class);
    private static final int MAX_CONNECTIONS = 50_000;
    private static final int MAX_ACCEPTED = 10_000;
    /** A request that the client did not wait for is logged after the line that tells of its closed connection. */
    private static final long LATE_MILLIS = 60_000;
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final int UNSUPPORTED_VERSION = 35;

    private static final Pattern ACCEPTED = Pattern.compile("Accepted connection from /(\\S+) on /");
    private static final Pattern DISCONNECTED = Pattern.compile("channelId=(\\S+)\\) disconnected");
    /** Replica fetchers and the senders of transaction markers and verifications. */
    private static final Pattern CLIENT_OF_BROKER =
            Pattern.compile("broker-\\d+-(fetcher-\\d+|txn-marker-sender)|AddPartitionsManager-client-\\d+");

    private final Consumer<DumpRecord> sink;
    private final Drops drops;
    private final Set<String> controllerListeners;
    private final boolean reportsSilent;
    private final long idleMillis;
    private final Map<String, Connection> connections = new ConcurrentHashMap<>();
    private final Map<String, Long> accepted = Collections.synchronizedMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
            return size() > MAX_ACCEPTED;
        }
    });
    private volatile String apiVersionsLine;
    private volatile boolean isUnknownFormReported;

    /**
     * @param controllerListeners their connections are the brokers' own
     * @param reportsSilent whether a connection that ends without any request is an event; not so where requests are
     *     watched at times only
     * @param idleMillis a connection without requests for so long is forgotten
     */
    ConnectionRegistry(Consumer<DumpRecord> sink, Drops drops, Set<String> controllerListeners, boolean reportsSilent,
            long idleMillis) {
        this.sink = sink;
        this.drops = drops;
        this.controllerListeners = controllerListeners;
        this.reportsSilent = reportsSilent;
        this.idleMillis = idleMillis;
    }

    /** A line of {@code kafka.request.logger}; never throws. */
    void request(String message, long millis) {
        try {
            RequestLogLine line = RequestLogLine.parse(message);
            if (line != null && !line.isForwarded) {
                request(line, millis * NANOS_PER_MILLI);
            }
        } catch (RuntimeException e) {
            unknownForm(message, e);
        }
    }

    private void request(RequestLogLine line, long nanos) {
        Connection connection = connections.get(line.connectionId);
        if (connection == null) {
            connection = open(line.connectionId, nanos);
            if (connection == null) {
                return;
            }
        }
        synchronized (connection) {
            if (connection.isOfBroker) {
                return;
            }
            boolean isFirst = !connection.hasRequests();
            update(connection, line, nanos);
            if (connection.isOfBroker) {
                return;
            }
            if (isFirst) {
                sink.accept(connection.event(Connection.Event.OPENED, Math.max(nanos, connection.openedNanos)));
            }
            if (connection.closedNanos != null) {
                sink.accept(connection.event(Connection.Event.CLOSED, connection.closedNanos));
            }
        }
    }

    private Connection open(String id, long nanos) {
        if (connections.size() >= MAX_CONNECTIONS) {
            drops.count(Drops.Reason.REGISTRY_FULL, 1);
            return null;
        }
        Long acceptedNanos = accepted.remove(ClientConnection.remote(id));
        return connections.computeIfAbsent(id, each -> new Connection(each, acceptedNanos == null ? nanos : acceptedNanos));
    }

    private void update(Connection connection, RequestLogLine line, long nanos) {
        ClientConnection client = connection.client;
        String id = line.clientId;
        connection.isOfBroker = controllerListeners.contains(line.listener)
                || id != null && !id.equals(client.clientId) && CLIENT_OF_BROKER.matcher(id).matches();
        if (connection.isOfBroker) {
            return;
        }
        if (id != null) {
            client.clientId = id;
        }
        client.principal = line.principal;
        client.listenerName = line.listener;
        client.securityProtocol = line.securityProtocol;
        boolean isRejected = false;
        if (line.apiKey == RequestLogLine.API_VERSIONS) {
            isRejected = apiVersions(client, line);
        } else {
            client.softwareName = line.softwareName;
            client.softwareVersion = line.softwareVersion;
            ids(connection, line);
        }
        connection.count(line.apiKey, line.apiVersion, isRejected, nanos);
    }

    /**
     * The broker logs this request with the name from before it, and registers what it says afterwards: what the client
     * sent, or "unknown" for a request older than version 3. A refused one registers nothing.
     */
    private boolean apiVersions(ClientConnection client, RequestLogLine line) {
        int error = line.numberIn("\"response\":{", "\"errorCode\":");
        client.softwareName = line.softwareName;
        client.softwareVersion = line.softwareVersion;
        String name = line.textInRequest("\"clientSoftwareName\":");
        if (name != null) {
            client.sentSoftwareName = name;
            client.sentSoftwareVersion = line.textInRequest("\"clientSoftwareVersion\":");
        }
        if (error > 0 && error != UNSUPPORTED_VERSION) {
            client.apiVersionsError = error;
        }
        if (error == 0) {
            client.softwareName = name == null || name.isEmpty() ? "unknown" : name;
            client.softwareVersion = name == null || name.isEmpty() ? "unknown" : client.sentSoftwareVersion;
            client.apiVersionsError = 0;
            if (apiVersionsLine == null && line.apiVersion >= 3) {
                apiVersionsLine = line.message;
            }
        }
        return error == UNSUPPORTED_VERSION;
    }

    /** Groups and transactional ids, in requests whose body begins with them. */
    private static void ids(Connection connection, RequestLogLine line) {
        switch (line.apiKey) {
            case 0: // Produce
                if (line.requestStartsWith("\"transactionalId\":\"")) {
                    connection.addTransactionalId(line.textInRequest("\"transactionalId\":"));
                }
                break;
            case 22: // InitProducerId
            case 26: // EndTxn
                connection.addTransactionalId(line.textInRequest("\"transactionalId\":"));
                break;
            case 25: // AddOffsetsToTxn
            case 28: // TxnOffsetCommit
                connection.addTransactionalId(line.textInRequest("\"transactionalId\":"));
                connection.addGroup(line.textInRequest("\"groupId\":"));
                break;
            case 8: // OffsetCommit
            case 9: // OffsetFetch
            case 11: // JoinGroup
            case 12: // Heartbeat
            case 13: // LeaveGroup
            case 14: // SyncGroup
            case 68: // ConsumerGroupHeartbeat
            case 76: // ShareGroupHeartbeat
            case 78: // ShareFetch
            case 79: // ShareAcknowledge
            case 88: // StreamsGroupHeartbeat
                connection.addGroup(line.textInRequest("\"groupId\":"));
                break;
            default:
        }
    }

    /** A line of the acceptor. */
    void accepted(String message, long millis) {
        Matcher found = ACCEPTED.matcher(message);
        if (found.find()) {
            accepted.put(found.group(1), millis * NANOS_PER_MILLI);
        }
    }

    /** A line of the broker's Selector; those of the broker's own clients are about other connections. */
    void disconnected(String message, long millis) {
        if (!message.startsWith("[SocketServer")) {
            return;
        }
        Matcher found = DISCONNECTED.matcher(message);
        if (found.find()) {
            close(found.group(1), millis * NANOS_PER_MILLI, null);
        }
    }

    /** A line of the broker's network processor. */
    void refused(String message, Throwable error, long millis) {
        Refusal refusal = Refusal.parse(message, error);
        if (refusal != null) {
            close(refusal.connectionId, millis * NANOS_PER_MILLI, refusal);
        }
    }

    private void close(String id, long nanos, Refusal refusal) {
        Connection connection = connections.get(id);
        if (connection == null) {
            boolean isKnown = accepted.containsKey(ClientConnection.remote(id));
            boolean isWorthIt = refusal != null || reportsSilent && isKnown;
            connection = isWorthIt ? open(id, nanos) : null;
            if (connection == null) {
                accepted.remove(ClientConnection.remote(id));
                return;
            }
        }
        synchronized (connection) {
            if (connection.closedNanos != null || connection.isOfBroker) {
                connection.closedNanos = nanos;
                return;
            }
            if (refusal != null && refusal.apiKey >= 0) {
                connection.count(refusal.apiKey, refusal.apiVersion, true, nanos);
            }
            connection.closedNanos = nanos;
            sink.accept(connection.event(Connection.Event.CLOSED, nanos));
        }
    }

    /**
     * Snapshots of connections that had requests since the last one, or of all; and forgets those that closed or were
     * idle too long. Straight to `out`: the writer's thread calls this.
     */
    void snapshot(boolean all, long nowMillis, Consumer<DumpRecord> out) {
        long nowNanos = nowMillis * NANOS_PER_MILLI;
        for (Iterator<Connection> each = connections.values().iterator(); each.hasNext(); ) {
            Connection connection = each.next();
            synchronized (connection) {
                long last = Math.max(connection.lastRequestNanos, connection.openedNanos);
                if (connection.closedNanos != null) {
                    if (nowNanos - connection.closedNanos > LATE_MILLIS * NANOS_PER_MILLI) {
                        each.remove();
                    }
                } else if (!connection.isOfBroker && (connection.hasNewRequests || all && connection.hasRequests())) {
                    connection.hasNewRequests = false;
                    out.accept(connection.event(Connection.Event.ACTIVE, nowNanos));
                } else if (nowNanos - last > idleMillis * NANOS_PER_MILLI) {
                    each.remove();
                }
            }
        }
    }

    /** How many connections it holds. */
    int size() {
        return connections.size();
    }

    /** A line of an answered ApiVersions request since the last call of this; null if there was none. */
    String takeApiVersionsLine() {
        String line = apiVersionsLine;
        apiVersionsLine = null;
        return line;
    }

    private void unknownForm(String message, RuntimeException error) {
        drops.count(Drops.Reason.FAILED, 1);
        if (!isUnknownFormReported) {
            isUnknownFormReported = true;
            LOG.warn("The request log has lines of a form that is not known; their requests are not counted. The first: {}",
                    message.substring(0, Math.min(500, message.length())), error);
        }
    }
}
