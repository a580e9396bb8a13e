"""Sizing: how many brokers a cluster needs, and how long those there are will do."""
