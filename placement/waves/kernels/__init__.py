"""
Colouring, packing and timing of copies: plain functions over flat tables.

Small plans run the functions in Python on lists, large plans compiled on arrays (see
`placement.core.search.kernels.jit`). Nodes are brokers, or the part of a broker that
takes one copy at a time; edges are copies. Imports the compiler alone.
"""
