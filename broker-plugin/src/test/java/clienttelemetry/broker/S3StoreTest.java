package clienttelemetry.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class S3StoreTest {
    private static final String NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    @TempDir
    Path folder;

    /** The examples in "Signature calculations for the Authorization header" of the S3 API reference. */
    @Test
    void signatureOfTheReference() {
        AwsCredentials.Keys keys = new AwsCredentials.Keys("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", null, null);
        TreeMap<String, String> put = new TreeMap<>(Map.of(
                "date", "Fri, 24 May 2013 00:00:00 GMT",
                "host", "examplebucket.s3.amazonaws.com",
                "x-amz-content-sha256", "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
                "x-amz-date", "20130524T000000Z",
                "x-amz-storage-class", "REDUCED_REDUNDANCY"));
        assertTrue(AwsSignature.authorization("PUT", AwsSignature.escape("/test$file.text"), put, keys, "us-east-1")
                .endsWith("Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"));
        TreeMap<String, String> get = new TreeMap<>(Map.of(
                "host", "examplebucket.s3.amazonaws.com",
                "range", "bytes=0-9",
                "x-amz-content-sha256", NOTHING,
                "x-amz-date", "20130524T000000Z"));
        assertTrue(AwsSignature.authorization("GET", "/test.txt", get, keys, "us-east-1")
                .endsWith("Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"));
    }

    @Test
    void putsAndSaysWhatWentWrong() throws Exception {
        AtomicReference<HttpExchange> seen = new AtomicReference<>();
        AtomicReference<byte[]> body = new AtomicReference<>();
        int[] status = {200};
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/", exchange -> {
            seen.set(exchange);
            body.set(exchange.getRequestBody().readAllBytes());
            byte[] answer = "<Error><Code>AccessDenied</Code></Error>".getBytes();
            exchange.sendResponseHeaders(status[0], answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        try {
            Settings settings = new Settings(Map.of(
                    "client.telemetry.dump.location", "s3://bucket/some/prefix/",
                    "client.telemetry.dump.spool.dir", folder.toString(),
                    "client.telemetry.dump.s3.endpoint", "http://127.0.0.1:" + server.getAddress().getPort(),
                    "client.telemetry.dump.s3.path.style", "true",
                    "client.telemetry.dump.s3.region", "eu-central-1",
                    "client.telemetry.dump.s3.server.side.encryption", "aws:kms"));
            AwsCredentials credentials = new AwsCredentials(
                    Map.of("AWS_ACCESS_KEY_ID", "id", "AWS_SECRET_ACCESS_KEY", "secret", "AWS_SESSION_TOKEN", "token"));
            S3Store store = new S3Store(settings, credentials);
            Path file = Files.write(folder.resolve("object"), "content".getBytes());
            store.put("v1/dataset=connections/x.zst", file, NOTHING);
            assertEquals("/bucket/some/prefix/v1/dataset%3Dconnections/x.zst", seen.get().getRequestURI().getRawPath());
            assertEquals("content", new String(body.get()));
            assertEquals("token", seen.get().getRequestHeaders().getFirst("x-amz-security-token"));
            assertEquals("aws:kms", seen.get().getRequestHeaders().getFirst("x-amz-server-side-encryption"));
            assertTrue(seen.get().getRequestHeaders().getFirst("Authorization").contains("/eu-central-1/s3/aws4_request"));
            status[0] = 403;
            IOException refused = assertThrows(IOException.class, () -> store.put("k", file, NOTHING));
            assertTrue(refused.getMessage().contains("403") && refused.getMessage().contains("AccessDenied"), refused.getMessage());
        } finally {
            server.stop(0);
        }
    }

    @Test
    void theChainOfCredentials() throws Exception {
        Path file = Files.write(folder.resolve("credentials"),
                ("[default]\naws_access_key_id = a\naws_secret_access_key = b\n[kafka]\n# c\naws_access_key_id=c\n"
                        + "aws_secret_access_key=d=\naws_session_token=e\n").getBytes());
        Map<String, String> environment = Map.of("AWS_SHARED_CREDENTIALS_FILE", file.toString(), "AWS_PROFILE", "kafka");
        AwsCredentials.Keys keys = new AwsCredentials(environment).get();
        assertEquals("c d= e", keys.id + " " + keys.secret + " " + keys.token);

        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/container", exchange -> answer(exchange,
                "{\"AccessKeyId\": \"f\", \"SecretAccessKey\": \"g\", \"Token\": \"h\", \"Expiration\": \"2099-01-01T00:00:00Z\"}"));
        server.createContext("/sts", exchange -> answer(exchange, "<R><Credentials><AccessKeyId>i</AccessKeyId><SecretAccessKey>j"
                + "</SecretAccessKey><SessionToken>k</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></R>"));
        server.start();
        String url = "http://127.0.0.1:" + server.getAddress().getPort();
        try {
            String none = folder.resolve("none").toString();
            keys = new AwsCredentials(Map.of("AWS_SHARED_CREDENTIALS_FILE", none, "AWS_CONTAINER_CREDENTIALS_FULL_URI", url + "/container")).get();
            assertEquals("f g h", keys.id + " " + keys.secret + " " + keys.token);
            Path token = Files.write(folder.resolve("token"), "jwt".getBytes());
            keys = new AwsCredentials(Map.of("AWS_WEB_IDENTITY_TOKEN_FILE", token.toString(), "AWS_ROLE_ARN", "arn:aws:iam::1:role/r",
                    "AWS_ENDPOINT_URL_STS", url + "/sts")).get();
            assertEquals("i j k", keys.id + " " + keys.secret + " " + keys.token);
            IOException missing = assertThrows(IOException.class, () -> new AwsCredentials(
                    Map.of("AWS_SHARED_CREDENTIALS_FILE", none, "AWS_EC2_METADATA_DISABLED", "true")).get());
            assertTrue(missing.getMessage().contains("AWS_ACCESS_KEY_ID"), missing.getMessage());
        } finally {
            server.stop(0);
        }
    }

    private static void answer(HttpExchange exchange, String text) throws IOException {
        exchange.sendResponseHeaders(200, text.length());
        exchange.getResponseBody().write(text.getBytes());
        exchange.close();
    }
}
