"""The `client-telemetry` command: one module per subcommand. The packages that they call do the work."""
