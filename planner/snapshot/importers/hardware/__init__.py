"""
Descriptions of brokers: Strimzi's resources, and tables of brokers.

Imports `importers.inputs`.
"""
