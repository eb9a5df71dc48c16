import java.io.File;
import org.apache.kerby.kerberos.kerb.server.SimpleKdcServer;

/** A Kerberos server until it is ended. Arguments: realm, port, a working folder, and for each principal its name and its keytab. */
public final class Kdc {
    private Kdc() {
    }

    public static void main(String[] arguments) throws Exception {
        SimpleKdcServer kdc = new SimpleKdcServer();
        kdc.setKdcRealm(arguments[0]);
        kdc.setKdcHost("127.0.0.1");
        kdc.setAllowUdp(false);
        kdc.setAllowTcp(true);
        kdc.setKdcTcpPort(Integer.parseInt(arguments[1]));
        kdc.setWorkDir(new File(arguments[2]));
        kdc.init();
        for (int place = 3; place < arguments.length; place += 2) {
            kdc.createAndExportPrincipals(new File(arguments[place + 1]), arguments[place]);
        }
        kdc.start();
        System.out.println("started");
    }
}
