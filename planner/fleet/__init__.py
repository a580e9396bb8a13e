"""Fleets: the tables of many snapshots in one folder; nothing here needs Spark."""
