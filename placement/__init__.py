"""
Replica placement for Kafka on clusters that are held as columns.

`errors` and `synthetic` clusters are for all; each folder says what belongs there.
Imports no files, screens, sockets or JVMs.
"""
