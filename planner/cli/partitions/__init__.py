"""The `partitions` commands: size and audit."""
