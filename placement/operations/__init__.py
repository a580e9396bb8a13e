"""
Operations: one module for each, with its allowed moves and its own decisions.

An operation is data: it fills a draft. Imports `model`, `draft`, `rules` and
`operations.steps`.
"""

from placement.operations.add_brokers import AddBrokers
from placement.operations.demote import Demote
from placement.operations.fix import Defect, Fix
from placement.operations.leaders import Leaders
from placement.operations.log_dirs import LogDirs
from placement.operations.operation import Operation
from placement.operations.rebalance import Rebalance
from placement.operations.remove_brokers import RemoveBrokers
from placement.operations.replace_broker import ReplaceBroker
from placement.operations.set_replication_factor import SetReplicationFactor

__all__ = [
    "AddBrokers",
    "Defect",
    "Demote",
    "Fix",
    "Leaders",
    "LogDirs",
    "Operation",
    "Rebalance",
    "RemoveBrokers",
    "ReplaceBroker",
    "SetReplicationFactor",
]
