"""Simulation of a group's rebalances when members join, leave or hang."""

from assignment.rebalance.course import Course, Lag, Saying, Step
from assignment.rebalance.events import (
    Event,
    Freeze,
    Join,
    Leave,
    Return,
    SetPartitions,
    Slow,
    StopPolling,
)
from assignment.rebalance.simulation import Run, play
from assignment.rebalance.timers import Protocol, Timers

__all__ = [
    "Course",
    "Event",
    "Freeze",
    "Join",
    "Lag",
    "Leave",
    "Protocol",
    "Return",
    "Run",
    "Saying",
    "SetPartitions",
    "Slow",
    "Step",
    "StopPolling",
    "Timers",
    "play",
]
