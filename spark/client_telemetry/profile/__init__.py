"""From a day's connections and sessions to clients."""
