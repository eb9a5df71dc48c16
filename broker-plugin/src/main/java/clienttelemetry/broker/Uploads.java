package clienttelemetry.broker;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes finished files to the store, in the order in which they were finished, hence a manifest after its files. One
 * thread; what fails is tried again until it goes or the broker stops. A file leaves the spool when the store has it.
 */
final class Uploads {
    private static final Logger LOG = LoggerFactory.getLogger(Uploads.class);
    private static final long FIRST_PAUSE_MILLIS = 500;
    private static final long LONGEST_PAUSE_MILLIS = 60_000;

    interface Work {
        void run() throws IOException, InterruptedException;
    }

    private static final class Task {
        final Work work;
        final long sinceMillis = System.currentTimeMillis();

        Task(Work work) {
            this.work = work;
        }
    }

    private final ObjectStore store;
    private final LinkedBlockingQueue<Task> tasks = new LinkedBlockingQueue<>();
    private final Thread thread = new Thread(this::run, "client-telemetry-uploads");
    private volatile Task current;
    private volatile boolean isStopping;
    final AtomicLong uploaded = new AtomicLong();
    final AtomicLong uploadedBytes = new AtomicLong();
    final AtomicLong failures = new AtomicLong();

    Uploads(ObjectStore store) {
        this.store = store;
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    void object(SpooledObject object, Incarnation broker) {
        tasks.add(new Task(() -> {
            put(object.key(broker), object.file(), object.sha256);
            Files.deleteIfExists(object.file());
        }));
    }

    /** A manifest as it is in the spool when its turn comes; it leaves the spool unless it changed meanwhile. */
    void manifest(Path file, Hour hour, Incarnation broker) {
        tasks.add(new Task(() -> {
            byte[] content = Files.readAllBytes(file);
            Path copy = Files.write(file.resolveSibling(file.getFileName() + ".upload"), content);
            put(hour.manifestKey(broker), copy, SpoolFile.hex(SpoolFile.sha256().digest(content)));
            Files.deleteIfExists(copy);
            Manifests.deleteIfSame(file, content);
        }));
    }

    /** Something to do in between. */
    void then(Work work) {
        tasks.add(new Task(work));
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
            while (!isStopping || !tasks.isEmpty()) {
                current = tasks.poll(200, TimeUnit.MILLISECONDS);
                if (current != null) {
                    untilDone(current.work);
                    current = null;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the broker stops; the next start uploads what is left
        }
    }

    private void untilDone(Work work) throws InterruptedException {
        long pause = FIRST_PAUSE_MILLIS;
        for (int attempt = 1; ; attempt++) {
            try {
                work.run();
                if (attempt > 1) {
                    LOG.info("The upload went through at attempt {}.", attempt);
                }
                return;
            } catch (NoSuchFileException e) {
                LOG.error("A file of the spool is gone before it was uploaded: {}", e.getFile());
                return;
            } catch (IOException | RuntimeException e) {
                failures.incrementAndGet();
                LOG.warn("Upload failed (attempt {}, {} waiting); next attempt in about {} s: {}", attempt, tasks.size() + 1,
                        pause / 1000 + 1, e.toString());
                rest(pause / 2 + ThreadLocalRandom.current().nextLong(pause));
                pause = isStopping ? FIRST_PAUSE_MILLIS : Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
            }
        }
    }

    /** Until the time is over or the broker begins to stop. */
    private synchronized void rest(long millis) throws InterruptedException {
        boolean isLast = isStopping;
        long end = System.nanoTime() + millis * 1_000_000;
        for (long left = millis; left > 0 && isStopping == isLast; left = (end - System.nanoTime()) / 1_000_000) {
            wait(left);
        }
    }

    /** How long the oldest file has been waiting. */
    double lagSeconds() {
        Task oldest = current;
        if (oldest == null) {
            oldest = tasks.peek();
        }
        return oldest == null ? 0 : (System.currentTimeMillis() - oldest.sinceMillis) / 1000.0;
    }

    int waiting() {
        return tasks.size() + (current == null ? 0 : 1);
    }

    /** Uploads what it can in this time. Gives whether everything went. */
    boolean stop(Duration timeout) throws InterruptedException {
        synchronized (this) {
            isStopping = true;
            notifyAll(); // a pause may be a minute long
        }
        thread.join(Math.max(1, timeout.toMillis()));
        thread.interrupt();
        return !thread.isAlive() && tasks.isEmpty();
    }
}
