package clienttelemetry.broker;

import clienttelemetry.broker.identifiers.IdentifierRules;

/**
 * {@code java -cp kafka-client-telemetry-dump.jar clienttelemetry.broker.Identifiers KEY_FILE VALUE...} prints the digests
 * of values, for rules that have to match them.
 */
public final class Identifiers {
    private Identifiers() {}

    /** Prints values and their digests, one pair a line. */
    public static void main(String[] arguments) {
        if (arguments.length < 2) {
            System.err.println("usage: java -cp kafka-client-telemetry-dump.jar clienttelemetry.broker.Identifiers KEY_FILE VALUE...");
            System.exit(2);
        }
        byte[] key = IdentifierRules.readKey("KEY_FILE", arguments[0]);
        for (int i = 1; i < arguments.length; i++) {
            System.out.println(arguments[i] + "\t" + IdentifierRules.digest(key, arguments[i]));
        }
    }
}
