import java.io.File;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * Prints what a Kafka release defines of its configuration: the ConfigDef of brokers and that of topics. The jars of the release are on
 * the class path; nothing of it is compiled against, as its classes have moved. One JSON object per line:
 * {"scope", "jar", "class"} and then {"key", "type", "default", "kind": value, null or required, "valid": as Kafka documents it, "internal"};
 * after both, {"implementation", "jar"} for each class of Kafka that a value can name, and for those of the arguments, the classes of
 * older releases, that there are: a class whose interface has moved is not gone.
 */
public final class BrokerConfiguration {
    private static final Map<String, List<String>> CLASSES = new TreeMap<>(Map.of(
        "broker", List.of("kafka.server.KafkaConfig$", "org.apache.kafka.server.config.AbstractKafkaConfig"),
        "topic", List.of("org.apache.kafka.storage.internals.log.LogConfig", "kafka.log.LogConfig$")));
    private static final List<String> NAMES = List.of("configDef", "CONFIG_DEF", "CONFIG");
    /** What brokers expect of a class that their configuration names, in all releases; a release has some of them. */
    private static final List<String> PLUGGABLE = List.of(
        "javax.security.auth.spi.LoginModule",
        "kafka.metrics.KafkaMetricsReporter",
        "kafka.security.auth.Authorizer",
        "org.apache.kafka.common.config.provider.ConfigProvider",
        "org.apache.kafka.common.metrics.MetricsReporter",
        "org.apache.kafka.common.replica.ReplicaSelector",
        "org.apache.kafka.common.security.auth.AuthenticateCallbackHandler",
        "org.apache.kafka.common.security.auth.KafkaPrincipalBuilder",
        "org.apache.kafka.common.security.auth.Login",
        "org.apache.kafka.common.security.auth.PrincipalBuilder",
        "org.apache.kafka.common.security.auth.SecurityProviderCreator",
        "org.apache.kafka.common.security.auth.SslEngineFactory",
        "org.apache.kafka.common.security.oauthbearer.JwtRetriever",
        "org.apache.kafka.common.security.oauthbearer.JwtValidator",
        "org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor",
        "org.apache.kafka.coordinator.group.api.streams.StreamsGroupTopologyDescriptionPlugin",
        "org.apache.kafka.coordinator.group.api.streams.assignor.TaskAssignor",
        "org.apache.kafka.coordinator.group.assignor.PartitionAssignor",
        "org.apache.kafka.coordinator.group.streams.assignor.TaskAssignor",
        "org.apache.kafka.server.authorizer.Authorizer",
        "org.apache.kafka.server.log.remote.storage.RemoteLogMetadataManager",
        "org.apache.kafka.server.log.remote.storage.RemoteStorageManager",
        "org.apache.kafka.server.policy.AlterConfigPolicy",
        "org.apache.kafka.server.policy.CreateTopicPolicy",
        "org.apache.kafka.server.quota.ClientQuotaCallback",
        "org.apache.kafka.server.share.dlq.ShareGroupDLQManager",
        "org.apache.kafka.server.share.persister.Persister");

    private BrokerConfiguration() {
    }

    public static void main(String[] arguments) throws Exception {
        Class<?> definition = Class.forName("org.apache.kafka.common.config.ConfigDef");
        for (Map.Entry<String, List<String>> scope : CLASSES.entrySet()) {
            print(scope.getKey(), scope.getValue(), definition);
        }
        printImplementations(Set.of(arguments));
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

    private static void printImplementations(Set<String> known) throws Exception {
        List<Class<?>> pluggable = new ArrayList<>();
        for (String name : PLUGGABLE) {
            try {
                pluggable.add(withoutInitialising(name));
            } catch (ClassNotFoundException e) {
                continue;
            }
        }
        Map<String, String> found = new TreeMap<>();
        for (String path : System.getProperty("java.class.path").split(File.pathSeparator)) {
            File jar = new File(path);
            for (String name : classesOfKafka(jar)) {
                if (known.contains(name) || canBeNamed(name, pluggable)) {
                    found.putIfAbsent(name, jar.getName());
                }
            }
        }
        found.forEach((name, jar) -> System.out.printf("{\"implementation\":%s,\"jar\":%s}%n", quoted(name), quoted(jar)));
    }

    private static Set<String> classesOfKafka(File path) throws Exception {
        Set<String> names = new TreeSet<>();
        try (JarFile jar = new JarFile(path)) {
            for (JarEntry entry : Collections.list(jar.entries())) {
                String name = entry.getName();
                if (name.endsWith(".class") && (name.startsWith("kafka/") || name.startsWith("org/apache/kafka/"))) {
                    names.add(name.substring(0, name.length() - ".class".length()).replace('/', '.'));
                }
            }
        }
        return names;
    }

    private static boolean canBeNamed(String name, List<Class<?>> pluggable) throws Exception {
        Class<?> candidate;
        try {
            candidate = withoutInitialising(name);
        } catch (LinkageError e) { // a superclass is in a jar that brokers do not have
            return false;
        }
        boolean isAnonymous = name.matches(".*\\$\\d+");
        return !isAnonymous && !Modifier.isAbstract(candidate.getModifiers())
            && pluggable.stream().anyMatch(each -> each.isAssignableFrom(candidate));
    }

    private static Class<?> withoutInitialising(String name) throws ClassNotFoundException {
        return Class.forName(name, false, BrokerConfiguration.class.getClassLoader());
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
