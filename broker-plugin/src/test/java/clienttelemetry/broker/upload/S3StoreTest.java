package clienttelemetry.broker.upload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clienttelemetry.broker.TestBroker;
import clienttelemetry.broker.contract.BrokerClock;
import clienttelemetry.broker.contract.Dataset;
import clienttelemetry.broker.contract.Hour;
import clienttelemetry.broker.contract.Json;
import clienttelemetry.broker.manifest.Manifests;
import clienttelemetry.broker.settings.Settings;
import clienttelemetry.broker.spool.RecordSpan;
import clienttelemetry.broker.spool.SpoolName;
import clienttelemetry.broker.spool.SpooledObject;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On a real socket. That signatures are right is shown by the end-to-end tests, on a store that checks them. */
class S3StoreTest {
    private static final String OF_CONTENT = "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73";

    @TempDir
    Path folder;

    private final List<String> paths = new ArrayList<>();
    private final List<Map<String, String>> headers = new ArrayList<>();
    private final List<String> bodies = new ArrayList<>();
    private int status = 200;
    private String code = "";
    private HttpServer server;
    private Path file;

    @BeforeEach
    void serve() throws IOException {
        server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/", exchange -> {
            Map<String, String> received = new HashMap<>();
            exchange.getRequestHeaders().forEach((name, values) -> received.put(name.toLowerCase(), values.get(0)));
            headers.add(received);
            paths.add(exchange.getRequestURI().getRawPath());
            bodies.add(new String(exchange.getRequestBody().readAllBytes()));
            byte[] answer = ("<Error><Code>" + code + "</Code><Message>no</Message></Error>").getBytes();
            exchange.sendResponseHeaders(status, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        file = Files.write(folder.resolve("object"), "content".getBytes());
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    /** With keys of its own, in a profile. */
    private S3Store store(String endpoint) throws IOException {
        profile("first");
        Map<String, String> settings = new HashMap<>(Map.of(
                "client.telemetry.dump.location", "s3://bucket/some/prefix/",
                "client.telemetry.dump.spool.dir", folder.resolve("spool").toString(),
                "client.telemetry.dump.s3.endpoint", endpoint,
                "client.telemetry.dump.s3.path.style", "true",
                "client.telemetry.dump.s3.region", "eu-central-1",
                "client.telemetry.dump.s3.server.side.encryption", "aws:kms",
                "client.telemetry.dump.s3.kms.key.id", "a-key",
                "client.telemetry.dump.s3.profile", "kafka",
                "client.telemetry.dump.s3.profile.file", folder.resolve("profiles").toString()));
        return new S3Store(new Settings(settings));
    }

    private void profile(String id) throws IOException {
        Files.writeString(folder.resolve("profiles"), "[default]\naws_access_key_id = x\naws_secret_access_key = y\n"
                + "[profile kafka]\naws_access_key_id = " + id + "\naws_secret_access_key = secret\n");
    }

    private String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @Test
    void aPut() throws Exception {
        store(url()).put("v1/dataset=connections/x.zst", file, OF_CONTENT);
        assertEquals(List.of("/bucket/some/prefix/v1/dataset%3Dconnections/x.zst"), paths);
        assertEquals(List.of("content"), bodies);
        Map<String, String> sent = headers.get(0);
        assertEquals("aws:kms", sent.get("x-amz-server-side-encryption"));
        assertEquals("a-key", sent.get("x-amz-server-side-encryption-aws-kms-key-id"));
        assertEquals("7XACtDnprIRfIjV9giusFERzD722AW0+yUMil7nsn3M=", sent.get("x-amz-checksum-sha256"), "buckets with Object Lock want one");
        assertTrue(sent.get("authorization").contains("Credential=first/") && sent.get("authorization").contains("/eu-central-1/s3/aws4_request"),
                sent.get("authorization"));
    }

    @Test
    void aRefusedObjectIsToldFromARefusingStore() throws Exception {
        S3Store store = store(url());
        status = 400;
        code = "InvalidRequest";
        RefusedObject refused = assertThrows(RefusedObject.class, () -> store.put("k", file, OF_CONTENT));
        assertTrue(refused.getMessage().contains("400 InvalidRequest"), refused.getMessage());
        for (String each : new String[] {"ExpiredToken", "RequestTimeout"}) {
            code = each;
            IOException error = assertThrows(IOException.class, () -> store.put("k", file, OF_CONTENT));
            assertFalse(error instanceof RefusedObject, each);
        }
        status = 403;
        code = "AccessDenied";
        IOException denied = assertThrows(IOException.class, () -> store.put("k", file, OF_CONTENT));
        assertFalse(denied instanceof RefusedObject);
        assertTrue(denied.getMessage().contains("403 AccessDenied"), denied.getMessage());
    }

    /** 0.1 went on with keys that S3 had called expired. */
    @Test
    void expiredKeysAreLookedForAnew() throws Exception {
        S3Store store = store(url());
        status = 400;
        code = "ExpiredToken";
        assertThrows(IOException.class, () -> store.put("k", file, OF_CONTENT));
        profile("second");
        status = 200;
        store.put("k", file, OF_CONTENT);
        assertTrue(headers.get(headers.size() - 1).get("authorization").contains("Credential=second/"));
    }

    @Test
    void aStoreThatIsNotThere() throws Exception {
        server.stop(0);
        IOException error = assertThrows(IOException.class, () -> store(url()).put("k", file, OF_CONTENT));
        assertFalse(error instanceof RefusedObject);
    }

    /** One object that the store refuses, among others: the others go, and their manifest. */
    @Test
    void aRefusedObjectHoldsUpNoOthers() throws Exception {
        List<String> stored = new ArrayList<>();
        BrokerClock clock = BrokerClock.SYSTEM;
        Uploads uploads = new Uploads((key, object, sha256) -> {
            if (key.contains("-00000000000000000001-")) {
                throw new RefusedObject("400 InvalidRequest", null);
            }
            stored.add(key);
        }, clock);
        Hour hour = Hour.of(TestBroker.NOON);
        for (long sequence = 0; sequence < 4; sequence++) {
            SpoolName name = new SpoolName(folder, Dataset.CONNECTIONS, hour, sequence);
            Files.write(name.finished(), new byte[] {1});
            RecordSpan span = new RecordSpan();
            span.add(1);
            uploads.object(new SpooledObject(name, span, 1, OF_CONTENT), TestBroker.BROKER);
        }
        uploads.manifest(Manifests.save(folder, hour, Json.MAPPER.createObjectNode()), hour, TestBroker.BROKER);
        while (uploads.attemptOne()) {
            // until nothing is due
        }
        assertEquals(4, stored.size(), stored.toString());
        assertTrue(stored.get(3).endsWith(".json"));
        assertEquals(1, uploads.refused());
        assertEquals(1, uploads.waiting());
    }
}
