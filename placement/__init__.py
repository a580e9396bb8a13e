"""
Replica placement for Kafka clusters that are represented as columns.

All packages may use `errors` and `synthetic`; the docstring of each folder names its
contents. Imports no files, screens, sockets or JVMs.
"""
