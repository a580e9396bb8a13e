"""Consumer groups and producers, on the core of `placement`."""
