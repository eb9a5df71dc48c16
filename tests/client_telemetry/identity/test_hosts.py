"""Names of addresses, from a file in the form of /etc/hosts."""

import pytest
from client_telemetry.identity.hosts import NO_HOSTS, NotHosts, host_names

FILE = """\
# exported on Monday
10.1.2.3\terp-app-1 erp-app-1.example.com   # the first name counts

10.1.2.0/24  erp-rack
10.0.0.0/8   data-centre
2001:db8::1  web-7
10.1.2.3     too-late
"""


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("10.1.2.3", "erp-app-1"),
        ("::ffff:10.1.2.3", "erp-app-1"),
        ("10.1.2.9", "erp-rack"),
        ("10.9.9.9", "data-centre"),
        ("2001:0db8:0::0001", "web-7"),
        ("192.0.2.1", None),
        ("9f86d081884c7d65", None),
    ],
)
def test_the_smallest_network_counts(address, name):
    assert host_names(FILE).of(address) == name
    assert NO_HOSTS.of(address) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("10.1.2.3 a\nerp-app-1 10.1.2.3\n", "line 2: 'erp-app-1' is neither an address nor a network"),
        ("10.1.2.3\n", "line 1: 10.1.2.3 has no name"),
    ],
)
def test_a_mistake_is_named_with_its_line(text, said):
    with pytest.raises(NotHosts, match=said):
        host_names(text)
