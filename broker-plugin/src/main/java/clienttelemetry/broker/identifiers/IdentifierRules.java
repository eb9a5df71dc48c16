package clienttelemetry.broker.identifiers;

import clienttelemetry.broker.contract.Json;
import clienttelemetry.broker.contract.Sha256;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.apache.kafka.common.config.ConfigException;

/**
 * What becomes of identifiers before they leave the broker: each kind is kept clear, replaced by a keyed digest (the same
 * everywhere and always with the same key), or left out.
 */
public final class IdentifierRules {
    /** As the manifest spells them, in lower case. */
    public enum Kind {
        PRINCIPAL,
        ADDRESS,
        CLIENT_ID,
        GROUP_ID,
        TRANSACTIONAL_ID,
        TOPIC;

        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public enum Treatment {
        CLEAR,
        HMAC,
        OMIT
    }

    public static final IdentifierRules CLEAR = new IdentifierRules(Map.of(), null);
    private static final String MARK = "hmac:";
    private static final int DIGITS = 32;
    private static final int LEAST_KEY_BYTES = 16;
    private static final int MAX_REMEMBERED = 10_000;
    /** Labels in pushes are as long as their clients like. */
    private static final int LONGEST_REMEMBERED = 1024;

    private final Map<Kind, Treatment> treatments = new EnumMap<>(Kind.class);
    private final SecretKeySpec key;
    private final Map<String, String> remembered = new ConcurrentHashMap<>();

    /** @param key may be null where no treatment is HMAC */
    public IdentifierRules(Map<Kind, Treatment> treatments, byte[] key) {
        for (Kind kind : Kind.values()) {
            this.treatments.put(kind, treatments.getOrDefault(kind, Treatment.CLEAR));
        }
        this.key = key == null ? null : secret(key);
    }

    /** The key is the file's bytes, but for white space at its end; throws where there are too few. */
    public static byte[] readKey(String setting, String file) {
        try {
            byte[] key = Files.readString(Path.of(file), StandardCharsets.ISO_8859_1).stripTrailing().getBytes(StandardCharsets.ISO_8859_1);
            if (key.length < LEAST_KEY_BYTES) {
                throw new ConfigException(setting, file, "has " + key.length + " bytes: a key needs " + LEAST_KEY_BYTES + " at least");
            }
            return key;
        } catch (IOException e) {
            throw new ConfigException(setting, file, "cannot be read: " + e);
        }
    }

    boolean isClear(Kind kind) {
        return treatments.get(kind) == Treatment.CLEAR;
    }

    /** Whether payloads can stay as they are. */
    public boolean arePayloadsClear() {
        return isClear(Kind.CLIENT_ID) && isClear(Kind.GROUP_ID) && isClear(Kind.TRANSACTIONAL_ID) && isClear(Kind.TOPIC);
    }

    /** What is to be written of a text; null where it is null or left out. */
    public String treated(Kind kind, String text) {
        Treatment treatment = treatments.get(kind);
        if (text == null || treatment == Treatment.CLEAR) {
            return text;
        }
        return treatment == Treatment.OMIT ? null : digest(text);
    }

    private String digest(String text) {
        if (text.length() > LONGEST_REMEMBERED) {
            return digest(key, text);
        }
        String known = remembered.get(text);
        if (known == null) {
            if (remembered.size() >= MAX_REMEMBERED) {
                remembered.clear();
            }
            known = digest(key, text);
            remembered.put(text, known);
        }
        return known;
    }

    /** What stands for a text that is treated as HMAC; for rules that have to match it. */
    public static String digest(byte[] key, String text) {
        return digest(secret(key), text);
    }

    private static SecretKeySpec secret(byte[] key) {
        return new SecretKeySpec(key, "HmacSHA256");
    }

    private static String digest(SecretKeySpec key, String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(key);
            return MARK + Sha256.hex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8))).substring(0, DIGITS);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java has HmacSHA256", e);
        }
    }

    /** Kafka's connection id with the client's address treated; port and index keep it unique. */
    public String connectionId(String id) {
        if (id == null || isClear(Kind.ADDRESS)) {
            return id;
        }
        String remote = ConnectionId.remote(id);
        int colon = remote.lastIndexOf(':');
        if (colon < 0) {
            return treated(Kind.ADDRESS, id);
        }
        String address = treated(Kind.ADDRESS, remote.substring(0, colon));
        return id.replace("-" + remote + "-", "-" + (address == null ? "" : address) + remote.substring(colon) + "-");
    }

    /** For the manifest. */
    public ObjectNode describe() {
        ObjectNode out = Json.MAPPER.createObjectNode();
        treatments.forEach((kind, treatment) -> out.put(kind.text(), treatment.name().toLowerCase(Locale.ROOT)));
        return out;
    }
}
