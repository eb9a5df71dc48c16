"""review: what was predicted for an upgrade and what happened to each client."""
