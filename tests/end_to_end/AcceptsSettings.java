import java.io.FileInputStream;
import java.lang.reflect.InvocationTargetException;
import java.util.Map;
import java.util.Properties;

/** Says whether a broker release takes a properties file: makes its KafkaConfig of it. */
public final class AcceptsSettings {
    private AcceptsSettings() {
    }

    public static void main(String[] arguments) throws Exception {
        Properties settings = new Properties();
        try (FileInputStream file = new FileInputStream(arguments[0])) {
            settings.load(file);
        }
        try {
            Class.forName("kafka.server.KafkaConfig").getConstructor(Map.class).newInstance(settings);
            System.out.println("accepted");
        } catch (InvocationTargetException e) {
            System.out.println(e.getCause().getMessage());
        }
    }
}
