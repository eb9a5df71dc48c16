package clienttelemetry.broker.upload;

import clienttelemetry.broker.settings.Settings;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.Set;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.ProfileCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.retry.RetryMode;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.profiles.ProfileFile;
import software.amazon.awssdk.profiles.ProfileFileSupplier;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * S3 or a store that speaks its protocol: one PUT for each object. {@link Settings} lets no object grow to the 5 GiB of
 * one PUT, so there are no multipart uploads, and none that stay unfinished.
 */
final class S3Store implements ObjectStore {
    private static final Duration SLOWEST_ANSWER = Duration.ofMinutes(2);
    /** Codes of the store's answers that are about the keys: they are looked for anew. */
    private static final Set<String> ABOUT_KEYS =
            Set.of("ExpiredToken", "InvalidToken", "TokenRefreshRequired", "InvalidAccessKeyId", "SignatureDoesNotMatch", "AccessDenied");
    /** Codes of answers that are about all objects alike, or pass. */
    private static final Set<String> ABOUT_THE_STORE =
            Set.of("RequestTimeTooSkewed", "RequestTimeout", "NoSuchBucket", "SlowDown", "OperationAborted", "AuthorizationHeaderMalformed");

    private final Settings settings;
    private final String bucket;
    /** In front of keys: empty, or ends with a slash. */
    private final String prefix;
    private S3Client client;

    S3Store(Settings settings) {
        this.settings = settings;
        bucket = settings.location.getAuthority();
        String inBucket = settings.location.getPath().replaceAll("^/+|/+$", "");
        prefix = inBucket.isEmpty() ? "" : inBucket + "/";
    }

    /** Keys are looked for when the first object is there: the broker's start waits for nobody. */
    private S3Client client() {
        if (client == null) {
            S3ClientBuilder builder = S3Client.builder()
                    .httpClientBuilder(UrlConnectionHttpClient.builder().socketTimeout(SLOWEST_ANSWER))
                    .region(region())
                    .credentialsProvider(credentials())
                    .forcePathStyle(settings.s3PathStyle)
                    .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED) // each object has its SHA-256
                    .serviceConfiguration(service -> service.chunkedEncodingEnabled(false))
                    .overrideConfiguration(override -> override.retryStrategy(RetryMode.STANDARD));
            if (settings.s3Endpoint.isEmpty()) {
                builder.crossRegionAccessEnabled(true);
            } else {
                builder.endpointOverride(URI.create(settings.s3Endpoint));
            }
            client = builder.build();
        }
        return client;
    }

    private Region region() {
        if (!settings.s3Region.isEmpty()) {
            return Region.of(settings.s3Region);
        }
        try {
            return DefaultAwsRegionProviderChain.builder().build().getRegion();
        } catch (SdkClientException e) {
            return Region.US_EAST_1;
        }
    }

    private AwsCredentialsProvider credentials() {
        if (settings.s3Profile.isEmpty() && settings.s3ProfileFile.isEmpty()) {
            return DefaultCredentialsProvider.builder().build();
        }
        ProfileCredentialsProvider.Builder profile = ProfileCredentialsProvider.builder();
        if (!settings.s3Profile.isEmpty()) {
            profile.profileName(settings.s3Profile);
        }
        if (!settings.s3ProfileFile.isEmpty()) {
            profile.profileFile(ProfileFileSupplier.reloadWhenModified(Path.of(settings.s3ProfileFile), ProfileFile.Type.CONFIGURATION));
        }
        return profile.build();
    }

    @Override
    public void put(String key, Path file, String sha256) throws IOException {
        PutObjectRequest.Builder request = PutObjectRequest.builder().bucket(bucket).key(prefix + key).checksumSHA256(base64(sha256));
        if (!settings.s3Encryption.isEmpty()) {
            request.serverSideEncryption(settings.s3Encryption);
        }
        if (!settings.s3KmsKey.isEmpty()) {
            request.ssekmsKeyId(settings.s3KmsKey);
        }
        try {
            client().putObject(request.build(), file);
        } catch (S3Exception e) {
            throw refusal(key, e);
        } catch (SdkClientException e) {
            throw new IOException("PUT of " + key + " failed: " + e.getMessage(), e);
        }
    }

    private IOException refusal(String key, S3Exception e) {
        String code = e.awsErrorDetails() == null ? "" : String.valueOf(e.awsErrorDetails().errorCode());
        String message = "PUT of " + key + " was answered with " + e.statusCode() + " " + code + ": " + e.getMessage();
        boolean isAboutKeys = e.statusCode() == 401 || e.statusCode() == 403 || ABOUT_KEYS.contains(code);
        if (isAboutKeys) {
            client.close();
            client = null;
        }
        boolean isAboutThisOne = e.statusCode() >= 400 && e.statusCode() < 500 && e.statusCode() != 408 && e.statusCode() != 429
                && !isAboutKeys && !ABOUT_THE_STORE.contains(code);
        return isAboutThisOne ? new RefusedObject(message, e) : new IOException(message, e);
    }

    private static String base64(String hex) {
        byte[] bytes = new byte[hex.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
        }
        return Base64.getEncoder().encodeToString(bytes);
    }
}
