"""
Rates and sizes: answers of Prometheus, and tables of rates.

Imports `importers.inputs`.
"""
