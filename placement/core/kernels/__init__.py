"""Inner loops of the search: plain arrays in and out, compiled for large problems."""
