"""Kerberos of one sandbox: a realm with a server (Apache Kerby, from Maven), and keytabs of the broker and of the clients."""

from dataclasses import dataclass
from pathlib import Path

REALM, SERVICE, HOST = "REHEARSAL", "kafka", "localhost"
"""Kerberos names services by their host, so that brokers advertise a name to such clients, not an address."""
PROGRAM, POM = "Kdc.java", "kdc.pom.xml"
STARTED = "started"
LISTENERS = ("kerberos", "kerberos_ssl")
_MODULE = "com.sun.security.auth.module.Krb5LoginModule"
_CONFIGURATION = """\
[libdefaults]
default_realm = {realm}
dns_lookup_kdc = false
dns_lookup_realm = false
dns_canonicalize_hostname = false
rdns = false
udp_preference_limit = 1
[realms]
{realm} = {{
  kdc = 127.0.0.1:{port}
}}
[domain_realm]
{host} = {realm}
"""


@dataclass(frozen=True)
class Kerberos:
    folder: Path
    port: int
    user: str
    """Name of the clients' principal."""

    @property
    def configuration(self) -> Path:
        return self.folder / "krb5.conf"

    @property
    def arguments(self) -> list[str]:
        """Of the program."""
        principals = {f"{SERVICE}/{HOST}": self.folder / "broker.keytab", self.user: self._keytab}
        pairs = [word for name, keytab in principals.items() for word in (f"{name}@{REALM}", str(keytab))]
        return [REALM, str(self.port), str(self.folder / "kdc"), *pairs]

    @property
    def of_programs(self) -> dict[str, str]:
        """Variables of the programs; those of MIT Kerberos make its library take the keytab by itself."""
        return {
            "KRB5_CONFIG": str(self.configuration),
            "KRB5_CLIENT_KTNAME": str(self._keytab),
            "KRB5CCNAME": "MEMORY:",
            "KEYTAB": str(self._keytab),
            "REALM": REALM,
        }

    @property
    def of_broker(self) -> dict[str, object]:
        login = (
            f'{_MODULE} required useKeyTab=true storeKey=true keyTab="{self.folder / "broker.keytab"}" '
            f'principal="{SERVICE}/{HOST}@{REALM}";'
        )
        found: dict[str, object] = {"sasl.kerberos.service.name": SERVICE}
        for listener in LISTENERS:
            found |= {
                f"listener.name.{listener}.sasl.enabled.mechanisms": "GSSAPI",
                f"listener.name.{listener}.gssapi.sasl.jaas.config": login,
            }
        return found

    @property
    def _keytab(self) -> Path:
        return self.folder / "client.keytab"


def configured(folder: Path, port: int, user: str) -> Kerberos:
    """Writes krb5.conf."""
    found = Kerberos(folder, port, user)
    (folder / "kdc").mkdir(parents=True)
    found.configuration.write_text(_CONFIGURATION.format(realm=REALM, port=port, host=HOST))
    return found
