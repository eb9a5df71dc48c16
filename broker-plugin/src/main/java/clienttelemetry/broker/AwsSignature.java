package clienttelemetry.broker;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Signature version 4 of AWS, for requests without a query. */
final class AwsSignature {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final String UNRESERVED = "-._~/";

    private AwsSignature() {}

    static String time(Instant time) {
        return TIME.format(time);
    }

    /** A path with everything escaped but slashes and what RFC 3986 calls unreserved. */
    static String escape(String path) {
        StringBuilder escaped = new StringBuilder();
        for (byte each : path.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (each & 0xFF);
            if (c < 128 && Character.isLetterOrDigit(c) || UNRESERVED.indexOf(c) >= 0) {
                escaped.append(c);
            } else {
                escaped.append(String.format(Locale.ROOT, "%%%02X", (int) c));
            }
        }
        return escaped.toString();
    }

    /**
     * The value of the Authorization header.
     *
     * @param headers with lower-case names; {@code host}, {@code x-amz-date} and {@code x-amz-content-sha256} among them
     */
    static String authorization(String method, String escapedPath, SortedMap<String, String> headers,
            AwsCredentials.Keys keys, String region) {
        StringBuilder request = new StringBuilder(method + "\n" + escapedPath + "\n\n");
        for (Map.Entry<String, String> header : headers.entrySet()) {
            request.append(header.getKey()).append(':').append(header.getValue().trim()).append('\n');
        }
        String signed = String.join(";", headers.keySet());
        request.append('\n').append(signed).append('\n').append(headers.get("x-amz-content-sha256"));

        String time = headers.get("x-amz-date");
        String day = time.substring(0, 8);
        String scope = day + "/" + region + "/s3/aws4_request";
        String toSign = "AWS4-HMAC-SHA256\n" + time + "\n" + scope + "\n"
                + SpoolFile.hex(SpoolFile.sha256().digest(request.toString().getBytes(StandardCharsets.UTF_8)));
        byte[] key = ("AWS4" + keys.secret).getBytes(StandardCharsets.UTF_8);
        for (String part : new String[] {day, region, "s3", "aws4_request"}) {
            key = hmac(key, part);
        }
        return "AWS4-HMAC-SHA256 Credential=" + keys.id + "/" + scope + ",SignedHeaders=" + signed + ",Signature="
                + SpoolFile.hex(hmac(key, toSign));
    }

    private static byte[] hmac(byte[] key, String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has HmacSHA256", e);
        }
    }
}
