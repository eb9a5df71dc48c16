"""Connections and sessions of a day to clients."""
