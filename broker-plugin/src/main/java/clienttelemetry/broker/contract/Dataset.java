package clienttelemetry.broker.contract;

/** The kinds of records of the raw dump contract; each has sequences of its own. */
public enum Dataset {
    CLIENT_PUSHES("client_pushes"),
    CONNECTIONS("connections");

    private final String folder;

    Dataset(String folder) {
        this.folder = folder;
    }

    /** The name as keys and manifests spell it. */
    public String folder() {
        return folder;
    }

    public static Dataset named(String folder) {
        for (Dataset each : values()) {
            if (each.folder.equals(folder)) {
                return each;
            }
        }
        throw new IllegalArgumentException("no dataset " + folder);
    }
}
