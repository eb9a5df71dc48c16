package clienttelemetry.broker;

/** Who is at the other end of a connection: the contract's message of that name. Null texts are not known. */
final class ClientConnection {
    String clientId;
    String principal;
    String clientAddress;
    int clientPort = -1;
    String listenerName;
    String securityProtocol;
    String connectionId;
    String softwareName;
    String softwareVersion;
    String sentSoftwareName;
    String sentSoftwareVersion;
    /** 0 where the broker refused nothing or it is not known. */
    int apiVersionsError;

    /**
     * Takes address and port from Kafka's connection id: {@code local:port-remote:port-index} until 3.9,
     * {@code local:port-remote:port-processor-index} since 4.0. IPv6 addresses are without brackets.
     */
    void connectionId(String id) {
        connectionId = id;
        String remote = remote(id);
        int colon = remote.lastIndexOf(':');
        if (colon < 0) {
            return;
        }
        try {
            clientPort = Integer.parseInt(remote.substring(colon + 1));
            clientAddress = remote.substring(0, colon);
        } catch (NumberFormatException e) {
            clientPort = -1; // an id of another form: what it would say stays unknown
        }
    }

    /** The {@code address:port} of the client in Kafka's connection id; empty where the id has another form. */
    static String remote(String connectionId) {
        int from = connectionId.indexOf('-') + 1;
        int to = connectionId.indexOf('-', from);
        return from > 0 && to > 0 ? connectionId.substring(from, to) : "";
    }

    ProtobufWriter encode() {
        ProtobufWriter out = new ProtobufWriter(256);
        out.presentString(1, clientId)
                .string(2, principal)
                .string(3, clientAddress)
                .string(5, listenerName)
                .string(6, securityProtocol)
                .string(7, connectionId)
                .string(8, softwareName)
                .string(9, softwareVersion)
                .string(10, sentSoftwareName)
                .string(11, sentSoftwareVersion);
        if (clientPort >= 0) {
            out.present(4, clientPort);
        }
        if (apiVersionsError != 0) {
            out.present(12, apiVersionsError);
        }
        return out;
    }
}
