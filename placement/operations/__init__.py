"""
Operations: what each may move, as interface.md's table says.

An operation fills a draft; where things go is then up to the bands. It is data, not
code in the search. One module each.
"""

from placement.operations.add_brokers import AddBrokers
from placement.operations.leaders import Leaders
from placement.operations.operation import Operation
from placement.operations.rebalance import Rebalance
from placement.operations.remove_brokers import RemoveBrokers

__all__ = ["AddBrokers", "Leaders", "Operation", "Rebalance", "RemoveBrokers"]
