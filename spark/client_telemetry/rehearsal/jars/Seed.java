import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Makes topics with a record in each, so that clients that only read have something to read. Arguments: bootstrap address, topics. */
public final class Seed {
    private Seed() {
    }

    public static void main(String[] arguments) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", arguments[0]);
        settings.put("key.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        settings.put("value.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        List<String> topics = List.of(arguments).subList(1, arguments.length);
        try (AdminClient admin = AdminClient.create(settings)) {
            admin.createTopics(topics.stream().map(each -> new NewTopic(each, 1, (short) 1)).toList()).all().get(30, TimeUnit.SECONDS);
        }
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings)) {
            for (String each : topics) {
                producer.send(new ProducerRecord<>(each, 0, null, "record")).get(30, TimeUnit.SECONDS);
            }
        }
    }
}
