import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * A client for the end-to-end tests: {@code java -cp LIBS JavaClient.java COMMAND BOOTSTRAP ...}. Where it works on, it
 * does so until its input ends. It prints one JSON object a line about what it did, which the tests hold against the
 * tables.
 */
public final class JavaClient {
    private static final int LOADERS = 4;
    private static final int PAUSE_MILLIS = 100;
    private static volatile boolean isOver;

    public static void main(String[] arguments) throws Exception {
        String bootstrap = arguments[1];
        String[] more = Arrays.copyOfRange(arguments, 2, arguments.length);
        switch (arguments[0]) {
            case "subscribe":
                subscribe(bootstrap, more[0]);
                break;
            case "level":
                level(bootstrap, more[0], more[1]);
                break;
            case "set-level":
                setLevel(bootstrap, more[0], more[1], more[2]);
                break;
            case "alter-broker":
                alterBroker(bootstrap, more[0], more[1], more[2]);
                break;
            case "load":
                load(bootstrap, Integer.parseInt(more[0]));
                break;
            case "push":
                push(bootstrap, more[0], Integer.parseInt(more[1]));
                break;
            case "work":
                work(bootstrap, more[0], Arrays.copyOfRange(more, 1, more.length));
                break;
            default:
                throw new IllegalArgumentException(arguments[0]);
        }
    }

    private static void untilTheInputEnds() {
        Thread thread = new Thread(() -> {
            try {
                System.in.transferTo(java.io.OutputStream.nullOutputStream());
            } catch (IOException e) {
                // the same
            }
            isOver = true;
        });
        thread.setDaemon(true);
        thread.start();
    }

    private static Properties settings(String bootstrap, String clientId) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("client.id", clientId);
        settings.put("key.serializer", StringSerializer.class.getName());
        settings.put("value.serializer", StringSerializer.class.getName());
        settings.put("key.deserializer", StringDeserializer.class.getName());
        settings.put("value.deserializer", StringDeserializer.class.getName());
        return settings;
    }

    /** Asks all clients for all metrics, each so many milliseconds. */
    private static void subscribe(String bootstrap, String intervalMs) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap, "client.id", "e2e-admin"))) {
            ConfigResource resource = new ConfigResource(ConfigResource.Type.CLIENT_METRICS, "all");
            admin.incrementalAlterConfigs(Map.of(resource, List.of(
                    new AlterConfigOp(new ConfigEntry("metrics", "*"), AlterConfigOp.OpType.SET),
                    new AlterConfigOp(new ConfigEntry("interval.ms", intervalMs), AlterConfigOp.OpType.SET)))).all().get();
        }
    }

    /** Tells the level of a logger of a broker. */
    private static void level(String bootstrap, String node, String logger) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap, "client.id", "e2e-admin"))) {
            ConfigResource resource = new ConfigResource(ConfigResource.Type.BROKER_LOGGER, node);
            Config levels = admin.describeConfigs(List.of(resource)).all().get().get(resource);
            tell("level", logger, levels.get(logger).value());
        }
    }

    /** As `kafka-configs.sh --entity-type broker-loggers --alter` does. */
    private static void setLevel(String bootstrap, String node, String logger, String level) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap, "client.id", "e2e-admin"))) {
            ConfigResource resource = new ConfigResource(ConfigResource.Type.BROKER_LOGGER, node);
            admin.incrementalAlterConfigs(Map.of(resource,
                    List.of(new AlterConfigOp(new ConfigEntry(logger, level), AlterConfigOp.OpType.SET)))).all().get();
        }
    }

    /** As `kafka-configs.sh --entity-type brokers --alter` does; prints what a broker that refuses says. */
    private static void alterBroker(String bootstrap, String node, String name, String value) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap, "client.id", "e2e-admin"))) {
            ConfigResource resource = new ConfigResource(ConfigResource.Type.BROKER, node);
            admin.incrementalAlterConfigs(Map.of(resource,
                    List.of(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET)))).all().get();
            tell("altered", name, value);
        } catch (ExecutionException e) {
            tell("refused", name, e.getCause().getMessage().replace('"', '\''));
        }
    }

    /** So many produce requests from a few producers, each of which waits for its answers. */
    private static void load(String bootstrap, int requests) throws Exception {
        Properties settings = settings(bootstrap, "load");
        settings.put("linger.ms", "0");
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < LOADERS; i++) {
            threads.add(new Thread(() -> {
                try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings)) {
                    for (int sent = 0; sent < requests / LOADERS; sent++) {
                        producer.send(new ProducerRecord<>("load", "value")).get();
                    }
                } catch (ExecutionException | InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** So many producers that do nothing but push their metrics. */
    private static void push(String bootstrap, String name, int producers) throws Exception {
        untilTheInputEnds();
        List<KafkaProducer<String, String>> all = new ArrayList<>();
        for (int i = 0; i < producers; i++) {
            all.add(new KafkaProducer<>(settings(bootstrap, name + "-" + i)));
        }
        while (!isOver) {
            Thread.sleep(50);
        }
        all.forEach(KafkaProducer::close);
        tell("closed", name, "");
    }

    /** A producer and a consumer until the input ends; then both close. `more`: settings as name=value. */
    private static void work(String bootstrap, String name, String[] more) throws Exception {
        untilTheInputEnds();
        Properties settings = settings(bootstrap, name + "-producer");
        settings.put("group.id", name + "-group");
        settings.put("auto.offset.reset", "earliest");
        for (String each : more) {
            int equals = each.indexOf('=');
            settings.put(each.substring(0, equals), each.substring(equals + 1));
        }
        KafkaProducer<String, String> producer = new KafkaProducer<>(settings);
        settings.put("client.id", name + "-consumer");
        KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings);
        consumer.subscribe(List.of("e2e-" + name));
        boolean isTold = false;
        while (!isOver) {
            try {
                producer.send(new ProducerRecord<>("e2e-" + name, "value")).get();
                consumer.poll(Duration.ofMillis(200));
                Thread.sleep(PAUSE_MILLIS);
                if (!isTold) {
                    tell("started", name, "");
                    String ofProducer = producer.clientInstanceId(Duration.ofSeconds(20)).toString();
                    String ofConsumer = consumer.clientInstanceId(Duration.ofSeconds(20)).toString();
                    tell("instance", name + "-producer", ofProducer);
                    tell("instance", name + "-consumer", ofConsumer);
                    isTold = true;
                }
            } catch (ExecutionException | RuntimeException e) { // a broker restarts meanwhile
                tell("error", name, e.getClass().getName());
            }
        }
        producer.close();
        consumer.close();
        tell("closed", name, "");
    }

    private static void tell(String event, String clientId, String value) {
        System.out.printf("{\"event\": \"%s\", \"client_id\": \"%s\", \"value\": \"%s\"}%n", event, clientId, value);
        System.out.flush();
    }
}
