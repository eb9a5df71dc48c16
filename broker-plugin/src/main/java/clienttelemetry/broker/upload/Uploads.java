package clienttelemetry.broker.upload;

import clienttelemetry.broker.contract.BrokerClock;
import clienttelemetry.broker.contract.Hour;
import clienttelemetry.broker.contract.Incarnation;
import clienttelemetry.broker.contract.PrivateFiles;
import clienttelemetry.broker.contract.Sha256;
import clienttelemetry.broker.manifest.Manifests;
import clienttelemetry.broker.spool.SpooledObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes finished files to the store, a manifest after the files of its hour. One thread; what fails is tried again until
 * it goes or the broker stops, behind all others, so that a file which the store refuses holds up nothing but the end of
 * its own spool. A file leaves the spool when the store has it.
 */
public final class Uploads {
    private static final Logger LOG = LoggerFactory.getLogger(Uploads.class);
    private static final long FIRST_PAUSE_MILLIS = 500;
    private static final long LONGEST_PAUSE_MILLIS = 60_000;
    private static final long REFUSED_PAUSE_MILLIS = 15 * 60_000;
    /** A file that failed so often while others went is refused, whatever the store says. */
    private static final int REFUSED_ATTEMPTS = 5;

    public interface Work {
        void run() throws IOException, InterruptedException;
    }

    private enum Kind {
        OBJECT,
        MANIFEST,
        WORK
    }

    private static final class Task {
        final Kind kind;
        /** What it has to do with; a manifest waits for the objects of its hour, other work for all of its incarnation. */
        final String incarnation;
        final Hour hour;
        final String name;
        /** The file of the spool that goes to the store; null for other work. */
        final Path source;
        final Work work;
        final long since;
        long notBefore;
        int attempts;
        long goneBefore;
        boolean isRefused;

        Task(Kind kind, String incarnation, Hour hour, Path source, Work work, long since) {
            this.kind = kind;
            this.incarnation = incarnation;
            this.hour = hour;
            this.source = source;
            name = source == null ? "spool" : source.getFileName().toString();
            this.work = work;
            this.since = since;
        }

        boolean waitsFor(Task earlier) {
            switch (kind) {
                case MANIFEST:
                    return earlier.kind == Kind.OBJECT && !earlier.isRefused && earlier.incarnation.equals(incarnation)
                            && earlier.hour.equals(hour);
                case WORK:
                    return incarnation != null && incarnation.equals(earlier.incarnation);
                default:
                    return false;
            }
        }
    }

    private final ObjectStore store;
    private final BrokerClock clock;
    /** In the order in which they came; guarded by this. */
    private final ArrayDeque<Task> tasks = new ArrayDeque<>();
    private final Thread thread = new Thread(this::run, "client-telemetry-uploads");
    private boolean isStopping;
    private long storeNotBefore;
    private long pause = FIRST_PAUSE_MILLIS;
    public final AtomicLong uploaded = new AtomicLong();
    public final AtomicLong uploadedBytes = new AtomicLong();
    public final AtomicLong failures = new AtomicLong();

    public Uploads(ObjectStore store, BrokerClock clock) {
        this.store = store;
        this.clock = clock;
        thread.setDaemon(true);
    }

    public void start() {
        thread.start();
    }

    public void object(SpooledObject object, Incarnation broker) {
        add(Kind.OBJECT, broker.id, object.hour(), object.file(), () -> {
            put(object.key(broker), object.file(), object.sha256);
            Files.deleteIfExists(object.file());
        });
    }

    /** A manifest as it is in the spool when its turn comes; it leaves the spool unless it changed meanwhile. */
    public void manifest(Path file, Hour hour, Incarnation broker) {
        add(Kind.MANIFEST, broker.id, hour, file, () -> {
            byte[] content = Files.readAllBytes(file);
            Path copy = PrivateFiles.write(file.resolveSibling(file.getFileName() + ".upload"), content);
            put(hour.manifestKey(broker), copy, Sha256.hex(Sha256.begin().digest(content)));
            Files.deleteIfExists(copy);
            Manifests.deleteIfSame(file, content);
        });
    }

    /** Something to do when everything of an incarnation has gone; at once, where that is null. */
    public void then(String incarnation, Work work) {
        add(Kind.WORK, incarnation, null, null, work);
    }

    private synchronized void add(Kind kind, String incarnation, Hour hour, Path source, Work work) {
        tasks.add(new Task(kind, incarnation, hour, source, work, clock.millis()));
        notifyAll();
    }

