"""From points to a connection: neighbours, graph, components, frames, rotations and steps."""
