import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.GetTelemetrySubscriptionsRequestData;
import org.apache.kafka.common.message.PushTelemetryRequestData;
import org.apache.kafka.common.network.ClientInformation;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.requests.GetTelemetrySubscriptionsRequest;
import org.apache.kafka.common.requests.PushTelemetryRequest;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.ClientMetricsManager;
import org.apache.kafka.server.telemetry.ClientTelemetryReceiver;

/**
 * Plays lines of requests against Kafka's own ClientMetricsManager, for several releases in one JVM.
 *
 * KafkaClasses CLASSES RELEASE JARS INPUT OUTPUT [RELEASE JARS INPUT OUTPUT ...]; lines are described in kafka_classes.py.
 */
public final class KafkaClasses {

    private static final byte FAIL = 'f';

    public static void main(String[] args) throws Exception {
        for (int at = 1; at < args.length; at += 4) {
            List<URL> urls = new ArrayList<>(List.of(Path.of(args[0]).toUri().toURL()));
            try (Stream<Path> jars = Files.list(Path.of(args[at + 1]))) {
                for (Path jar : (Iterable<Path>) jars::iterator) {
                    urls.add(jar.toUri().toURL());
                }
            }
            ClassLoader loader = new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
            Thread.currentThread().setContextClassLoader(loader);
            Method play = loader.loadClass("KafkaClasses").getDeclaredMethod("play", Path.class, Path.class);
            play.setAccessible(true);
            play.invoke(null, Path.of(args[at + 2]), Path.of(args[at + 3]));
        }
    }

    private final StillTime time = new StillTime();
    private ClientMetricsManager manager;

