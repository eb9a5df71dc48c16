package clienttelemetry.broker.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import client_telemetry.raw.v1.RawDumpV1.ConnectionEvent;
import client_telemetry.raw.v1.RawDumpV1.ConnectionEvent.Kind;
import clienttelemetry.broker.contract.Drops;
import clienttelemetry.broker.contract.DumpRecord;
import clienttelemetry.broker.identifiers.BoundedText;
import com.google.protobuf.InvalidProtocolBufferException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What clients can do to the broker through the registry. */
class HostileClientsTest {
    private static final int KIB = 1024;
    private static final long SECOND = 1_000_000_000L;

    private final List<ConnectionEvent> events = new ArrayList<>();
    private final Drops drops = new Drops();
    private long ticks;

    private ConnectionRegistry registry(long maxBytes) {
        return ConnectionRegistryTest.registry(this::tell, drops, maxBytes, () -> ticks);
    }

    private void tell(DumpRecord record) {
        try {
            events.add(ConnectionEvent.parseFrom(record.fields));
        } catch (InvalidProtocolBufferException e) {
            throw new AssertionError(e);
        }
    }

    private static String id(int client) {
        return "10.0.0.1:9092-10.1." + client / 60_000 + ".7:" + (client % 60_000 + 1000) + "-0-" + client;
    }

    private static String ofAddress(String address, int port) {
        return "10.0.0.1:9092-" + address + ":" + port + "-0-" + port;
    }

    private static String apiVersions(String clientId, String software, String id) {
        return ConnectionRegistryTest.line(18, 4, "\"" + clientId + "\"",
                "{\"clientSoftwareName\":\"" + software + "\",\"clientSoftwareVersion\":\"1.0\"}", "{\"errorCode\":0,\"apiKeys\":[]}", id, "unknown");
    }

    private static String disconnected(String id) {
        return "[SocketServer listenerType=BROKER, nodeId=1] Connection with /x (channelId=" + id + ") disconnected";
    }

