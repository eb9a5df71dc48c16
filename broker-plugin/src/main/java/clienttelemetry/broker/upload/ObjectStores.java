package clienttelemetry.broker.upload;

import clienttelemetry.broker.settings.Settings;
import java.nio.file.Path;

/** The object store that the settings name. */
public final class ObjectStores {
    private ObjectStores() {}

    public static ObjectStore at(Settings settings) {
        return "s3".equals(settings.location.getScheme())
                ? new S3Store(settings)
                : new FolderStore(Path.of(settings.location.getPath()), settings.isGroupReadable);
    }
}
