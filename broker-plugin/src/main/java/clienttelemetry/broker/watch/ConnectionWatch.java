package clienttelemetry.broker.watch;

import clienttelemetry.broker.contract.Hour;
import clienttelemetry.broker.registry.ConnectionRegistry;
import clienttelemetry.broker.settings.Settings;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.BiFunction;

/** Decides when the broker's loggers are listened to, and keeps account of it for the manifest. For one thread. */
public final class ConnectionWatch {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);

    private final ConnectionRegistry registry;
    private final int brokerId;
    private Settings.Watch mode;
    private int sampledFrom;
    private int sampledMinutes;
    /** Since the last call of {@link #forgetBefore}. */
    private final Set<Settings.Watch> modes = EnumSet.noneOf(Settings.Watch.class);
    private final LogTap requests;
    private final LogTap acceptor;
    private final LogTap selector;
    private final LogTap processor;
    /** When watching every request began and ended; the last one may be open, which is an end of null. */
    private final List<Instant[]> windows = new ArrayList<>();
    private Instant last;
    private boolean isEveryRequestWanted;

    /** @param tap gives what listens to a logger: {@link LogTaps#on} */
    public ConnectionWatch(Settings settings, int brokerId, ConnectionRegistry registry, BiFunction<String, LogTap.Listener, LogTap> tap) {
        this.registry = registry;
        this.brokerId = brokerId;
        configure(settings);
        requests = tap.apply("kafka.request.logger", guarded((message, error, millis) -> registry.request(message, millis)));
        acceptor = tap.apply("kafka.network.DataPlaneAcceptor", guarded((message, error, millis) -> registry.accepted(message, millis)));
        selector = tap.apply("org.apache.kafka.common.network.Selector", guarded(registry::selected));
        processor = tap.apply("kafka.network.Processor", guarded(registry::refused));
    }

    /** Loggers are called on the threads that serve the network: what is thrown here would end a connection, or more. */
    private LogTap.Listener guarded(LogTap.Listener listener) {
        return (message, error, millis) -> {
            try {
                listener.event(message, error, millis);
            } catch (RuntimeException | Error e) {
                registry.failed(message, e);
            }
        };
    }

    /** From the next {@link #adjust} on. */
    public void configure(Settings settings) {
        mode = settings.watch;
        sampledMinutes = settings.sampledMinutes;
        int windowsOfAnHour = 60 / sampledMinutes; // brokers sample one after the other
        sampledFrom = settings.sampledFromMinute >= 0 ? settings.sampledFromMinute : Math.floorMod(brokerId, windowsOfAnHour) * sampledMinutes;
        registry.watched(mode == Settings.Watch.CONTINUOUS);
    }

    /** Whether every request is to be watched at this moment. */
    public boolean isForEveryRequest(Instant now) {
        return mode == Settings.Watch.CONTINUOUS || mode == Settings.Watch.SAMPLED && isInWindow(now);
    }

    /**
     * Sets the levels for this moment; gives whether a window of sampling has just ended. A window does not reach over a
     * step of the time of day.
     */
    public boolean adjust(Instant now, boolean hasStepped) {
        modes.add(mode);
        boolean wasOpen = !windows.isEmpty() && windows.get(windows.size() - 1)[1] == null;
        boolean isOpen = isForEveryRequest(now);
        if (wasOpen && (!isOpen || hasStepped)) {
            windows.get(windows.size() - 1)[1] = hasStepped ? last : now;
        }
        if (isOpen && (!wasOpen || hasStepped)) {
            windows.add(new Instant[] {now, null});
        }
        last = now;
        isEveryRequestWanted = isOpen;
        if (mode == Settings.Watch.OFF) {
            stop();
        } else {
            hold();
        }
        return wasOpen && !isOpen;
    }

    /** Listens on, as the last {@link #adjust} said: reload4j has one level for each logger, which others set, too. */
    public void hold() {
        if (last == null || mode == Settings.Watch.OFF) {
            return;
        }
        boolean isDeprecatedOnly = mode == Settings.Watch.DEPRECATED_ONLY;
        requests.listen(isEveryRequestWanted ? LogTap.Detail.DEBUG
                : isDeprecatedOnly ? LogTap.Detail.INFO : null);
        acceptor.listen(isDeprecatedOnly ? null : LogTap.Detail.DEBUG);
        selector.listen(isDeprecatedOnly ? LogTap.Detail.INFO : LogTap.Detail.DEBUG); // INFO: failed logins
        processor.listen(LogTap.Detail.ERROR);
    }

    private boolean isInWindow(Instant now) {
        long second = Math.floorMod(now.getEpochSecond(), 3600L);
        return second >= sampledFrom * 60L && second < (sampledFrom + sampledMinutes) * 60L;
    }

    public Settings.Watch mode() {
        return mode;
    }

    /** Of the hour: what was watched throughout it. Sampled, where it changed within the hour and all was watched at times. */
    public Settings.Watch modeOfHour() {
        if (modes.size() <= 1) {
            return mode;
        }
        boolean isAllAtTimes = modes.contains(Settings.Watch.CONTINUOUS) || modes.contains(Settings.Watch.SAMPLED);
        return isAllAtTimes ? Settings.Watch.SAMPLED : Settings.Watch.DEPRECATED_ONLY;
    }

    /** The windows of an hour until now, as the manifest has them: times of day of the first and the last second. */
    public List<String[]> windows(Hour hour, Instant now) {
        if (modeOfHour() != Settings.Watch.SAMPLED) {
            return List.of();
        }
        Instant end = now.isBefore(hour.end()) ? now : hour.end().minusSeconds(1);
        List<String[]> found = new ArrayList<>();
        for (Instant[] window : windows) {
            Instant from = window[0].isBefore(hour.start()) ? hour.start() : window[0];
            Instant until = window[1] == null ? last : window[1];
            Instant to = until.isAfter(end) ? end : until;
            if (!from.isAfter(to)) {
                found.add(new String[] {TIME.format(from), TIME.format(to)});
            }
        }
        return found;
    }

    /** Windows that ended before this hour are told no more; nor those after it, where the clock stepped back. */
    public void forgetBefore(Hour hour) {
        modes.clear();
        windows.removeIf(window -> window[1] != null && (window[1].isBefore(hour.start()) || window[0].isAfter(hour.end())));
    }

    public void stop() {
        requests.remove();
        acceptor.remove();
        selector.remove();
        processor.remove();
    }
}
