"""API keys as an enumeration for code, and the brokers' own ones for the plugin, written from apis.csv by
spark/generated_files.py.
"""

from client_telemetry.knowledge import apis


def python() -> str:
    members = "\n".join(f"    {api.enum_name} = {key}" for key, api in sorted(apis.by_key().items()))
    return f'''"""Kafka's API keys by their names in ApiKeys.java. Written by `make generated` from apis.csv."""

from enum import IntEnum


class ApiKey(IntEnum):
{members}
'''


def java() -> str:
    """The set that a plugin needs which sees connections but no replica ids."""
    keys = ", ".join(str(key) for key, api in sorted(apis.by_key().items()) if api.used_by == "broker")
    return f"""package clienttelemetry.broker.registry;

/** APIs that only brokers and controllers send. Written by `make generated` from apis.csv. */
final class BrokerApis {{

    static final int[] KEYS = {{{keys}}};

    private BrokerApis() {{
    }}
}}
"""
