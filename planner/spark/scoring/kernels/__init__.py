"""
Partitions added up in one pass, as plain Python or as machine code.

Imports the compiler of the core alone; the stamp of compiled code covers this folder.
"""
