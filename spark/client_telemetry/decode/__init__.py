"""From raw objects to rows: pushes, points, connection events, and unreadable records."""
