"""Plan folders: written, read, explained."""
