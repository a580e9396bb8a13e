"""
Leadership after a plan: follower order, successors and positions in replica lists.

Imports `model`, `draft` and the core.
"""
