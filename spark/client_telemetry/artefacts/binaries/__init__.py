"""Packages inside archives, programs and container images. Nothing is unpacked to disk, and every read is bounded."""
