"""What an owner is asked for: a message in three forms."""
