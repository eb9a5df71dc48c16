package clienttelemetry.broker;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Decides when the broker's loggers are listened to, and keeps account of it for the manifest. For one thread. */
final class ConnectionWatch {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);

    private final Settings.Watch mode;
    private final int sampledMinutes;
    private final LogTap requests;
    private final LogTap acceptor;
    private final LogTap selector;
    private final LogTap processor;
    private Instant windowStart;
    private final List<String[]> windows = new ArrayList<>();

    ConnectionWatch(Settings settings, ConnectionRegistry registry) {
        mode = settings.watch;
        sampledMinutes = settings.sampledMinutes;
        requests = LogTap.on("kafka.request.logger", (message, error, millis) -> registry.request(message, millis));
        acceptor = LogTap.on("kafka.network.DataPlaneAcceptor", (message, error, millis) -> registry.accepted(message, millis));
        selector = LogTap.on("org.apache.kafka.common.network.Selector",
                (message, error, millis) -> registry.disconnected(message, millis));
        processor = LogTap.on("kafka.network.Processor", registry::refused);
    }

    /** Sets the levels for this moment; gives whether a window of sampling has just ended. */
    boolean adjust(Instant now) {
        boolean isOpen = mode == Settings.Watch.SAMPLED && isInWindow(now);
        boolean hasEnded = windowStart != null && !isOpen;
        if (hasEnded) {
            windows.add(new String[] {TIME.format(windowStart), TIME.format(now)});
            windowStart = null;
        } else if (isOpen && windowStart == null) {
            windowStart = now;
        }
        boolean isEveryRequest = mode == Settings.Watch.CONTINUOUS || isOpen;
        LogTap.Detail ofConnections = mode == Settings.Watch.DEPRECATED_ONLY ? null : LogTap.Detail.DEBUG;
        requests.listen(isEveryRequest ? LogTap.Detail.DEBUG
                : mode == Settings.Watch.DEPRECATED_ONLY ? LogTap.Detail.INFO : null);
        acceptor.listen(ofConnections);
        selector.listen(ofConnections);
        processor.listen(null);
        return hasEnded;
    }

    private boolean isInWindow(Instant now) {
        return now.getEpochSecond() % 3600 < sampledMinutes * 60L;
    }

    Settings.Watch mode() {
        return mode;
    }

    /** The windows of the hour so far, as the manifest has them; `forget` begins another hour. */
    List<String[]> windows(Instant now, boolean forget) {
        List<String[]> all = new ArrayList<>(windows);
        if (windowStart != null) {
            all.add(new String[] {TIME.format(windowStart), TIME.format(now)});
        }
        if (forget) {
            windows.clear();
            windowStart = windowStart == null ? null : now;
        }
        return all;
    }

    void stop() {
        requests.remove();
        acceptor.remove();
        selector.remove();
        processor.remove();
    }
}
