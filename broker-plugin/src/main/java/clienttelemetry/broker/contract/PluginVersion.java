package clienttelemetry.broker.contract;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/** What this plugin is, from a file that its build writes. */
public final class PluginVersion {
    public static final String NAME;
    public static final String VERSION;

    static {
        Properties properties = new Properties();
        try (InputStream file = PluginVersion.class.getResourceAsStream("/clienttelemetry/plugin.properties")) {
            if (file != null) {
                properties.load(file);
            }
        } catch (IOException e) {
            properties.clear(); // then it is not known
        }
        NAME = properties.getProperty("name", "unknown");
        VERSION = properties.getProperty("version", "unknown");
    }

    private PluginVersion() {}
}
