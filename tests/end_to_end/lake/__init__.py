"""The lake on real catalogs: PostgreSQL and Iceberg's REST server."""
