package clienttelemetry.broker.registry;

import clienttelemetry.broker.contract.Drops;
import clienttelemetry.broker.contract.DumpRecord;
import clienttelemetry.broker.identifiers.BoundedText;
import clienttelemetry.broker.identifiers.ConnectionId;
import clienttelemetry.broker.identifiers.IdentifierRules;
import clienttelemetry.broker.manifest.BrokerMetrics;
import clienttelemetry.broker.settings.Listeners;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.Uuid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who is connected and which requests each connection uses (KIP-511), from what the broker logs of it. Called by the
 * threads that log, so a line costs them what parsing its two ends costs; nothing waits in between, and nothing is lost
 * by it.
 *
 * <p>The end of a connection is known where the client closes it or the broker refuses a request. Of a connection that
 * the broker closed for idleness nothing is logged: it is forgotten after a while, and its end stays unknown.
 *
 * <p>What clients can make it hold is bounded in bytes. Closed connections leave first; an address that opens many is
 * told of by those that last, and by sums of the others; where there is no room at all, requests are summed up by client.
 */
public final class ConnectionRegistry {
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionRegistry.class);
    private static final int MAX_ACCEPTED = 10_000;
    /** After which a connection of a storm is told of alone. */
    private static final long LASTING_NANOS = 1_200_000_000L;
    /** After which a connection of a storm that closed is summed up: most requests that it left behind are logged by then. */
    private static final long SETTLED_NANOS = 300_000_000L;
    /** Lasting connections of a storm, with each call of {@link #tellStorms}. */
    private static final int TOLD_AT_ONCE = 2_500;
    /** Connections that are told of one by one as they open, between two snapshots: of one address, and in all. */
    private static final int TOLD_OF_ADDRESS = 1000;
    private static final int TOLD_IN_ALL = 10_000;
    /** A request that the client did not wait for is logged after the line that tells of its closed connection. */
    private static final long LATE_NANOS = 10_000_000_000L;
    /** The broker closes the connection of a failed login a moment later: connection.failed.authentication.delay.ms. */
    private static final long FAILED_NANOS = 3_000_000_000L;
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final int UNSUPPORTED_VERSION = 35;
    private static final int CLUSTER_AUTHORIZATION_FAILED = 31;
    private static final int FETCH = 1;
    private static final int LIST_OFFSETS = 2;
    private static final int OFFSET_FOR_LEADER_EPOCH = 23;
    private static final int GET_TELEMETRY_SUBSCRIPTIONS = 71;
    private static final int PUSH_TELEMETRY = 72;
    private static final long LONG_IDLE_MILLIS = 3 * 3_600_000L;
    /** A broker itself remembers 16,384 client instances. */
    private static final int MAX_PUSH_INTERVALS = 20_000;

    private static final Pattern ACCEPTED = Pattern.compile("Accepted connection from /(\\S+) on /");
    private static final Pattern DISCONNECTED = Pattern.compile("channelId=(\\S+)\\) disconnected");
    /** Senders of transaction markers and verifications. A replica fetcher is told by its replica id, since an application
     * can have its client id. */
    private static final Pattern CLIENT_OF_BROKER =
            Pattern.compile("broker-\\d+-txn-marker-sender|AddPartitionsManager-client-\\d+");
    private static final BitSet APIS_OF_BROKERS = new BitSet();

    static {
        for (int api : BrokerApis.KEYS) {
            APIS_OF_BROKERS.set(api);
        }
    }

    private final Consumer<DumpRecord> sink;
    private final Drops drops;
    private final Listeners listeners;
    private final IdentifierRules identifiers;
    /** Names of listeners and principals whose clients are not told of. */
    private final Set<String> leftOut;
    /** Of the broker: it closes a connection that asked nothing for so long. */
    private final long brokersIdleMillis;
    /** Whether a connection that ends without any request is an event; not so where requests are watched at times only. */
    private volatile boolean reportsSilent;
    /** A connection without requests for so long is forgotten. */
    private volatile long idleNanos;
    /** When logins failed of late. */
    private final ConcurrentLinkedDeque<Long> failing = new ConcurrentLinkedDeque<>();
    private final Map<Uuid, Integer> pushIntervals = new ConcurrentHashMap<>();
    private final long maxBytes;
    private final LongSupplier ticks;
    private final Summaries summaries;
    private final FailedLogins failedLogins;
    private final Map<String, Connection> connections = new ConcurrentHashMap<>();
    private final ConcurrentLinkedDeque<Connection> closed = new ConcurrentLinkedDeque<>();
    private final AtomicLong heldBytes = new AtomicLong();
    private final LongAdder requests = new LongAdder();
    private final Map<String, Integer> openedOfAddress = new HashMap<>();
    private int openedInAll;
    private final Map<String, Long> accepted = Collections.synchronizedMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
            return size() > MAX_ACCEPTED;
        }
    });
    private volatile String apiVersionsLine;
    private volatile boolean isFailureReported;

    /**
     * @param leftOut listeners and principals whose clients are not told of
     * @param brokersIdleMillis the broker's connections.max.idle.ms
     * @param ticks nanoseconds of a clock that never steps
     */
    public ConnectionRegistry(Consumer<DumpRecord> sink, Drops drops, Listeners listeners, IdentifierRules identifiers,
            Set<String> leftOut, long brokersIdleMillis, long maxBytes, LongSupplier ticks) {
        this.sink = sink;
        this.drops = drops;
        this.listeners = listeners;
        this.identifiers = identifiers;
        this.leftOut = leftOut;
        this.brokersIdleMillis = brokersIdleMillis;
        this.maxBytes = maxBytes;
        this.ticks = ticks;
        summaries = new Summaries(drops, identifiers);
        failedLogins = new FailedLogins(sink, drops, listeners, identifiers, leftOut);
        watched(true);
    }

    /** Where requests are seen at times only, silence says nothing. */
    public void watched(boolean isContinuous) {
        reportsSilent = isContinuous;
        long millis = isContinuous && brokersIdleMillis > 0 ? brokersIdleMillis + 60_000 : Math.max(LONG_IDLE_MILLIS, 2 * brokersIdleMillis);
        idleNanos = millis * NANOS_PER_MILLI;
    }

    /** A line of {@code kafka.request.logger}. */
    public void request(String message, long millis) {
        RequestLogLine line = RequestLogLine.parse(message);
        if (line == null) {
            return;
        }
        requests.increment();
        if (!line.isForwarded) {
            request(line, millis * NANOS_PER_MILLI);
        }
    }

    private void request(RequestLogLine line, long nanos) {
        Connection connection = connections.get(line.connectionId);
        if (connection == null) {
            connection = open(line.connectionId, nanos);
            if (connection == null) {
                withoutRoom(line, nanos);
                return;
            }
        }
        if (!count(connection, line, nanos)) {
            request(line, nanos);
        }
    }

    /** Gives false where the connection was forgotten in this moment. */
    private boolean count(Connection connection, RequestLogLine line, long nanos) {
        DumpRecord refused = null;
        DumpRecord opened = null;
        DumpRecord closedLate = null;
        synchronized (connection) {
            if (connection.isForgotten) {
                return false;
            }
            connection.lastSeenTicks = ticks.getAsLong();
            if (connection.isOfBroker) {
                return true;
            }
            boolean isFirst = !connection.use.hasRequests();
            int before = connection.use.heapBytes();
            update(connection, line, nanos);
            if (isFirst || connection.use.heapBytes() != before) {
                account(connection);
            }
            if (connection.isOfBroker) {
                return true;
            }
            if (line.apiKey == GET_TELEMETRY_SUBSCRIPTIONS) {
                subscribed(line);
            } else if (line.apiKey == PUSH_TELEMETRY) {
                refused = RefusedPush.of(line, connection.client, nanos, identifiers);
            }
            if (isFirst && connection.closedNanos == null) {
                connection.isHeldBack |= isOneOfMany(connection.client.clientAddress);
                if (!connection.isHeldBack) {
                    opened = connection.event(ConnectionEvent.Kind.OPENED, Math.max(nanos, connection.openedNanos), identifiers);
                }
            }
            if (connection.closedNanos != null && !connection.isHeldBack) {
                closedLate = connection.event(ConnectionEvent.Kind.CLOSED, connection.closedNanos, identifiers);
            }
        }
        hand(opened);
        hand(refused);
        hand(closedLate);
        return true;
    }

    private void hand(DumpRecord record) {
        if (record != null) {
            sink.accept(record);
        }
    }

    private void subscribed(RequestLogLine line) {
        int interval = line.numberIn("\"response\":{", "\"pushIntervalMs\":");
        String instance = line.textIn("\"response\":{", "\"clientInstanceId\":");
        if (interval > 0 && instance != null && line.errorCode() == 0) {
            if (pushIntervals.size() >= MAX_PUSH_INTERVALS) {
                pushIntervals.clear();
            }
            pushIntervals.put(Uuid.fromString(instance), interval);
        }
    }

    /** As the broker told that instance when it last asked, if that was seen; -1 otherwise. */
    public int pushIntervalMs(Uuid instance) {
        return pushIntervals.getOrDefault(instance, -1);
    }

    /** For once, and only to be summed up. */
    private void withoutRoom(RequestLogLine line, long nanos) {
        Connection passing = new Connection(line.connectionId, nanos, 0);
        update(passing, line, nanos);
        if (!passing.isOfBroker) {
            if (line.apiKey == PUSH_TELEMETRY) {
                hand(RefusedPush.of(line, passing.client, nanos, identifiers));
            }
            summaries.add(passing, line.apiKey == RequestLogLine.API_VERSIONS ? 1 : 0);
        }
    }

    /** Null where there is no room. */
    private Connection open(String id, long nanos) {
        while (heldBytes.get() >= maxBytes) {
            Connection oldest = closed.poll();
            if (oldest == null) {
                return null;
            }
            sumUp(oldest);
            forget(oldest);
        }
        Long acceptedNanos = accepted.remove(ConnectionId.remote(id));
        return connections.computeIfAbsent(id, each -> {
            Connection connection = new Connection(each, acceptedNanos == null ? nanos : acceptedNanos, ticks.getAsLong());
            account(connection);
            return connection;
        });
    }

    private void forget(Connection connection) {
        synchronized (connection) {
            if (connections.remove(connection.client.connectionId, connection)) {
                connection.isForgotten = true;
                heldBytes.addAndGet(-connection.accountedBytes);
                connection.accountedBytes = 0;
            }
        }
    }

    private void account(Connection connection) {
        int bytes = connection.heapBytes();
        heldBytes.addAndGet(bytes - connection.accountedBytes);
        connection.accountedBytes = bytes;
    }

    private boolean isOneOfMany(String address) {
        synchronized (openedOfAddress) {
            openedInAll++;
            return openedInAll > TOLD_IN_ALL || openedOfAddress.merge(String.valueOf(address), 1, Integer::sum) > TOLD_OF_ADDRESS;
        }
    }

    private void update(Connection connection, RequestLogLine line, long nanos) {
        ClientConnection client = connection.client;
        client.listenerName = line.listener;
        client.securityProtocol = line.securityProtocol;
        if (line.apiKey >= 0 && APIS_OF_BROKERS.get(line.apiKey) && line.errorCode() != CLUSTER_AUTHORIZATION_FAILED) {
            connection.isOfBroker = true;
        }
        String id = line.clientId;
        boolean isNewId = id != null && !id.equals(client.clientId);
        connection.isOfBroker = connection.isOfBroker || listeners.isOfControllers(line.listener)
                || leftOut.contains(line.listener) || leftOut.contains(line.principal)
                || isNewId && (CLIENT_OF_BROKER.matcher(id).matches() || isOfReplicaFetcher(line));
        if (connection.isOfBroker) {
            client.softwareName = line.softwareName;
            client.softwareVersion = line.softwareVersion;
            return;
        }
        if (isNewId) {
            client.clientId = BoundedText.name(id);
        }
        client.principal = BoundedText.principal(line.principal);
        boolean isRejected = false;
        if (line.apiKey == RequestLogLine.API_VERSIONS) {
            isRejected = apiVersions(client, line);
        } else {
            client.softwareName = BoundedText.name(line.softwareName);
            client.softwareVersion = BoundedText.name(line.softwareVersion);
            ids(connection.use, line);
        }
        if (!connection.count(line.apiKey, line.apiVersion, isRejected, nanos)) {
            drops.count(Drops.Reason.REGISTRY_FULL, 1);
        }
    }

    private static boolean isOfReplicaFetcher(RequestLogLine line) {
        boolean mayBe = line.apiKey == FETCH || line.apiKey == LIST_OFFSETS || line.apiKey == OFFSET_FOR_LEADER_EPOCH;
        return mayBe && line.numberIn("\"request\":{", "\"replicaId\":") >= 0;
    }

    /**
     * The broker logs this request with the name from before it, and registers what it says afterwards: what the client
     * sent, or "unknown" for a request older than version 3. A refused one registers nothing.
     */
    private boolean apiVersions(ClientConnection client, RequestLogLine line) {
        int error = line.numberIn("\"response\":{", "\"errorCode\":");
        client.softwareName = BoundedText.name(line.softwareName);
        client.softwareVersion = BoundedText.name(line.softwareVersion);
        String name = BoundedText.name(line.textInRequest("\"clientSoftwareName\":"));
        if (name != null) {
            client.sentSoftwareName = name;
            client.sentSoftwareVersion = BoundedText.name(line.textInRequest("\"clientSoftwareVersion\":"));
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
    private static void ids(ClientUse use, RequestLogLine line) {
        switch (line.apiKey) {
            case 0: // Produce
                if (line.requestStartsWith("\"transactionalId\":\"")) {
                    use.addTransactionalId(line.textInRequest("\"transactionalId\":"));
                }
                break;
            case 22: // InitProducerId
            case 26: // EndTxn
                use.addTransactionalId(line.textInRequest("\"transactionalId\":"));
                break;
            case 25: // AddOffsetsToTxn
            case 28: // TxnOffsetCommit
                use.addTransactionalId(line.textInRequest("\"transactionalId\":"));
                use.addGroup(line.textInRequest("\"groupId\":"));
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
                use.addGroup(line.textInRequest("\"groupId\":"));
                break;
            default:
        }
    }

    /** A line of the acceptor. */
    public void accepted(String message, long millis) {
        Matcher found = ACCEPTED.matcher(message);
        if (found.find()) {
            accepted.put(found.group(1), millis * NANOS_PER_MILLI);
        }
    }

    /** A line of the broker's Selector; those of the broker's own clients are about other connections. */
    public void selected(String message, Throwable error, long millis) {
        if (!message.startsWith("[SocketServer")) {
            return;
        }
        Matcher found = DISCONNECTED.matcher(message);
        if (found.find()) {
            close(found.group(1), millis * NANOS_PER_MILLI, null);
            return;
        }
        String failed = failedLogins.line(message, error, millis * NANOS_PER_MILLI);
        if (failed != null) {
            accepted.remove(ConnectionId.remote(failed));
            failing.add(ticks.getAsLong());
        }
    }

    /** A line of the broker's network processor. */
    public void refused(String message, Throwable error, long millis) {
        Refusal refusal = Refusal.parse(message, error);
        if (refusal != null) {
            close(refusal.connectionId, millis * NANOS_PER_MILLI, refusal);
        }
    }

    private void close(String id, long nanos, Refusal refusal) {
        Connection connection = connections.get(id);
        if (connection == null) {
            boolean isKnown = accepted.containsKey(ConnectionId.remote(id));
            boolean isWorthIt = (refusal != null || reportsSilent && isKnown) && !isOfOthers(id);
            connection = isWorthIt ? open(id, nanos) : null;
            if (connection == null) {
                accepted.remove(ConnectionId.remote(id));
                if (isWorthIt) { // no room
                    Connection passing = new Connection(id, nanos, 0);
                    count(passing, refusal, nanos);
                    summaries.add(passing, 1);
                }
                return;
            }
        }
        DumpRecord record = null;
        synchronized (connection) {
            if (connection.closedNanos != null || connection.isOfBroker) {
                connection.closedNanos = nanos;
            } else {
                if (!connection.use.hasRequests()) {
                    connection.isHeldBack |= isOneOfMany(connection.client.clientAddress);
                }
                count(connection, refusal, nanos);
                connection.closedNanos = nanos;
                if (!connection.isHeldBack) {
                    record = connection.event(ConnectionEvent.Kind.CLOSED, nanos, identifiers);
                }
            }
            connection.lastSeenTicks = ticks.getAsLong();
        }
        closed.add(connection);
        hand(record);
    }

    /** By the port: before its first request in the log, a connection names no listener. */
    private boolean isOfOthers(String id) {
        Listeners.Listener listener = listeners.onPort(ConnectionId.localPort(id));
        return listener != null && (leftOut.contains(listener.name) || listeners.isOfControllers(listener.name));
    }

    private static void count(Connection connection, Refusal refusal, long nanos) {
        if (refusal != null && refusal.apiKey >= 0) {
            connection.count(refusal.apiKey, refusal.apiVersion, true, nanos);
        }
    }

    /** Lets go of connections that closed some time ago, with what was logged of them since they were summed up. Each second. */
    public void drain() {
        long before = ticks.getAsLong() - FAILED_NANOS;
        failing.removeIf(each -> each < before);
        drain(ticks.getAsLong() - LATE_NANOS);
    }

    /** Lets go of all that closed, when no request comes any more. */
    public void drainAll() {
        drain(ticks.getAsLong());
    }

    private void drain(long before) {
        for (Connection oldest = closed.peek(); oldest != null && oldest.lastSeenTicks <= before; oldest = closed.peek()) {
            closed.remove(oldest);
            sumUp(oldest);
            forget(oldest);
        }
    }

    /** What is in no sum yet of a connection of a storm that closed; more may come, which is added up from naught. */
    private void sumUp(Connection connection) {
        synchronized (connection) {
            boolean isWhole = !connection.isSummedUp;
            if (!connection.isHeldBack || connection.isOfBroker || !isWhole && !connection.use.hasRequests()) {
                return;
            }
            summaries.add(connection, isWhole ? 1 : 0);
            connection.isSummedUp = true;
            connection.use = new ClientUse();
            if (!connection.isForgotten) {
                account(connection);
            }
        }
    }

    /**
     * Snapshots of connections that had requests since the last one, or of all; sums of those that were not told one by
     * one; and forgets those that were idle too long. Straight to `out`, while no connection is locked: it may be a disk.
     */
    public void snapshot(boolean all, long nowMillis, Consumer<DumpRecord> out) {
        long nowNanos = nowMillis * NANOS_PER_MILLI;
        long nowTicks = ticks.getAsLong();
        List<DumpRecord> records = new ArrayList<>(2);
        for (Connection connection : connections.values()) {
            synchronized (connection) {
                if (connection.closedNanos == null) {
                    boolean isTold = !connection.isOfBroker && (connection.hasNewRequests || all && connection.use.hasRequests());
                    if (isTold) {
                        connection.hasNewRequests = false;
                        if (connection.isHeldBack) {
                            connection.isHeldBack = false;
                            records.add(connection.event(ConnectionEvent.Kind.OPENED, nowNanos, identifiers));
                        }
                        records.add(connection.event(ConnectionEvent.Kind.ACTIVE, nowNanos, identifiers));
                    } else if (nowTicks - connection.lastSeenTicks > idleNanos) {
                        forget(connection);
                    }
                }
            }
            records.forEach(out);
            records.clear();
        }
        tellStorms(nowMillis, out);
        tellFailedLogins(out);
        synchronized (accepted) { // the broker closed them for idleness, which is not logged
            accepted.values().removeIf(each -> nowNanos - each > Math.max(brokersIdleMillis, LATE_NANOS / NANOS_PER_MILLI) * NANOS_PER_MILLI);
        }
        synchronized (openedOfAddress) {
            openedOfAddress.clear();
            openedInAll = 0;
        }
    }

    /**
     * What a storm left in memory only, which a killed broker loses, so twice a second: sums of connections that closed, and
     * connections that last.
     */
    public void tellStorms(long nowMillis, Consumer<DumpRecord> out) {
        long nowTicks = ticks.getAsLong();
        for (Connection connection : closed) {
            if (!connection.isSummedUp && connection.lastSeenTicks <= nowTicks - SETTLED_NANOS) {
                sumUp(connection);
            }
        }
        tellLasting(nowMillis * NANOS_PER_MILLI, nowTicks - LASTING_NANOS, out);
        summaries.take(nowMillis * NANOS_PER_MILLI).forEach(out);
    }

    /** Repetitions of failed logins since the last call. */
    public void tellFailedLogins(Consumer<DumpRecord> out) {
        failedLogins.take().forEach(out);
    }

    private void tellLasting(long nowNanos, long openedBeforeTicks, Consumer<DumpRecord> out) {
        int told = 0;
        for (Connection connection : connections.values()) {
            List<DumpRecord> records = List.of();
            synchronized (connection) {
                boolean isTold = connection.isHeldBack && !connection.isOfBroker && connection.closedNanos == null
                        && connection.use.hasRequests() && connection.openedTicks <= openedBeforeTicks;
                if (isTold) {
                    connection.isHeldBack = false;
                    connection.hasNewRequests = false;
                    records = List.of(connection.event(ConnectionEvent.Kind.OPENED, nowNanos, identifiers),
                            connection.event(ConnectionEvent.Kind.ACTIVE, nowNanos, identifiers));
                    told++;
                }
            }
            records.forEach(out);
            if (told == TOLD_AT_ONCE) {
                return; // a storm does not fill the spool faster: the others are told next time
            }
        }
    }

    /** How many connections it holds. */
    public int size() {
        return connections.size();
    }

    /** What it holds in memory, near enough for a bound. */
    public long heldBytes() {
        return heldBytes.get();
    }

    /** Requests in the log since the start, the brokers' own and forwarded ones too: as the broker counts them. */
    long requests() {
        return requests.sum();
    }

    /** Failed logins in the log since the start. */
    public long failedLogins() {
        return failedLogins.count();
    }

    boolean isOfControllers(String listener) {
        return listeners.isOfControllers(listener);
    }

    /** Connections that have asked nothing yet, and those of failed logins that the broker has not closed yet. */
    int withoutRequests() {
        return accepted.size() + failing.size();
    }

    /** Open connections by {@link BrokerMetrics#software}, but for those of controllers; other brokers' count too. */
    Map<String, Long> openBySoftware() {
        long now = ticks.getAsLong();
        Map<String, Long> open = new HashMap<>();
        for (Connection connection : connections.values()) {
            synchronized (connection) {
                ClientConnection client = connection.client;
                if (connection.closedNanos == null && now - connection.lastSeenTicks <= idleNanos && !listeners.isOfControllers(client.listenerName)) {
                    open.merge(client.softwareName + "\n" + client.softwareVersion, 1L, Long::sum);
                }
            }
        }
        return open;
    }

    /** A line of an answered ApiVersions request since the last call of this; null if there was none. */
    public String takeApiVersionsLine() {
        String line = apiVersionsLine;
        apiVersionsLine = null;
        return line;
    }

    /** A line could not be understood or kept. */
    public void failed(String message, Throwable error) {
        drops.count(Drops.Reason.FAILED, 1);
        if (!isFailureReported) {
            isFailureReported = true;
            LOG.warn("The broker's log has lines that the plugin does not understand; what they tell is not counted. The first: {}",
                    message.substring(0, Math.min(500, message.length())), error);
        }
    }
}
