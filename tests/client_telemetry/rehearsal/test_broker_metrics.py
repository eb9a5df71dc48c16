"""Names of MBeans as metrics, and the constants of classes."""

import zipfile

from client_telemetry.knowledge.broker_metrics import Metric
from client_telemetry.rehearsal import broker_metrics


def test_values_of_tags_are_left_out():
    names = [
        'kafka.log:logDirectory="/a,b=c",name=OfflineLogDirectoryCount,type=LogManager',
        "kafka.server:BrokerId=1,type=registration-metrics",
        "java.lang:type=Memory",
    ]
    assert broker_metrics.metrics(names) == {
        Metric("kafka.log", "LogManager", "OfflineLogDirectoryCount", ("logDirectory",)),
        Metric("kafka.server", "registration-metrics", "", ("BrokerId",)),
    }


def test_modes():
    assert broker_metrics.modes("2.8.2") == ["2.8.2"]
    assert broker_metrics.modes("3.9.2") == ["3.9.2", "3.9.2@3.9"]
    assert broker_metrics.modes("3.0.0") == ["3.0.0@3.0"]
    assert broker_metrics.modes("4.0.0") == ["4.0.0"]


def test_constants_are_whole_texts(tmp_path):
    content = b"\xca\xfe\xba\xbe\x01\x00\x0dBytesInPerSec\x01\x00\x03Foo\x08\x00\x01"
    for jar in ("kafka_2.13-4.0.0.jar", "other-1.jar"):
        with zipfile.ZipFile(tmp_path / jar, "w") as opened:
            opened.writestr("A.class", content if jar.startswith("kafka") else b"\x01\x00\x03Bar")
    jars = tmp_path.glob("kafka*.jar")
    assert broker_metrics.constants(jars, {"BytesInPerSec", "Bar", "Fo"}) == {"BytesInPerSec"}
