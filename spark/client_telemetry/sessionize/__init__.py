"""From pushes to sessions, from connection events to connections, and which connection belongs to which instance."""
