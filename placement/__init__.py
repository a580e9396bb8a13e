"""The cluster as columns, the optimisation core, and replica placement on it."""
