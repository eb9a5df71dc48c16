import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** {@code java JmxReader.java PORT BEANS ATTRIBUTE}: one JSON object a line for each bean, its name's keys and the value. */
public final class JmxReader {
    public static void main(String[] arguments) throws Exception {
        JMXServiceURL url = new JMXServiceURL("service:jmx:rmi:///jndi/rmi://127.0.0.1:" + arguments[0] + "/jmxrmi");
        try (JMXConnector connector = JMXConnectorFactory.connect(url)) {
            MBeanServerConnection server = connector.getMBeanServerConnection();
            for (ObjectName bean : server.queryNames(new ObjectName(arguments[1]), null)) {
                TreeMap<String, Object> told = new TreeMap<>(bean.getKeyPropertyList());
                told.put("value", server.getAttribute(bean, arguments[2]));
                System.out.println(told.entrySet().stream()
                        .map(each -> "\"" + each.getKey() + "\": \"" + each.getValue() + "\"")
                        .collect(Collectors.joining(", ", "{", "}")));
            }
        }
    }
}
