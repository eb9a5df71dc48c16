"""One module per table: its schema, key and partition. All access to the lake goes through here."""
