import com.sun.tools.attach.VirtualMachine;
import com.sun.tools.attach.VirtualMachineDescriptor;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.UnsupportedVersionException;

/**
 * Gives a broker something to do (a topic, a transaction if it has them, a consumer group), and prints the names of its MBeans. Arguments: the broker's
 * folder, by which its process is found, and its bootstrap address.
 */
public final class BrokerMetrics {
    private static final String TOPIC = "metrics";
    private static final long CONSUMING_MS = 20_000;

    private BrokerMetrics() {
    }

    public static void main(String[] arguments) throws Exception {
        use(settings(arguments[1]));
        for (VirtualMachineDescriptor each : VirtualMachine.list()) {
            if (each.displayName().startsWith("kafka.Kafka") && each.displayName().contains(arguments[0])) {
                JMXServiceURL address = new JMXServiceURL(VirtualMachine.attach(each).startLocalManagementAgent());
                try (JMXConnector connector = JMXConnectorFactory.connect(address)) {
                    print(connector.getMBeanServerConnection());
                }
                System.exit(0);
            }
        }
        throw new IllegalStateException("no broker runs in " + arguments[0]);
    }

    private static Properties settings(String bootstrap) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        for (String side : List.of("key", "value")) {
            settings.put(side + ".serializer", "org.apache.kafka.common.serialization.StringSerializer");
            settings.put(side + ".deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        }
        settings.put("auto.offset.reset", "earliest");
        settings.put("group.id", TOPIC);
        return settings;
    }

    private static void use(Properties settings) throws Exception {
        try (AdminClient admin = AdminClient.create(settings)) {
            admin.createTopics(List.of(new NewTopic(TOPIC, 1, (short) 1))).all().get(30, TimeUnit.SECONDS);
            admin.listConsumerGroups().all().get(30, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            // 0.10.0 makes topics when they are used.
            throwUnlessUnsupported(e.getCause());
        }
        Properties transactional = new Properties();
        transactional.putAll(settings);
        transactional.put("transactional.id", TOPIC);
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(transactional)) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>(TOPIC, 0, null, "record")).get(30, TimeUnit.SECONDS);
            producer.commitTransaction();
        } catch (UnsupportedVersionException e) {
            try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings)) {
                producer.send(new ProducerRecord<>(TOPIC, 0, null, "record")).get(30, TimeUnit.SECONDS);
            }
        }
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings)) {
            consumer.subscribe(List.of(TOPIC));
            long end = System.currentTimeMillis() + CONSUMING_MS;
            int records = 0;
            while (records == 0 && System.currentTimeMillis() < end) {
                records = consumer.poll(Duration.ofMillis(500)).count();
            }
            consumer.commitSync();
        }
    }

    private static void throwUnlessUnsupported(Throwable cause) throws Exception {
        if (!(cause instanceof UnsupportedVersionException)) {
            throw new IllegalStateException(cause);
        }
    }

    private static void print(MBeanServerConnection server) throws Exception {
        for (ObjectName name : new TreeSet<>(server.queryNames(null, null))) {
            if (name.getDomain().startsWith("kafka")) {
                System.out.println(name.getCanonicalName());
            }
        }
    }
}
