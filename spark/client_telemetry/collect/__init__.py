"""What arrived in the raw location, and what is missing."""
