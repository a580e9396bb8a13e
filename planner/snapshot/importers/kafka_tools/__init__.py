"""
Outputs of Kafka's own tools and of kcat, one module each.

Imports `importers.inputs`.
"""
