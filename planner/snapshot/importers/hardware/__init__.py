"""
Strimzi's resources, of topics too, and tables of brokers.

Imports `importers.inputs`.
"""
