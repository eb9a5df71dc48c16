"""Raw objects to rows: pushes, points, connection events, and what cannot be read."""
