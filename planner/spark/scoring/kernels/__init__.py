"""
Kernels that sum partitions in one pass, as plain Python or compiled.

Imports the compiler of the core alone; the stamp of compiled code covers this folder.
"""
