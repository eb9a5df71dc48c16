package clienttelemetry.broker.settings;

import clienttelemetry.broker.contract.Json;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The listeners of the broker, from its configuration. */
public final class Listeners {
    public static final class Listener {
        public final String name;
        public final String protocol;
        /** 0 where the operating system chooses it. */
        public final int port;
        public final List<String> mechanisms;

        Listener(String name, String protocol, int port, List<String> mechanisms) {
            this.name = name;
            this.protocol = protocol;
            this.port = port;
            this.mechanisms = mechanisms;
        }
    }

    private final List<Listener> all;
    private final Set<String> controllers;

    private Listeners(List<Listener> all, Set<String> controllers) {
        this.all = all;
        this.controllers = controllers;
    }

    /** {@code listeners} may be in a form that is not known; then none is known. */
    public static Listeners of(Map<String, ?> configuration) {
        Map<String, String> protocols = new HashMap<>();
        for (String pair : text(configuration, "listener.security.protocol.map").split(",")) {
            int colon = pair.indexOf(':');
            if (colon > 0) {
                protocols.put(normalised(pair.substring(0, colon)), pair.substring(colon + 1).trim());
            }
        }
        List<Listener> all = new ArrayList<>();
        for (String each : text(configuration, "listeners").split(",")) {
            int colon = each.indexOf(':');
            if (colon <= 0) {
                all.clear();
                break;
            }
            String name = normalised(each.substring(0, colon));
            String protocol = protocols.getOrDefault(name, name);
            all.add(new Listener(name, protocol, port(each), protocol.startsWith("SASL") ? mechanisms(configuration, name) : List.of()));
        }
        return new Listeners(all, new HashSet<>(normalised(Arrays.asList(text(configuration, "controller.listener.names").split(",")))));
    }

    /** As Kafka's log and its metrics spell the name of a listener. */
    private static String normalised(String name) {
        return name.trim().toUpperCase(Locale.ROOT);
    }

    static List<String> normalised(List<String> names) {
        return names.stream().map(Listeners::normalised).collect(Collectors.toList());
    }

    /** Empty where they are not known. */
    List<String> names() {
        return all.stream().map(each -> each.name).collect(Collectors.toList());
    }

    private static int port(String listener) {
        try {
            return Integer.parseInt(listener.substring(listener.lastIndexOf(':') + 1).trim());
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static List<String> mechanisms(Map<String, ?> configuration, String name) {
        String own = text(configuration, "listener.name." + name.toLowerCase(Locale.ROOT) + ".sasl.enabled.mechanisms");
        String mechanisms = own.isEmpty() ? text(configuration, "sasl.enabled.mechanisms") : own;
        return Arrays.asList((mechanisms.isEmpty() ? "GSSAPI" : mechanisms).trim().split("\\s*,\\s*"));
    }

    /** A setting as text; empty where it is not set. */
    public static String text(Map<String, ?> configuration, String key) {
        Object value = configuration.get(key);
        if (value instanceof List) {
            return String.join(",", ((List<?>) value).stream().map(String::valueOf).toArray(String[]::new));
        }
        return value == null ? "" : value.toString();
    }

    /** Whose connections are the brokers' own. */
    public boolean isOfControllers(String name) {
        return controllers.contains(name);
    }

    /** Null where no listener has that port. */
    public Listener onPort(int port) {
        return all.stream().filter(each -> each.port == port && port > 0).findFirst().orElse(null);
    }

    /** For the manifest; null where none is known. */
    public ArrayNode describe() {
        if (all.isEmpty()) {
            return null;
        }
        ArrayNode out = Json.MAPPER.createArrayNode();
        for (Listener each : all) {
            ArrayNode mechanisms = out.addObject().put("name", each.name).put("security_protocol", each.protocol)
                    .putArray("sasl_mechanisms");
            each.mechanisms.forEach(mechanisms::add);
        }
        return out;
    }
}
