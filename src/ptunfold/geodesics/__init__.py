"""From a connection to geodesic distances and unfolded paths."""
