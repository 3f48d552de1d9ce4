"""From distances to coordinates."""
