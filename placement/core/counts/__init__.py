"""
Counts of interchangeable items on bins: problem, network, flows and bounds.

Imports the compiler of `core.search.kernels`, and nothing else of the core.
"""
