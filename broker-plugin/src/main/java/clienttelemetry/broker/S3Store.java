package clienttelemetry.broker;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * S3 or a store that speaks its protocol: one signed PUT for each object. {@link Settings} lets no object grow to the
 * 5 GiB of one PUT, so there are no multipart uploads, and none that stay unfinished.
 */
final class S3Store implements ObjectStore {
    private static final int SLOWEST_BYTES_A_SECOND = 256 << 10;
    private static final int SHOWN_CHARACTERS = 400;

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10))
            .build();
    private final AwsCredentials credentials;
    private final String region;
    private final URI endpoint;
    /** In front of keys: the bucket where the style asks for it, then the prefix; begins and ends with a slash. */
    private final String path;
    private final String encryption;
    private final String kmsKey;

    S3Store(Settings settings, AwsCredentials credentials) {
        this.credentials = credentials;
        region = region(settings);
        String bucket = settings.location.getAuthority();
        String base = settings.s3Endpoint.isEmpty() ? "https://s3." + region + ".amazonaws.com" : settings.s3Endpoint;
        URI plain = URI.create(base.replaceAll("/+$", ""));
        String prefix = settings.location.getPath().replaceAll("^/+|/+$", "");
        String inBucket = prefix.isEmpty() ? "/" : "/" + prefix + "/";
        if (settings.s3PathStyle) {
            endpoint = plain;
            path = plain.getPath() + "/" + bucket + inBucket;
        } else {
            endpoint = URI.create(plain.getScheme() + "://" + bucket + "." + plain.getAuthority());
            path = inBucket;
        }
        encryption = settings.s3Encryption;
        kmsKey = settings.s3KmsKey;
    }

    private static String region(Settings settings) {
        for (String each : new String[] {settings.s3Region, System.getenv("AWS_REGION"), System.getenv("AWS_DEFAULT_REGION")}) {
            if (each != null && !each.isEmpty()) {
                return each;
            }
        }
        return "us-east-1";
    }

    @Override
    public void put(String key, Path file, String sha256) throws IOException, InterruptedException {
        AwsCredentials.Keys keys = credentials.get();
        String escaped = AwsSignature.escape(path + key);
        SortedMap<String, String> headers = new TreeMap<>();
        headers.put("host", endpoint.getAuthority());
        headers.put("x-amz-date", AwsSignature.time(Instant.now()));
        headers.put("x-amz-content-sha256", sha256);
        if (keys.token != null) {
            headers.put("x-amz-security-token", keys.token);
        }
        if (!encryption.isEmpty()) {
            headers.put("x-amz-server-side-encryption", encryption);
        }
        if (!kmsKey.isEmpty()) {
            headers.put("x-amz-server-side-encryption-aws-kms-key-id", kmsKey);
        }
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(endpoint.getScheme() + "://" + endpoint.getAuthority() + escaped))
                .timeout(Duration.ofSeconds(30 + Files.size(file) / SLOWEST_BYTES_A_SECOND))
                .PUT(HttpRequest.BodyPublishers.ofFile(file));
        headers.forEach((name, value) -> {
            if (!name.equals("host")) { // Java sets it, to the same
                request.header(name, value);
            }
        });
        request.header("Authorization", AwsSignature.authorization("PUT", escaped, headers, keys, region));
        HttpResponse<String> response = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
        int status = response.statusCode();
        if (status == 200) {
            return;
        }
        if (status == 401 || status == 403) {
            credentials.forget();
        }
        String body = response.body();
        throw new IOException("PUT of " + key + " was answered with " + status
                + response.headers().firstValue("x-amz-bucket-region").map(r -> "; the bucket is in " + r).orElse("") + ": "
                + body.substring(0, Math.min(SHOWN_CHARACTERS, body.length())));
    }
}