    private static long used() throws InterruptedException {
        Runtime runtime = Runtime.getRuntime();
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(50);
        }
        return runtime.totalMemory() - runtime.freeMemory();
    }

    /** Kafka allows names of 32 kB: 0.1 kept 32 of them for each connection, and the broker ran out of memory. */
    @Test
    void namesOf32KilobytesOn1000Connections() throws Exception {
        ConnectionRegistry registry = registry(64 << 20);
        Consumer<DumpRecord> nowhere = record -> { };
        long before = used();
        String filler = "x".repeat(32 * KIB);
        for (int client = 0; client < 1000; client++) {
            String name = "n" + client + "-" + filler;
            registry.request(apiVersions(name, name, id(client)), 1);
            for (int i = 0; i < 17; i++) {
                registry.request(ConnectionRegistryTest.line(28, 3, "\"" + name + "\"",
                        "{\"transactionalId\":\"t" + i + filler + "\",\"groupId\":\"g" + i + filler + "\"}", "{}", id(client), name), 2);
            }
            events.clear();
        }
        long more = used() - before;
        assertEquals(1000, registry.size());
        assertTrue(more < 64 << 20, more + " bytes more");
        assertTrue(more < 3 * registry.heldBytes(), "its own account of " + registry.heldBytes() + " is near the " + more + " bytes it takes");
        registry.snapshot(true, 10, this::tell);
        ConnectionEvent event = events.stream().filter(each -> each.getKind() == Kind.ACTIVE).findFirst().orElseThrow();
        assertEquals(256, event.getClient().getClientIdBytes().size());
        assertTrue(event.getClient().getClientId().matches("n\\d+-x+#sha256:[0-9a-f]{16}"), event.getClient().getClientId());
        assertEquals(16, event.getGroupIdsCount());
        assertEquals(Set.of("client_id", "client_software_name", "client_software_version", "sent_software_name", "group_ids",
                "transactional_ids"), new HashSet<>(event.getCutFieldsList()));
        assertEquals(1000, events.stream().map(each -> each.getClient().getClientId()).distinct().count(), "the digest keeps them apart");
        registry.snapshot(true, 10, nowhere);
    }

    /** A NAT gateway or a Kubernetes node: what is in memory only would be lost with a broker that is killed. */
    @Test
    void clientsBehindOneAddressAreToldOfWithinSecondsIfTheyLast() {
        ConnectionRegistry registry = registry(64 << 20);
        for (int client = 0; client < 2493; client++) {
            registry.request(apiVersions("app-" + client, "lib", ofAddress("10.9.9.9", 1000 + client)), 1_000);
        }
        ticks += SECOND;
        registry.tellStorms(2_000, this::tell);
        assertTrue(events.stream().map(each -> each.getClient().getClientId()).distinct().count() < 2493, "those of a second may be a storm");
        ticks += SECOND / 4;
        registry.tellStorms(2_250, this::tell);
        assertEquals(2493, events.stream().map(each -> each.getClient().getClientId()).distinct().count());
        assertEquals(2493, events.stream().filter(each -> each.getKind() == Kind.OPENED).count());
        int told = events.size();
        ticks += 2 * SECOND;
        registry.tellStorms(5_000, this::tell);
        assertEquals(told, events.size(), "once");
    }

    /** Its end is logged before them (acks=0, or a connection that the client drops): they are counted, and it is not twice. */
    @Test
    void requestsThatAStormLeavesBehindAreCountedWheneverTheyCome() {
        ConnectionRegistry registry = registry(64 << 20);
        int storm = 3_000;
        for (int late = 0; late < 4; late++) {
            for (int i = 0; i < storm; i++) {
                String id = ofAddress("10.6.6.6", 1000 + i);
                registry.request(apiVersions("restless", "lib", id), 1_000);
                if (late == 0) {
                    registry.selected(disconnected(id), null, 1_001);
                }
            }
            registry.drain();
            registry.tellStorms(2_000, this::tell);
            ticks += SECOND * late;
        }
        ticks += 20 * SECOND;
        registry.drain();
        registry.snapshot(true, 30_000, this::tell);
        assertEquals(0, registry.size());
        assertEquals(0, registry.heldBytes());
        List<ConnectionEvent> summaries = events.stream().filter(each -> each.getKind() == Kind.SUMMARY).collect(Collectors.toList());
        long requests = summaries.stream().mapToLong(each -> each.getApiUses(0).getRequests()).sum();
        assertEquals(4 * (storm - 1000), requests);
        long connections = summaries.stream().mapToLong(ConnectionEvent::getConnections).sum();
        assertTrue(connections <= storm - 1000 + summaries.size() - 1, connections + " connections of " + summaries.size() + " sums");
        assertEquals(1000, events.stream().filter(each -> each.getKind() == Kind.CLOSED).map(each -> each.getClient().getConnectionId()).distinct().count());
    }

    @Test
    void aTextIsCutBetweenCharacters() {
        String cut = BoundedText.name("ä€😀".repeat(100));
        assertTrue(cut.getBytes(StandardCharsets.UTF_8).length <= BoundedText.NAME_BYTES);
        assertFalse(cut.contains("\uFFFD"));
        assertTrue(BoundedText.isCut(cut));
        String fits = "x".repeat(BoundedText.NAME_BYTES);
        assertEquals(fits, BoundedText.name(fits));
        assertFalse(BoundedText.isCut("short"));
    }

    @Test
    void theRegistryIsBoundedWhateverClientsDo() {
        ConnectionRegistry registry = registry(4 << 20);
        for (int client = 0; client < 20_000; client++) {
            registry.request(apiVersions("client-" + client % 50, "lib", id(client)), 1);
        }
        assertTrue(registry.heldBytes() <= 5 << 20, registry.heldBytes() + " bytes");
        registry.request(apiVersions("late", "lib", id(30_000)), 2);
        registry.snapshot(false, 10, this::tell);
        ConnectionEvent late = events.stream().filter(each -> each.getClient().getClientId().equals("late")).findFirst().orElseThrow();
        assertEquals(Kind.SUMMARY, late.getKind(), "what comes when it is full is summed up by client");
        assertEquals(1, late.getApiUses(0).getRequests());
        assertEquals(0, drops.of(Drops.Reason.REGISTRY_FULL));
    }

    /** 0.1 was full after 50,000 short connections, and blind for all that came later. */
    @Test
    void aStormOf200000ConnectionsHidesNobody() {
        ConnectionRegistry registry = registry(64 << 20);
        int storm = 200_000;
        for (int i = 0; i < storm; i++) {
            ticks += SECOND / 2000; // 2000 a second
            String id = ofAddress("10.6.6." + i % 4, 1000 + i / 4);
            registry.request(apiVersions("restless", "lib", id), i);
            registry.selected(disconnected(id), null, i);
            if (i == storm / 2) {
                registry.request(apiVersions("well-behaved", "good-lib", ofAddress("10.0.0.9", 5)), i);
            }
            if (i % 2000 == 0) {
                registry.drain();
                assertTrue(registry.size() < 25_000, registry.size() + " connections are held");
            }
        }
        String other = ofAddress("10.6.6.1", 60_001); // of a stormy address, and lasts
        registry.request(apiVersions("neighbour", "good-lib", other), storm);
        ticks += 20 * SECOND;
        registry.drain();
        registry.snapshot(true, storm + 1000, this::tell);
        assertEquals(0, drops.of(Drops.Reason.REGISTRY_FULL));
        assertTrue(events.size() < 10_000, events.size() + " events tell all");
        long alone = events.stream().filter(each -> each.getKind() == Kind.CLOSED).count();
        long summedUp = events.stream().filter(each -> each.getKind() == Kind.SUMMARY).mapToLong(ConnectionEvent::getConnections).sum();
        assertEquals(storm, alone + summedUp, "each connection is counted once");
        long requests = events.stream().filter(each -> each.getKind() != Kind.OPENED && each.getClient().getClientId().equals("restless"))
                .mapToLong(each -> each.getApiUses(0).getRequests()).sum();
        assertEquals(storm, requests);
        assertEquals(List.of(Kind.OPENED, Kind.ACTIVE), kinds("well-behaved"));
        assertEquals(List.of(Kind.OPENED, Kind.ACTIVE), kinds("neighbour"));
        ConnectionEvent summary = events.stream().filter(each -> each.getKind() == Kind.SUMMARY).findFirst().orElseThrow();
        assertEquals("", summary.getClient().getConnectionId());
        assertFalse(summary.getClient().hasClientPort());
        assertEquals("restless", summary.getClient().getClientId());
    }

    private List<Kind> kinds(String clientId) {
        return events.stream().filter(each -> each.getClient().getClientId().equals(clientId)).map(ConnectionEvent::getKind)
                .collect(Collectors.toList());
    }

    @Test
    void aStormOfEverNewClientIdsIsCountedByClients() {
        ConnectionRegistry registry = registry(64 << 20);
        for (int i = 0; i < 100_000; i++) {
            String id = ofAddress("10.6.6.6", 1000 + i);
            registry.request(apiVersions("id-" + i + "-" + "y".repeat(200), "lib", id), i);
            registry.selected(disconnected(id), null, i);
        }
        registry.drainAll();
        registry.snapshot(true, 100_000, this::tell);
        long requests = events.stream().filter(each -> each.getKind() != Kind.OPENED)
                .mapToLong(each -> each.getApiUses(0).getRequests()).sum();
        assertEquals(100_000, requests, "no request is lost");
        assertTrue(drops.of(Drops.Reason.REGISTRY_FULL_CLIENTS) > 50_000, "those without a name of their own are counted");
    }

    /** A disk that hangs must not hang the broker: 0.1 held a connection's lock while it wrote. */
    @Test
    void noRequestWaitsForTheDisk() throws Exception {
        ConnectionRegistry registry = registry(64 << 20);
        for (int client = 0; client < 10; client++) {
            registry.request(apiVersions("app", "lib", id(client)), 1);
        }
        CountDownLatch isWriting = new CountDownLatch(1);
        CountDownLatch isDiskBack = new CountDownLatch(1);
        Thread writer = new Thread(() -> registry.snapshot(true, 10, record -> {
            isWriting.countDown();
            await(isDiskBack);
        }));
        writer.start();
        await(isWriting);
        Thread requests = new Thread(() -> {
            for (int client = 0; client < 10; client++) {
                registry.request(apiVersions("app", "lib", id(client)), 11);
                registry.selected(disconnected(id(client)), null, 12);
            }
            registry.request(apiVersions("another", "lib", id(99)), 12);
        });
        requests.start();
        requests.join(5000);
        boolean isWaiting = requests.isAlive();
        isDiskBack.countDown();
        writer.join();
        requests.join();
        assertFalse(isWaiting, "a thread of the broker waited for the writer");
    }

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(20, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