    static void play(Path input, Path output) throws Exception {
        KafkaClasses classes = new KafkaClasses();
        try (BufferedReader lines = Files.newBufferedReader(input); BufferedWriter answers = Files.newBufferedWriter(output)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String answer = classes.answer(line.split(" "));
                if (answer != null) {
                    answers.write(answer);
                    answers.newLine();
                }
            }
        }
        classes.manager.close();
    }

    private String answer(String[] line) throws Exception {
        switch (line[0]) {
            case "manager":
                if (manager != null) {
                    manager.close();
                }
                manager = newManager(Integer.parseInt(line[1]));
                return null;
            case "configure":
                Properties properties = new Properties();
                for (int at = 2; at < line.length; at += 2) {
                    properties.setProperty(text(line[at]), text(line[at + 1]));
                }
                try {
                    manager.updateSubscription(text(line[1]), properties);
                    return "configured";
                } catch (Exception refused) {
                    return "refused " + refused.getClass().getSimpleName() + " " + encoded(refused.getMessage());
                }
            case "wait":
                time.now += Long.parseLong(line[1]);
                return null;
            case "disconnect":
                disconnect(line[1]);
                return null;
            case "get":
                var get = new GetTelemetrySubscriptionsRequest(
                    new GetTelemetrySubscriptionsRequestData().setClientInstanceId(uuid(line[7])), (short) 0);
                var response = manager.processGetTelemetrySubscriptionRequest(get, context(line, ApiKeys.GET_TELEMETRY_SUBSCRIPTIONS)).data();
                StringBuilder answer = new StringBuilder("got " + response.errorCode() + " " + response.subscriptionId()
                    + " " + response.pushIntervalMs() + " " + response.clientInstanceId());
                for (String metric : response.requestedMetrics()) {
                    answer.append(' ').append(encoded(metric));
                }
                return answer.toString();
            case "push":
                PushTelemetryRequestData data = new PushTelemetryRequestData()
                    .setClientInstanceId(uuid(line[7]))
                    .setSubscriptionId(Integer.parseInt(line[8]))
                    .setTerminating(Boolean.parseBoolean(line[9]))
                    .setCompressionType(Byte.parseByte(line[10]));
                setMetrics(data, bytes(line[11]));
                var push = new PushTelemetryRequest(data, (short) 0);
                return "pushed " + manager.processPushTelemetryRequest(push, context(line, ApiKeys.PUSH_TELEMETRY)).data().errorCode();
            default:
                throw new IllegalArgumentException(line[0]);
        }
    }

    /** Fields 1 to 6 of a request's line: client id, software name and version, address, port, connection. */
    private static RequestContext context(String[] line, ApiKeys api) throws Exception {
        RequestHeader header = new RequestHeader(api, (short) 0, text(line[1]), 0);
        ClientInformation software = new ClientInformation(text(line[2]), text(line[3]));
        InetAddress address = text(line[4]) == null ? null : InetAddress.getByName(text(line[4]));
        ListenerName listener = ListenerName.forSecurityProtocol(SecurityProtocol.PLAINTEXT);
        String port = text(line[5]);
        try {
            Constructor<RequestContext> constructor = RequestContext.class.getConstructor(RequestHeader.class, String.class,
                InetAddress.class, Optional.class, KafkaPrincipal.class, ListenerName.class, SecurityProtocol.class,
                ClientInformation.class, boolean.class);
            return constructor.newInstance(header, line[6], address, Optional.ofNullable(port).map(Integer::valueOf),
                KafkaPrincipal.ANONYMOUS, listener, SecurityProtocol.PLAINTEXT, software, false);
        } catch (NoSuchMethodException before38) {
            return new RequestContext(header, line[6], address, KafkaPrincipal.ANONYMOUS, listener,
                SecurityProtocol.PLAINTEXT, software, false);
        }
    }

    private ClientMetricsManager newManager(int maxBytes) throws Exception {
        Constructor<?> constructor = ClientMetricsManager.class.getConstructors()[0];
        Class<?> pluginType = constructor.getParameterTypes()[0];
        Object plugin = pluginType.getConstructor().newInstance();
        ClientTelemetryReceiver receiver = (context, payload) -> {
            ByteBuffer data = payload.data().duplicate();
            if (data.hasRemaining() && data.get() == FAIL) {
                throw new IllegalStateException("this push is to fail");
            }
        };
        pluginType.getMethod("add", ClientTelemetryReceiver.class).invoke(plugin, receiver);
        if (constructor.getParameterCount() == 3) {
            return (ClientMetricsManager) constructor.newInstance(plugin, maxBytes, time);
        }
        Object metrics = constructor.getParameterTypes()[3].getConstructor().newInstance();
        return (ClientMetricsManager) constructor.newInstance(plugin, maxBytes, time, metrics);
    }

    private void disconnect(String connection) throws Exception {
        try {
            Object listener = ClientMetricsManager.class.getMethod("connectionDisconnectListener").invoke(manager);
            Method method = listener.getClass().getMethod("onDisconnect", String.class);
            method.setAccessible(true);
            method.invoke(listener, connection);
        } catch (NoSuchMethodException before40) {
            // Nobody tells the manager.
        }
    }

    private static void setMetrics(PushTelemetryRequestData data, byte[] metrics)
            throws NoSuchMethodException, IllegalAccessException, InvocationTargetException {
        try {
            PushTelemetryRequestData.class.getMethod("setMetrics", ByteBuffer.class).invoke(data, ByteBuffer.wrap(metrics));
        } catch (NoSuchMethodException before40) {
            PushTelemetryRequestData.class.getMethod("setMetrics", byte[].class).invoke(data, (Object) metrics);
        }
    }

    private static Uuid uuid(String hex) {
        ByteBuffer buffer = ByteBuffer.wrap(new java.math.BigInteger("1" + hex, 16).toByteArray(), 1, 16);
        return new Uuid(buffer.getLong(), buffer.getLong());
    }

    private static byte[] bytes(String field) {
        return Base64.getDecoder().decode(field.substring(1));
    }

    private static String text(String field) {
        return field.equals("-") ? null : new String(bytes(field), StandardCharsets.UTF_8);
    }

    private static String encoded(String text) {
        return "=" + Base64.getEncoder().encodeToString(String.valueOf(text).getBytes(StandardCharsets.UTF_8));
    }

    /** A clock that moves when it is told to. */
    private static final class StillTime implements Time {
        private long now = 1_000_000_000_000L;

        @Override
        public long milliseconds() {
            return now;
        }

        @Override
        public long hiResClockMs() {
            return now;
        }

        @Override
        public long nanoseconds() {
            return now * 1_000_000;
        }

        @Override
        public void sleep(long ms) {
            now += ms;
        }

        @Override
        public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
            throw new UnsupportedOperationException();
        }
    }
}
