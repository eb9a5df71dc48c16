package clienttelemetry.broker;

import client_telemetry.raw.v1.RawDumpV1.ClientPush;
import client_telemetry.raw.v1.RawDumpV1.ConnectionEvent;
import clienttelemetry.broker.contract.DumpRecord;
import clienttelemetry.broker.contract.Incarnation;
import clienttelemetry.broker.contract.Json;
import clienttelemetry.broker.identifiers.IdentifierRules;
import clienttelemetry.broker.settings.Settings;
import com.fasterxml.jackson.databind.JsonNode;
import com.github.luben.zstd.ZstdInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.network.ClientInformation;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.server.telemetry.ClientTelemetryPayload;

/** A broker's side of things for the tests, and reading back what was dumped. */
public final class TestBroker {
    public static final Instant NOON = Instant.parse("2026-11-20T12:00:00Z");
    public static final Incarnation BROKER = new Incarnation("kQ7x0RvXTs-Y2r0m3Jw0zA", 3, "000102030405060708090a0b0c0d0e0f",
            NOON.minusSeconds(60), "4.3.1");

    private TestBroker() {}

    public static Settings settings(Path folder, String... more) {
        Map<String, String> settings = new HashMap<>();
        settings.put("client.telemetry.dump.location", folder.resolve("raw").toUri().toString());
        settings.put("client.telemetry.dump.spool.dir", folder.resolve("spool").toString());
        settings.put("client.telemetry.dump.spool.min.free.bytes", "0");
        settings.put("client.telemetry.dump.connections", "off");
        for (int i = 0; i < more.length; i += 2) {
            settings.put("client.telemetry.dump." + more[i], more[i + 1]);
        }
        return new Settings(settings);
    }

    static long nanos(Instant time) {
        return time.getEpochSecond() * 1_000_000_000L + time.getNano();
    }

    static DumpRecord push(Instant time, byte[] payload) {
        return BrokerReporter.record(IdentifierRules.CLEAR, context("app", "127.0.0.1:9092-10.0.0.7:50123-0-1"), payload(payload), 1000, nanos(time));
    }

    public static RequestContext context(String clientId, String connectionId) {
        try {
            return new RequestContext(new RequestHeader(ApiKeys.PUSH_TELEMETRY, (short) 0, clientId, 1), connectionId,
                    InetAddress.getByName("10.0.0.7"), new KafkaPrincipal("User", "alice"), ListenerName.normalised("CLIENTS"),
                    SecurityProtocol.SASL_SSL, new ClientInformation("apache-kafka-java", "3.9.1"), false);
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    public static ClientTelemetryPayload payload(byte[] content) {
        ByteBuffer larger = ByteBuffer.allocate(content.length + 10); // decompressed buffers are
        larger.put(content).flip();
        return new ClientTelemetryPayload() {
            @Override
            public Uuid clientInstanceId() {
                return new Uuid(1, 2);
            }

            @Override
            public boolean isTerminating() {
                return true;
            }

            @Override
            public String contentType() {
                return "OTLP";
            }

            @Override
            public ByteBuffer data() {
                return larger;
            }
        };
    }

    /** Keys of all objects below a raw location, sorted. */
    static List<String> keys(Path raw) throws IOException {
        if (!Files.exists(raw)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(raw)) {
            return files.filter(Files::isRegularFile).map(file -> raw.relativize(file).toString()).sorted().collect(Collectors.toList());
        }
    }

    static List<ClientPush> pushes(Path raw) throws IOException {
        List<ClientPush> all = new ArrayList<>();
        for (byte[] message : messages(raw, "dataset=client_pushes")) {
            all.add(ClientPush.parseFrom(message));
        }
        return all;
    }

    static List<ConnectionEvent> events(Path raw) throws IOException {
        List<ConnectionEvent> all = new ArrayList<>();
        for (byte[] message : messages(raw, "dataset=connections")) {
            all.add(ConnectionEvent.parseFrom(message));
        }
        return all;
    }

    static JsonNode manifest(Path raw, String hour) throws IOException {
        for (String key : keys(raw)) {
            if (key.contains("manifests") && key.contains("/hour=" + hour + "/")) {
                return Json.MAPPER.readTree(Files.readAllBytes(raw.resolve(key)));
            }
        }
        throw new IOException("no manifest of hour " + hour);
    }

    private static List<byte[]> messages(Path raw, String part) throws IOException {
        List<byte[]> all = new ArrayList<>();
        for (String key : keys(raw)) {
            if (key.contains(part)) {
                try (DataInputStream in = new DataInputStream(new ZstdInputStream(Files.newInputStream(raw.resolve(key))))) {
                    byte[] content = in.readAllBytes();
                    ByteBuffer left = ByteBuffer.wrap(content);
                    while (left.hasRemaining()) {
                        byte[] message = new byte[left.getInt()];
                        left.get(message);
                        all.add(message);
                    }
                }
            }
        }
        return all;
    }
}
