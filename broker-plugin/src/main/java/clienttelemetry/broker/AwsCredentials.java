package clienttelemetry.broker;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Credentials by the usual chain: environment variables, web identity (a role for a service account), the profile in
 * the shared credentials file, the container's and then the instance's role. Keys that end are asked for again.
 */
final class AwsCredentials {
    /** Keys, with a session token where they are temporary; {@code expires} is far away where they are not. */
    static final class Keys {
        final String id;
        final String secret;
        final String token;
        final Instant expires;

        Keys(String id, String secret, String token, Instant expires) {
            this.id = id;
            this.secret = secret;
            this.token = token;
            this.expires = expires;
        }
    }

    private static final Duration EARLIER = Duration.ofMinutes(5);
    private static final String CONTAINER_HOST = "http://169.254.170.2";
    private static final String INSTANCE = "http://169.254.169.254/latest/";

    private final Map<String, String> environment;
    private Keys keys;

    AwsCredentials(Map<String, String> environment) {
        this.environment = environment;
    }

    /** Throws an IOException that says what was looked for, where there are none. */
    synchronized Keys get() throws IOException, InterruptedException {
        if (keys == null || Instant.now().plus(EARLIER).isAfter(keys.expires)) {
            keys = find();
        }
        return keys;
    }

    /** After a refusal: the next call looks again. */
    synchronized void forget() {
        keys = null;
    }

    private Keys find() throws IOException, InterruptedException {
        if (environment.containsKey("AWS_ACCESS_KEY_ID") && environment.containsKey("AWS_SECRET_ACCESS_KEY")) {
            return new Keys(environment.get("AWS_ACCESS_KEY_ID"), environment.get("AWS_SECRET_ACCESS_KEY"),
                    environment.get("AWS_SESSION_TOKEN"), Instant.MAX);
        }
        if (environment.containsKey("AWS_WEB_IDENTITY_TOKEN_FILE") && environment.containsKey("AWS_ROLE_ARN")) {
            return webIdentity();
        }
        Keys ofProfile = profile();
        if (ofProfile != null) {
            return ofProfile;
        }
        String full = environment.get("AWS_CONTAINER_CREDENTIALS_FULL_URI");
        String relative = environment.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
        if (full != null || relative != null) {
            return container(full != null ? full : CONTAINER_HOST + relative);
        }
        if ("true".equalsIgnoreCase(environment.get("AWS_EC2_METADATA_DISABLED"))) {
            throw none();
        }
        return instance();
    }

    private IOException none() {
        return new IOException("no AWS credentials: neither AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, nor "
                + "AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN, nor a profile in " + profileFile()
                + ", nor a role of the container or the instance");
    }

    private Path profileFile() {
        String file = environment.get("AWS_SHARED_CREDENTIALS_FILE");
        return file != null ? Path.of(file) : Path.of(System.getProperty("user.home"), ".aws", "credentials");
    }

    private Keys profile() throws IOException {
        Path file = profileFile();
        if (!Files.isReadable(file)) {
            return null;
        }
        String wanted = "[" + environment.getOrDefault("AWS_PROFILE", "default") + "]";
        Map<String, String> found = new HashMap<>();
        boolean isIn = false;
        for (String line : Files.readAllLines(file)) {
            String text = line.trim();
            if (text.startsWith("[")) {
                isIn = text.equals(wanted);
            } else if (isIn && text.indexOf('=') > 0 && !text.startsWith("#")) {
                found.put(text.substring(0, text.indexOf('=')).trim(), text.substring(text.indexOf('=') + 1).trim());
            }
        }
        if (!found.containsKey("aws_access_key_id") || !found.containsKey("aws_secret_access_key")) {
            return null;
        }
        // The file may be rewritten by whoever rotates the keys.
        return new Keys(found.get("aws_access_key_id"), found.get("aws_secret_access_key"), found.get("aws_session_token"),
                Instant.now().plus(Duration.ofMinutes(15)));
    }

    private Keys webIdentity() throws IOException, InterruptedException {
        String token = Files.readString(Path.of(environment.get("AWS_WEB_IDENTITY_TOKEN_FILE"))).trim();
        String region = environment.getOrDefault("AWS_REGION", environment.get("AWS_DEFAULT_REGION"));
        String host = region == null ? "https://sts.amazonaws.com" : "https://sts." + region + ".amazonaws.com";
        String form = "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=" + encoded(environment.get("AWS_ROLE_ARN"))
                + "&RoleSessionName=" + encoded(environment.getOrDefault("AWS_ROLE_SESSION_NAME", "kafka-client-telemetry-dump"))
                + "&WebIdentityToken=" + encoded(token);
        String answer = send(HttpRequest.newBuilder(URI.create(environment.getOrDefault("AWS_ENDPOINT_URL_STS", host)))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(form)));
        return new Keys(element(answer, "AccessKeyId"), element(answer, "SecretAccessKey"), element(answer, "SessionToken"),
                Instant.parse(element(answer, "Expiration")));
    }

    private Keys container(String url) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url));
        String file = environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
        String token = file != null ? Files.readString(Path.of(file)).trim() : environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN");
        return fromJson(send(token == null ? request : request.header("Authorization", token)));
    }

    private Keys instance() throws IOException, InterruptedException {
        try {
            String token = send(HttpRequest.newBuilder(URI.create(INSTANCE + "api/token"))
                    .header("X-aws-ec2-metadata-token-ttl-seconds", "21600")
                    .PUT(HttpRequest.BodyPublishers.noBody()));
            String roles = INSTANCE + "meta-data/iam/security-credentials/";
            String role = send(HttpRequest.newBuilder(URI.create(roles)).header("X-aws-ec2-metadata-token", token)).trim();
            return fromJson(send(HttpRequest.newBuilder(URI.create(roles + role)).header("X-aws-ec2-metadata-token", token)));
        } catch (IOException e) {
            IOException none = none();
            none.initCause(e);
            throw none;
        }
    }

    private static Keys fromJson(String text) throws IOException {
        JsonNode json = Manifests.JSON.readTree(text);
        if (!json.hasNonNull("AccessKeyId") || !json.hasNonNull("SecretAccessKey")) {
            throw new IOException("the answer to the question for credentials has no keys");
        }
        String expires = json.path("Expiration").asText("");
        return new Keys(json.get("AccessKeyId").asText(), json.get("SecretAccessKey").asText(), json.path("Token").asText(null),
                expires.isEmpty() ? Instant.MAX : Instant.parse(expires));
    }

    private static String element(String xml, String name) throws IOException {
        Matcher found = Pattern.compile("<" + name + ">([^<]+)</" + name + ">").matcher(xml);
        if (!found.find()) {
            throw new IOException("the answer to AssumeRoleWithWebIdentity has no " + name);
        }
        return found.group(1);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String send(HttpRequest.Builder request) throws IOException, InterruptedException {
        HttpClient client = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();
        HttpRequest built = request.timeout(Duration.ofSeconds(10)).build();
        HttpResponse<String> response = client.send(built, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IOException(built.uri() + " answers the question for credentials with " + response.statusCode());
        }
        return response.body();
    }
}
