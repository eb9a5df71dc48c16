"""One suite per table: what must hold before readers see a slice."""
