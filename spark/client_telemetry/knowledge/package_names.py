"""Names of packages as their registries compare them."""

import re

_REGARDLESS_OF_CASE = ("golang", "nuget", "composer", "github", "hex", "deb", "apk", "rpm")


def normal(kind: str, name: str) -> str:
    """
    >>> normal("pypi", "Confluent._kafka"), normal("nuget", "Confluent.Kafka"), normal("npm", "kafkaJS")
    ('confluent-kafka', 'confluent.kafka', 'kafkaJS')
    """
    if kind == "pypi":
        return re.sub(r"[-_.]+", "-", name).lower()  # PEP 503
    return name.lower() if kind in _REGARDLESS_OF_CASE else name
