"""The live cluster, through kafka-python 3."""
