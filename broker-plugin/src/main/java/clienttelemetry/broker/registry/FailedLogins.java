package clienttelemetry.broker.registry;

import clienttelemetry.broker.contract.Drops;
import clienttelemetry.broker.contract.DumpRecord;
import clienttelemetry.broker.identifiers.BoundedText;
import clienttelemetry.broker.identifiers.ConnectionId;
import clienttelemetry.broker.identifiers.IdentifierRules;
import clienttelemetry.broker.settings.Listeners;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Clients that could not log in, from what the broker's Selector logs: nothing else records them. The first failure of
 * its kind is told at once, its repetitions (librdkafka tries again every two seconds) with the next snapshot.
 *
 * <p>The lines are the same from Kafka 3.7 to 4.4, at INFO {@code Failed authentication with /10.0.0.7 (channelId=…)
 * (reason)}, and at WARN {@code Unexpected error from /10.0.0.7 (channelId=…); closing connection} with an exception for
 * bytes that are no Kafka request, or no login.
 */
final class FailedLogins {
    private static final Pattern FAILED = Pattern.compile("Failed authentication with \\S+ \\(channelId=(\\S+)\\) \\((.*)\\)$", Pattern.DOTALL);
    private static final Pattern UNEXPECTED = Pattern.compile("Unexpected error from \\S+ \\(channelId=(\\S+)\\); closing connection");
    private static final Pattern MECHANISM =
            Pattern.compile("SASL mechanism ([A-Z0-9_-]+)|, ([A-Z0-9_-]+) is not supported by server");
    /** The broker's words for a password that PLAIN's server refused, which names no mechanism. */
    private static final String OF_PLAIN = "Authentication failed: Invalid username or password";
    private static final int MAX_REASON_BYTES = 400;
    private static final int MAX_KINDS = 5_000;
    /** Clients choose the names of mechanisms, which are in the reasons: one address could use up all kinds. */
    private static final int MAX_KINDS_OF_ADDRESS = 50;
    private static final String FURTHER_REASONS = "Further reasons of this address, which had too many";

    private final Consumer<DumpRecord> sink;
    private final Drops drops;
    private final Listeners listeners;
    private final IdentifierRules identifiers;
    /** Names of listeners, among others, whose clients are not told of. */
    private final Set<String> leftOut;
    private final Map<String, Failures> kinds = new HashMap<>();
    private final Map<String, Integer> kindsOfAddress = new HashMap<>();
    private final LongAdder count = new LongAdder();

    private static final class Failures {
        final ClientConnection client;
        final String reason;
        long untold;
        long firstNanos;
        long lastNanos;

        Failures(ClientConnection client, String reason) {
            this.client = client;
            this.reason = reason;
        }

        DumpRecord event(long nanos, long count, IdentifierRules identifiers) {
            ConnectionEvent event = new ConnectionEvent(ConnectionEvent.Kind.AUTHENTICATION_FAILED, nanos, client);
            event.openedNanos = firstNanos;
            event.failureReason = reason;
            event.connections = count;
            return event.record(identifiers);
        }
    }

    FailedLogins(Consumer<DumpRecord> sink, Drops drops, Listeners listeners, IdentifierRules identifiers, Set<String> leftOut) {
        this.sink = sink;
        this.drops = drops;
        this.listeners = listeners;
        this.identifiers = identifiers;
        this.leftOut = leftOut;
    }

    /** Gives the connection id of a failed login; null for a line about something else. */
    String line(String message, Throwable error, long nanos) {
        Matcher line = FAILED.matcher(message);
        if (line.find()) {
            failed(line.group(1), line.group(2), nanos);
            return line.group(1);
        }
        line = UNEXPECTED.matcher(message);
        if (line.find()) {
            failed(line.group(1), words(error), nanos);
            return line.group(1);
        }
        return null;
    }

    /** The broker's own words; its causes say what it took the bytes for. */
    private static String words(Throwable error) {
        StringBuilder words = new StringBuilder();
        int depth = 0;
        for (Throwable each = error; each != null && depth < 4; each = each.getCause(), depth++) {
            String message = each.getMessage() == null ? each.getClass().getSimpleName() : each.getMessage();
            String own = message.replaceAll("\\S*Exception: ", "");
            if (words.indexOf(own) < 0) {
                words.append(words.length() == 0 ? "" : "; ").append(own);
            }
        }
        return words.length() == 0 ? "Unexpected error" : words.toString();
    }

    private void failed(String connectionId, String words, long nanos) {
        ClientConnection client = new ClientConnection();
        client.connectionId(connectionId);
        String reason = words;
        if (client.clientAddress != null) { // the reason may be of any client: its address and port make it another each time
            reason = reason.replace(connectionId, "CONNECTION").replace(client.clientAddress + ":" + client.clientPort, "CLIENT")
                    .replace(client.clientAddress, "CLIENT");
        }
        reason = BoundedText.cut(reason, MAX_REASON_BYTES);
        Listeners.Listener listener = listeners.onPort(ConnectionId.localPort(connectionId));
        if (listener != null && leftOut.contains(listener.name)) {
            return;
        }
        count.increment();
        if (listener != null) {
            client.listenerName = listener.name;
            client.securityProtocol = listener.protocol;
        }
        Matcher mechanism = MECHANISM.matcher(reason);
        client.saslMechanism = mechanism.find() ? mechanism.group(1) != null ? mechanism.group(1) : mechanism.group(2)
                : reason.equals(OF_PLAIN) ? "PLAIN" : null;
        DumpRecord first = null;
        synchronized (this) {
            String origin = client.clientAddress + "\n" + client.listenerName;
            String kind = origin + "\n" + client.saslMechanism + "\n" + reason;
            Failures failures = kinds.get(kind);
            if (failures == null && kindsOfAddress.getOrDefault(origin, 0) >= MAX_KINDS_OF_ADDRESS) {
                reason = FURTHER_REASONS;
                client.saslMechanism = null;
                kind = origin + "\n" + reason;
                failures = kinds.get(kind);
            }
            if (failures == null && kinds.size() >= MAX_KINDS) {
                drops.count(Drops.Reason.REGISTRY_FULL, 1);
                return;
            }
            if (failures == null) {
                failures = new Failures(client, reason);
                kinds.put(kind, failures);
                kindsOfAddress.merge(origin, 1, Integer::sum);
                failures.firstNanos = nanos;
                first = failures.event(nanos, 1, identifiers);
                failures.client.connectionId = null; // the repetitions are of other connections
                failures.client.clientPort = -1;
            } else {
                failures.firstNanos = failures.untold == 0 ? nanos : failures.firstNanos;
                failures.untold++;
            }
            failures.lastNanos = nanos;
        }
        if (first != null) {
            sink.accept(first);
        }
    }

    /** Since the start, those too that there was no room to tell of. */
    long count() {
        return count.sum();
    }

    /** The repetitions since the last call; what was not repeated is forgotten. */
    synchronized List<DumpRecord> take() {
        List<DumpRecord> records = new ArrayList<>();
        kinds.values().removeIf(each -> each.untold == 0);
        for (Failures each : kinds.values()) {
            records.add(each.event(each.lastNanos, each.untold, identifiers));
            each.untold = 0;
        }
        kindsOfAddress.clear();
        kinds.values().forEach(each -> kindsOfAddress.merge(each.client.clientAddress + "\n" + each.client.listenerName, 1, Integer::sum));
        return records;
    }
}
