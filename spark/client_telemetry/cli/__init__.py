"""The `client-telemetry` command: one module per subcommand. What a subcommand does is in the package that it calls."""
