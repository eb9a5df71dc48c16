package clienttelemetry.broker.identifiers;

import clienttelemetry.broker.contract.Sha256;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Texts that clients choose, as long as they like (Kafka allows 32 kB), held to a bound. A longer one is cut, and ends in
 * a digest of the whole, so that two that begin alike stay two: {@code the-beginning#sha256:0123456789abcdef}.
 */
public final class BoundedText {
    /** Of client ids, group and transactional ids, software names and versions. Real ones are far shorter. */
    public static final int NAME_BYTES = 256;
    /** Of principals: the names of certificates are longer. */
    static final int PRINCIPAL_BYTES = 1024;
    private static final String MARK = "#sha256:";
    private static final int DIGITS = 16;
    /** A digest of 32 kB takes longer than all else that is done with a line, and a client's names come with each of its lines. */
    private static final int MAX_REMEMBERED = 500;
    private static final Map<Long, String> REMEMBERED = new ConcurrentHashMap<>();

    private BoundedText() {}

    public static String name(String text) {
        return cut(text, NAME_BYTES);
    }

    public static String principal(String text) {
        return cut(text, PRINCIPAL_BYTES);
    }

    /** The text itself where its UTF-8 form is not longer than this. */
    public static String cut(String text, int maxBytes) {
        if (text == null || text.length() * 3 <= maxBytes) {
            return text;
        }
        long key = ((long) text.hashCode() << 32 | text.length()) * 31 + maxBytes;
        String remembered = REMEMBERED.get(key);
        if (remembered != null && text.startsWith(remembered.substring(0, remembered.length() - MARK.length() - DIGITS))) {
            return remembered;
        }
        byte[] whole = text.getBytes(StandardCharsets.UTF_8);
        if (whole.length <= maxBytes) {
            return text;
        }
        int end = maxBytes - MARK.length() - DIGITS;
        while ((whole[end] & 0xC0) == 0x80) { // not within a character
            end--;
        }
        String digest = Sha256.hex(Sha256.begin().digest(whole)).substring(0, DIGITS);
        String cut = new String(whole, 0, end, StandardCharsets.UTF_8) + MARK + digest;
        if (REMEMBERED.size() >= MAX_REMEMBERED) {
            REMEMBERED.clear();
        }
        REMEMBERED.put(key, cut);
        return cut;
    }

    /** Whether {@link #cut} made this text; a client's own text that ends so is taken for one, too. */
    public static boolean isCut(String text) {
        int mark = text == null ? -1 : text.length() - MARK.length() - DIGITS;
        return mark >= 0 && text.startsWith(MARK, mark);
    }

    /** Bytes in memory, near enough for a bound. */
    public static int heapBytes(String text) {
        return text == null ? 0 : 56 + text.length();
    }
}
