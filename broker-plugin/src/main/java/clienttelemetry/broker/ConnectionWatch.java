package clienttelemetry.broker;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;

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
    /** When sampling began and ended; the last one may be open, which is an end of null. */
    private final List<Instant[]> windows = new ArrayList<>();

    /** @param tap gives what listens to a logger: {@link LogTap#on} */
    ConnectionWatch(Settings settings, ConnectionRegistry registry, BiFunction<String, LogTap.Listener, LogTap> tap) {
        mode = settings.watch;
        sampledMinutes = settings.sampledMinutes;
        requests = tap.apply("kafka.request.logger", (message, error, millis) -> registry.request(message, millis));
        acceptor = tap.apply("kafka.network.DataPlaneAcceptor", (message, error, millis) -> registry.accepted(message, millis));
        selector = tap.apply("org.apache.kafka.common.network.Selector",
                (message, error, millis) -> registry.disconnected(message, millis));
        processor = tap.apply("kafka.network.Processor", registry::refused);
    }

    /** Sets the levels for this moment; gives whether a window of sampling has just ended. */
    boolean adjust(Instant now) {
        boolean wasOpen = !windows.isEmpty() && windows.get(windows.size() - 1)[1] == null;
        boolean isOpen = mode == Settings.Watch.SAMPLED && isInWindow(now);
        if (wasOpen && !isOpen) {
            windows.get(windows.size() - 1)[1] = now;
        } else if (isOpen && !wasOpen) {
            windows.add(new Instant[] {now, null});
        }
        boolean isEveryRequest = mode == Settings.Watch.CONTINUOUS || isOpen;
        LogTap.Detail ofConnections = mode == Settings.Watch.DEPRECATED_ONLY ? null : LogTap.Detail.DEBUG;
        requests.listen(isEveryRequest ? LogTap.Detail.DEBUG
                : mode == Settings.Watch.DEPRECATED_ONLY ? LogTap.Detail.INFO : null);
        acceptor.listen(ofConnections);
        selector.listen(ofConnections);
        processor.listen(null);
        return wasOpen && !isOpen;
    }

    private boolean isInWindow(Instant now) {
        return now.getEpochSecond() % 3600 < sampledMinutes * 60L;
    }

    Settings.Watch mode() {
        return mode;
    }

    /** The windows of an hour until now, as the manifest has them: times of day of the first and the last second. */
    List<String[]> windows(Hour hour, Instant now) {
        Instant end = now.isBefore(hour.end()) ? now : hour.end().minusSeconds(1);
        List<String[]> found = new ArrayList<>();
        for (Instant[] window : windows) {
            Instant from = window[0].isBefore(hour.start()) ? hour.start() : window[0];
            Instant to = window[1] == null || window[1].isAfter(end) ? end : window[1];
            if (!from.isAfter(to)) {
                found.add(new String[] {TIME.format(from), TIME.format(to)});
            }
        }
        return found;
    }

    /** Windows that ended before this hour are told no more. */
    void forgetBefore(Hour hour) {
        windows.removeIf(window -> window[1] != null && window[1].isBefore(hour.start()));
    }

    void stop() {
        requests.remove();
        acceptor.remove();
        selector.remove();
        processor.remove();
    }
}
