"""The variable of processes that mean a lake of their own: the class archive, benchmarks, `client-telemetry report`, the
sample. Here alone, as what sets it must not need the libraries of tables.
"""

LOCAL_CATALOG = "CLIENT_TELEMETRY_LOCAL_CATALOG"
"""If it is set, the configured catalog is not looked at, and the lake's catalog is the SQLite file in its folder."""
