import java.io.File;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Prints what a Kafka release defines of its configuration: the ConfigDef of brokers and that of topics. The jars of the release are on
 * the class path; nothing of it is compiled against, as its classes have moved. One JSON object per line:
 * {"scope", "jar", "class"} and then {"key", "type", "default", "kind": value, null or required, "valid": as Kafka documents it, "internal"}.
 */
public final class BrokerConfiguration {
    private static final Map<String, List<String>> CLASSES = new TreeMap<>(Map.of(
        "broker", List.of("kafka.server.KafkaConfig$", "org.apache.kafka.server.config.AbstractKafkaConfig"),
        "topic", List.of("org.apache.kafka.storage.internals.log.LogConfig", "kafka.log.LogConfig$")));
    private static final List<String> NAMES = List.of("configDef", "CONFIG_DEF", "CONFIG");

    private BrokerConfiguration() {
    }

    public static void main(String[] arguments) throws Exception {
        Class<?> definition = Class.forName("org.apache.kafka.common.config.ConfigDef");
        for (Map.Entry<String, List<String>> scope : CLASSES.entrySet()) {
            print(scope.getKey(), scope.getValue(), definition);
        }
    }

    private static void print(String scope, List<String> names, Class<?> definition) throws Exception {
        for (String name : names) {
            Class<?> owner;
            try {
                owner = Class.forName(name);
            } catch (ClassNotFoundException e) {
                continue;
            }
            Object found = definition(owner, definition);
            if (found != null) {
                String jar = new File(owner.getProtectionDomain().getCodeSource().getLocation().toURI()).getName();
                System.out.printf("{\"scope\":%s,\"jar\":%s,\"class\":%s}%n", quoted(scope), quoted(jar), quoted(name.replace("$", "")));
                printKeys(found, definition);
                return;
            }
        }
        throw new IllegalStateException("no ConfigDef of " + scope + " in " + names);
    }

    private static Object definition(Class<?> owner, Class<?> definition) throws Exception {
        Object instance = null;
        for (Field field : owner.getDeclaredFields()) {
            if (field.getName().equals("MODULE$")) {
                instance = field.get(null);
            }
        }
        for (String name : NAMES) {
            for (Field field : owner.getDeclaredFields()) {
                if (definition.isAssignableFrom(field.getType()) && isCalled(field, name) && isReachable(field, instance)) {
                    return opened(field).get(instance);
                }
            }
            for (Method method : owner.getDeclaredMethods()) {
                boolean returnsIt = definition.isAssignableFrom(method.getReturnType()) && method.getParameterCount() == 0;
                if (returnsIt && isCalled(method, name) && isReachable(method, instance)) {
                    return opened(method).invoke(instance);
                }
            }
        }
        return null;
    }

    private static boolean isCalled(Member member, String name) {
        return member.getName().equals(name) || member.getName().endsWith("$$" + name);
    }

    private static boolean isReachable(Member member, Object instance) {
        return instance != null || Modifier.isStatic(member.getModifiers());
    }

    private static <T extends AccessibleObject> T opened(T member) {
        member.setAccessible(true);
        return member;
    }

    private static void printKeys(Object found, Class<?> definition) throws Exception {
        Object noDefault = definition.getField("NO_DEFAULT_VALUE").get(null);
        Map<?, ?> keys = (Map<?, ?>) definition.getMethod("configKeys").invoke(found);
        for (Object key : new TreeMap<>(keys).values()) {
            Object value = value(key, "defaultValue");
            Object type = value(key, "type");
            String kind = value == null ? "null" : value.equals(noDefault) ? "required" : "value";
            String text = kind.equals("value") ? text(definition, value, type) : "";
            System.out.printf(
                "{\"key\":%s,\"type\":%s,\"default\":%s,\"kind\":%s,\"valid\":%s,\"internal\":%s}%n",
                quoted(value(key, "name").toString()), quoted(type.toString().toLowerCase()), quoted(text), quoted(kind),
                quoted(valid(value(key, "validator"))), isInternal(key));
        }
    }

    private static String text(Class<?> definition, Object value, Object type) throws Exception {
        return (String) definition.getMethod("convertToString", Object.class, type.getClass()).invoke(null, value, type);
    }

    /** Empty for a validator without words of its own. */
    private static String valid(Object validator) {
        String words = validator == null ? "" : validator.toString();
        return validator == null || words.startsWith(validator.getClass().getName()) ? "" : words;
    }

    /** Keys are marked so since the release that has the field. */
    private static boolean isInternal(Object key) throws Exception {
        for (Field field : key.getClass().getFields()) {
            if (field.getName().equals("internalConfig")) {
                return field.getBoolean(key);
            }
        }
        return false;
    }

    private static Object value(Object key, String name) throws Exception {
        return opened(key.getClass().getField(name)).get(key);
    }

    private static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (char each : text.toCharArray()) {
            if (each < ' ' || each == '"' || each == '\\' || each > '~') {
                json.append(String.format("\\u%04x", (int) each));
            } else {
                json.append(each);
            }
        }
        return json.append('"').toString();
    }
}
