package clienttelemetry.broker.registry;

import clienttelemetry.broker.contract.ProtobufWriter;
import clienttelemetry.broker.identifiers.BoundedText;
import clienttelemetry.broker.identifiers.ConnectionId;
import clienttelemetry.broker.identifiers.IdentifierRules;
import java.util.ArrayList;
import java.util.List;

/**
 * Who is at the other end of a connection: the contract's message of that name. Null texts are not known. Texts that the
 * client chose are bounded ({@link BoundedText}) by whoever sets them.
 */
public final class ClientConnection {
    public String clientId;
    public String principal;
    public String clientAddress;
    int clientPort = -1;
    public String listenerName;
    public String securityProtocol;
    public String connectionId;
    public String softwareName;
    public String softwareVersion;
    String sentSoftwareName;
    String sentSoftwareVersion;
    /** 0 where the broker refused nothing or it is not known. */
    int apiVersionsError;
    String saslMechanism;

    /**
     * Takes address and port from Kafka's connection id: {@code local:port-remote:port-index} until 3.9,
     * {@code local:port-remote:port-processor-index} since 4.0. IPv6 addresses are without brackets.
     */
    public void connectionId(String id) {
        connectionId = id;
        String remote = ConnectionId.remote(id);
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

    /** The same client, on no connection in particular. */
    ClientConnection withoutConnection() {
        ClientConnection client = new ClientConnection();
        client.clientId = clientId;
        client.principal = principal;
        client.clientAddress = clientAddress;
        client.listenerName = listenerName;
        client.securityProtocol = securityProtocol;
        client.softwareName = softwareName;
        client.softwareVersion = softwareVersion;
        client.sentSoftwareName = sentSoftwareName;
        client.sentSoftwareVersion = sentSoftwareVersion;
        client.apiVersionsError = apiVersionsError;
        client.saslMechanism = saslMechanism;
        return client;
    }

    /** Names of the contract's fields whose texts were cut. */
    List<String> cutFields() {
        List<String> cut = new ArrayList<>(0);
        addIfCut(cut, "client_id", clientId);
        addIfCut(cut, "principal", principal);
        addIfCut(cut, "client_software_name", softwareName);
        addIfCut(cut, "client_software_version", softwareVersion);
        addIfCut(cut, "sent_software_name", sentSoftwareName);
        addIfCut(cut, "sent_software_version", sentSoftwareVersion);
        return cut;
    }

    private static void addIfCut(List<String> cut, String field, String text) {
        if (BoundedText.isCut(text)) {
            cut.add(field);
        }
    }

    /** Bytes in memory, near enough for a bound. */
    int heapBytes() {
        int bytes = 96;
        for (String text : new String[] {clientId, principal, clientAddress, listenerName, securityProtocol, connectionId, softwareName,
            softwareVersion, sentSoftwareName, sentSoftwareVersion, saslMechanism}) {
            bytes += BoundedText.heapBytes(text);
        }
        return bytes;
    }

    public ProtobufWriter encode(IdentifierRules identifiers) {
        ProtobufWriter out = new ProtobufWriter(256);
        out.presentString(1, identifiers.treated(IdentifierRules.Kind.CLIENT_ID, clientId))
                .string(2, identifiers.treated(IdentifierRules.Kind.PRINCIPAL, principal))
                .string(3, identifiers.treated(IdentifierRules.Kind.ADDRESS, clientAddress))
                .string(5, listenerName)
                .string(6, securityProtocol)
                .string(7, identifiers.connectionId(connectionId))
                .string(8, softwareName)
                .string(9, softwareVersion)
                .string(10, sentSoftwareName)
                .string(11, sentSoftwareVersion)
                .presentString(13, saslMechanism);
        if (clientPort >= 0) {
            out.present(4, clientPort);
        }
        if (apiVersionsError != 0) {
            out.present(12, apiVersionsError);
        }
        return out;
    }
}
