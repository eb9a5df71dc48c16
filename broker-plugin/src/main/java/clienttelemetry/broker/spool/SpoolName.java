package clienttelemetry.broker.spool;

import clienttelemetry.broker.contract.Dataset;
import clienttelemetry.broker.contract.Hour;
import java.nio.file.Path;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the name of an object in the spool says: what it holds, and from which sequence on. */
public final class SpoolName {
    private static final Pattern NAME =
            Pattern.compile("(client_pushes|connections)_([0-9-]{10}T[0-9]{2})_([0-9]{20})\\.(zst|open)");

    final Path folder;
    final Dataset dataset;
    final Hour hour;
    final long firstSequence;

    public SpoolName(Path folder, Dataset dataset, Hour hour, long firstSequence) {
        this.folder = folder;
        this.dataset = dataset;
        this.hour = hour;
        this.firstSequence = firstSequence;
    }

    /** Null for a file of another kind. */
    public static SpoolName parse(Path file) {
        Matcher name = NAME.matcher(file.getFileName().toString());
        return name.matches()
                ? new SpoolName(file.getParent(), Dataset.named(name.group(1)), Hour.parse(name.group(2)), Long.parseLong(name.group(3)))
                : null;
    }

    /** Where the object lies when it is finished. */
    public Path finished() {
        return file("zst");
    }

    /** Where it lies while it still takes records. */
    public Path open() {
        return file("open");
    }

    private Path file(String ending) {
        return folder.resolve(String.format(Locale.ROOT, "%s_%s_%020d.%s", dataset.folder(), hour, firstSequence, ending));
    }
}
