"""Pushes to sessions, connection events to connections, and which connection belongs to which instance."""
