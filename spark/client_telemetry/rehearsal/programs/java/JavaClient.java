import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;

/** The steps of a rehearsal with kafka-clients. CONFIGURATION: settings of consumers, such as group.protocol=consumer. */
public final class JavaClient {
    private static final String TOPIC = env("TOPIC");
    private static final String GROUP = env("GROUP");
    private static final String SECURITY = "org.apache.kafka.common.security.";
    private static final TopicPartition PARTITION = new TopicPartition(TOPIC, 0);

    private interface Step {
        void run() throws Exception;
    }

    private static String env(String name) {
        return System.getenv().getOrDefault(name, "");
    }

    private static boolean report(String step, Step work) {
        String outcome = "ok";
        try {
            work.run();
        } catch (Throwable error) {
            outcome = error.toString() + (error.getCause() == null ? "" : "; " + error.getCause());
        }
        System.out.println("{\"step\": \"" + step + "\", \"outcome\": \""
                + outcome.replace("\\", "\\\\").replace("\"", "'").replace("\n", " ") + "\"}");
        return outcome.equals("ok");
    }

    private static Properties settings(String... more) {
        Properties all = new Properties();
        all.put("bootstrap.servers", env("BOOTSTRAP"));
        all.put("request.timeout.ms", "8000");
        all.put("default.api.timeout.ms", "12000");
        if (!env("PROTOCOL").isEmpty()) {
            all.put("security.protocol", env("PROTOCOL"));
        }
        if (env("PROTOCOL").endsWith("SSL")) {
            tls(all);
        }
        if (!env("MECHANISM").isEmpty()) {
            all.put("sasl.mechanism", env("MECHANISM"));
            all.put("sasl.jaas.config", login(env("MECHANISM")) + ";");
            all.put("sasl.kerberos.service.name", "kafka");
        }
        for (String each : more) {
            all.put(each.substring(0, each.indexOf('=')), each.substring(each.indexOf('=') + 1));
        }
        return all;
    }

    /** Stores in PKCS12, which all versions read. */
    private static void tls(Properties all) {
        for (String store : List.of("truststore", "keystore")) {
            all.put("ssl." + store + ".type", "PKCS12");
            all.put("ssl." + store + ".location", env(store.toUpperCase(Locale.ROOT)));
            all.put("ssl." + store + ".password", env("STORE_PASSWORD"));
        }
        all.put("ssl.key.password", env("STORE_PASSWORD"));
    }

    private static String login(String mechanism) {
        if (mechanism.equals("GSSAPI")) {
            return "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true keyTab=\"" + env("KEYTAB")
                    + "\" principal=\"" + env("USERNAME") + "@" + env("REALM") + "\"";
        }
        if (mechanism.equals("OAUTHBEARER")) {
            return SECURITY + "oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub=\"" + env("USERNAME") + "\"";
        }
        String module = mechanism.startsWith("SCRAM") ? "scram.ScramLoginModule" : "plain.PlainLoginModule";
        return SECURITY + module + " required username=\"" + env("USERNAME") + "\" password=\"" + env("PASSWORD") + "\"";
    }

    private static Properties producing(String... more) {
        Properties all = settings(more);
        all.put("key.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        all.put("value.serializer", "org.apache.kafka.common.serialization.StringSerializer");
        all.put("delivery.timeout.ms", "12000");
        return all;
    }

    private static Properties consuming(String... more) {
        Properties all = settings(more);
        all.put("key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        all.put("value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        all.put("enable.auto.commit", "false");
        all.put("auto.offset.reset", "earliest");
        return all;
    }

    private static ConsumerRecord<String, String> first(KafkaConsumer<String, String> consumer) {
        long deadline = System.currentTimeMillis() + 20_000;
        while (System.currentTimeMillis() < deadline) {
            for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofSeconds(1))) {
                return record;
            }
        }
        throw new IllegalStateException("no record in 20 s");
    }

    private static void connect() throws Exception {
        try (AdminClient admin = AdminClient.create(settings())) {
            admin.describeCluster().nodes().get(15, TimeUnit.SECONDS);
        }
    }

    private static void produce() throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(producing("compression.type=gzip"))) {
            producer.send(new ProducerRecord<>(TOPIC, 0, null, "record")).get(15, TimeUnit.SECONDS);
        }
    }

    private static void consume() {
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(consuming())) {
            consumer.assign(List.of(PARTITION));
            consumer.seekToBeginning(List.of(PARTITION));
            first(consumer);
        }
    }

    private static void group() {
        String[] more = env("CONFIGURATION").isEmpty() ? new String[0] : env("CONFIGURATION").split(" ");
        Properties settings = consuming(more);
        settings.put("group.id", GROUP);
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings)) {
            consumer.subscribe(List.of(TOPIC));
            ConsumerRecord<String, String> record = first(consumer);
            report("group", () -> { });
            TopicPartition read = new TopicPartition(record.topic(), record.partition());
            consumer.commitSync(Map.of(read, new OffsetAndMetadata(record.offset() + 1)));
        }
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings)) {
            consumer.assign(List.of(PARTITION));
            if (consumer.position(PARTITION) < 1) {
                throw new IllegalStateException("committed offset is " + consumer.position(PARTITION));
            }
        }
    }

    private static void transaction() throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(producing("transactional.id=" + GROUP + "-txn"))) {
            producer.initTransactions();
            for (int attempt = 0; attempt < 2; attempt++) {
                producer.beginTransaction();
                producer.send(new ProducerRecord<>(TOPIC, 0, null, "record")).get(15, TimeUnit.SECONDS);
                producer.commitTransaction();
            }
        }
    }

    private static void create() throws Exception {
        try (AdminClient admin = AdminClient.create(settings())) {
            admin.createTopics(List.of(new NewTopic(TOPIC + "-created", 1, (short) 1))).all().get(15, TimeUnit.SECONDS);
            ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, TOPIC + "-created");
            admin.describeConfigs(List.of(topic)).all().get(15, TimeUnit.SECONDS);
            admin.listConsumerGroups().all().get(15, TimeUnit.SECONDS);
        }
    }

    public static void main(String[] arguments) {
        if (!env("KRB5_CONFIG").isEmpty()) {
            System.setProperty("java.security.krb5.conf", env("KRB5_CONFIG"));
        }
        if (report("connect", JavaClient::connect)) {
            report("produce", JavaClient::produce);
            report("consume", JavaClient::consume);
            report("commit", JavaClient::group);
            report("txn", JavaClient::transaction);
            report("create", JavaClient::create);
        }
        System.exit(0);
    }
}
