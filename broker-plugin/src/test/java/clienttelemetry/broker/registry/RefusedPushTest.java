package clienttelemetry.broker.registry;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import client_telemetry.raw.v1.RawDumpV1.ClientPush;
import clienttelemetry.broker.contract.Dataset;
import clienttelemetry.broker.contract.Drops;
import clienttelemetry.broker.contract.DumpRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

/** The broker refuses these before a plugin sees them; the request log has them. */
class RefusedPushTest {
    private static final String ID = "127.0.0.1:9092-10.0.0.7:46656-0-6";
    private final List<DumpRecord> records = new ArrayList<>();
    private final ConnectionRegistry registry = ConnectionRegistryTest.registry(records::add, new Drops(), 1 << 20, System::nanoTime);

    private static String push(int error, String metrics) {
        return ConnectionRegistryTest.line(72, 0, "\"app\"", "{\"clientInstanceId\":\"AAAAAAAAAAEAAAAAAAAAAg\",\"subscriptionId\":-17,"
                + "\"terminating\":true,\"compressionType\":4,\"metrics\":\"" + metrics + "\"}",
                "{\"throttleTimeMs\":0,\"errorCode\":" + error + "}", ID, "lib");
    }

    private List<DumpRecord> pushes() {
        return records.stream().filter(each -> each.dataset == Dataset.CLIENT_PUSHES).collect(Collectors.toList());
    }

    @Test
    void eachRefusalIsARecordWithoutPayload() throws Exception {
        int[] errors = {42, 76, 87, 89, 117, 118};
        for (int error : errors) {
            registry.request(push(error, "AAAA".repeat(10_000)), 7);
        }
        assertEquals(errors.length, pushes().size());
        for (int i = 0; i < errors.length; i++) {
            DumpRecord record = pushes().get(i);
            assertEquals(null, record.payload);
            ClientPush push = ClientPush.parseFrom(record.fields);
            assertEquals(errors[i], push.getErrorCode());
            assertEquals("app", push.getClient().getClientId());
            assertEquals("lib", push.getClient().getClientSoftwareName());
            assertEquals(ID, push.getClient().getConnectionId());
            assertArrayEquals(new byte[] {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2}, push.getClientInstanceId().toByteArray());
            assertEquals(-17, push.getSubscriptionId());
            assertEquals(4, push.getCompressionType());
            assertEquals(true, push.getTerminating());
            assertEquals(7_000_000L, push.getReceivedAtNanos());
        }
    }

    /** Where the plugin's interface does not tell the interval, the broker's answer to the client does. */
    @Test
    void theIntervalThatTheBrokerTold() {
        registry.request(ConnectionRegistryTest.line(71, 0, "\"app\"", "{\"clientInstanceId\":\"AAAAAAAAAAAAAAAAAAAAAA\"}",
                "{\"throttleTimeMs\":0,\"errorCode\":0,\"clientInstanceId\":\"AAAAAAAAAAEAAAAAAAAAAg\",\"subscriptionId\":5,"
                + "\"acceptedCompressionTypes\":[4],\"pushIntervalMs\":30000}", ID, "lib"), 7);
        assertEquals(30_000, registry.pushIntervalMs(new Uuid(1, 2)));
        assertEquals(-1, registry.pushIntervalMs(new Uuid(0, 0)));
    }

    @Test
    void aPushThatWasTakenComesFromTheReceiver() {
        registry.request(push(0, "AAAA"), 7);
        assertEquals(List.of(), pushes());
    }
}