    private void put(String key, Path file, String sha256) throws IOException, InterruptedException {
        long bytes = Files.size(file);
        store.put(key, file, sha256);
        uploaded.incrementAndGet();
        uploadedBytes.addAndGet(bytes);
        LOG.debug("Uploaded {}, {} bytes", key, bytes);
    }

    private void run() {
        try {
            for (Task task = next(); task != null; task = next()) {
                attempt(task);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the broker stops; the next start uploads what is left
        }
    }

    /** The first task whose turn it is; null when the broker stops and all is done. */
    private synchronized Task next() throws InterruptedException {
        while (true) {
            Task task = firstDue();
            if (task != null) {
                return task;
            }
            if (isStopping && tasks.isEmpty()) {
                return null;
            }
            wait(100);
        }
    }

    /** One attempt, if a task is due; for tests that have no thread. */
    public boolean attemptOne() throws InterruptedException {
        Task task;
        synchronized (this) {
            task = firstDue();
        }
        if (task != null) {
            attempt(task);
        }
        return task != null;
    }

    private Task firstDue() {
        long now = clock.millis();
        if (now < storeNotBefore) {
            return null;
        }
        for (Task task : tasks) {
            if (now >= task.notBefore && tasks.stream().takeWhile(each -> each != task).noneMatch(task::waitsFor)
                    && tasks.stream().noneMatch(each -> task.kind == Kind.MANIFEST && task.waitsFor(each))) {
                return task;
            }
        }
        return null;
    }

    private void attempt(Task task) throws InterruptedException {
        try {
            task.work.run();
            succeeded(task);
        } catch (NoSuchFileException e) {
            if (task.source != null && Files.exists(task.source)) { // what is missing is the store's own folder
                failed(task, e);
                return;
            }
            LOG.error("A file of the spool is gone before it was uploaded: {}", e.getFile());
            succeeded(task);
        } catch (IOException | RuntimeException | Error e) { // this thread is all there is: it goes on
            failed(task, e);
        }
    }

    private synchronized void succeeded(Task task) {
        tasks.remove(task);
        pause = FIRST_PAUSE_MILLIS;
        if (task.attempts > 0) {
            LOG.info("The upload of {} went through at attempt {}.", task.name, task.attempts + 1);
        }
    }

    private synchronized void failed(Task task, Throwable error) {
        failures.incrementAndGet();
        long gone = uploaded.get();
        if (task.attempts++ == 0) {
            task.goneBefore = gone;
        }
        boolean isForThisOne = error instanceof RefusedObject || task.attempts >= REFUSED_ATTEMPTS && gone > task.goneBefore;
        long rest;
        if (isForThisOne) {
            task.isRefused = true;
            rest = Math.min(REFUSED_PAUSE_MILLIS, LONGEST_PAUSE_MILLIS * task.attempts);
            task.notBefore = clock.millis() + (isStopping ? FIRST_PAUSE_MILLIS : rest);
        } else {
            rest = isStopping ? FIRST_PAUSE_MILLIS : pause / 2 + ThreadLocalRandom.current().nextLong(pause);
            storeNotBefore = clock.millis() + rest;
            pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
        }
        if (tasks.remove(task)) {
            tasks.add(task); // others first
        }
        LOG.warn("Upload of {} {} (attempt {}, {} waiting); next attempt in about {} s: {}", task.name,
                isForThisOne ? "was refused" : "failed", task.attempts, tasks.size(), rest / 1000 + 1, error.toString());
    }

    /** How long the oldest file has been waiting. */
    public synchronized double lagSeconds() {
        long oldest = tasks.stream().mapToLong(each -> each.since).min().orElse(clock.millis());
        return (clock.millis() - oldest) / 1000.0;
    }

    public synchronized int waiting() {
        return tasks.size();
    }

    public synchronized int refused() {
        return (int) tasks.stream().filter(each -> each.isRefused).count();
    }

    /** Uploads what it can in this time. Gives whether everything went. */
    public boolean stop(Duration timeout) throws InterruptedException {
        synchronized (this) {
            isStopping = true;
            storeNotBefore = clock.millis(); // a pause may be a minute long
            tasks.forEach(each -> each.notBefore = clock.millis());
            notifyAll();
        }
        thread.join(Math.max(1, timeout.toMillis()));
        thread.interrupt();
        synchronized (this) {
            return tasks.isEmpty();
        }
    }
}
