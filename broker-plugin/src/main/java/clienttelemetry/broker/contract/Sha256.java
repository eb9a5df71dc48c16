package clienttelemetry.broker.contract;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Digests of files, as manifests write them. */
public final class Sha256 {
    private Sha256() {}

    public static MessageDigest begin() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** In lower case. */
    public static String hex(byte[] bytes) {
        StringBuilder text = new StringBuilder(2 * bytes.length);
        for (byte each : bytes) {
            text.append(Character.forDigit(each >> 4 & 0xF, 16)).append(Character.forDigit(each & 0xF, 16));
        }
        return text.toString();
    }
}
