"""The problem as an integer program that CP-SAT solves, where that is affordable."""
