import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * A client for the end-to-end tests: {@code java -cp LIBS JavaClient.java subscribe|work|load BOOTSTRAP ...}. It prints one
 * JSON object a line about what it did, which the tests hold against the tables.
 */
public final class JavaClient {
    private static final int LOADERS = 4;

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("subscribe")) {
            subscribe(arguments[1], arguments[2], arguments[3]);
        } else if (arguments[0].equals("load")) {
            load(arguments[1], Integer.parseInt(arguments[2]));
        } else {
            work(arguments[1], arguments[2], Double.parseDouble(arguments[3]));
        }
    }

    /** Asks all clients for all metrics, each so many milliseconds. */
    private static void subscribe(String bootstrap, String name, String intervalMs) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap, "client.id", "e2e-admin"))) {
            ConfigResource resource = new ConfigResource(ConfigResource.Type.CLIENT_METRICS, name);
            admin.incrementalAlterConfigs(Map.of(resource, List.of(
                    new AlterConfigOp(new ConfigEntry("metrics", "*"), AlterConfigOp.OpType.SET),
                    new AlterConfigOp(new ConfigEntry("interval.ms", intervalMs), AlterConfigOp.OpType.SET)))).all().get();
        }
        System.out.println("{\"event\": \"subscribed\"}");
    }

    /** So many produce requests from a few producers, each of which waits for its answers. */
    private static void load(String bootstrap, int requests) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("key.serializer", StringSerializer.class.getName());
        settings.put("value.serializer", StringSerializer.class.getName());
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

    /** A producer and a consumer for some seconds, then both close. */
    private static void work(String bootstrap, String name, double seconds) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("key.serializer", StringSerializer.class.getName());
        settings.put("value.serializer", StringSerializer.class.getName());
        settings.put("key.deserializer", StringDeserializer.class.getName());
        settings.put("value.deserializer", StringDeserializer.class.getName());
        settings.put("group.id", name + "-group");
        settings.put("auto.offset.reset", "earliest");
        settings.put("client.id", name + "-producer");
        KafkaProducer<String, String> producer = new KafkaProducer<>(settings);
        settings.put("client.id", name + "-consumer");
        KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings);
        consumer.subscribe(List.of("e2e-" + name));
        boolean isTold = false;
        long end = System.nanoTime() + (long) (seconds * 1e9);
        while (System.nanoTime() < end) {
            try {
                producer.send(new ProducerRecord<>("e2e-" + name, "value")).get();
                consumer.poll(Duration.ofMillis(200));
            } catch (ExecutionException | RuntimeException e) { // a broker restarts meanwhile
                tell("error", name, e.getClass().getName());
            }
            if (!isTold) {
                try {
                    tell("instance", name + "-producer", producer.clientInstanceId(Duration.ofSeconds(20)).toString());
                    tell("instance", name + "-consumer", consumer.clientInstanceId(Duration.ofSeconds(20)).toString());
                    isTold = true;
                } catch (RuntimeException e) {
                    tell("error", name, e.getClass().getName());
                }
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
