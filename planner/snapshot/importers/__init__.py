"""Importers: one module per foreign format, and what joins several into a snapshot."""

from planner.snapshot.importers.load import load
from planner.snapshot.importers.merge import Imported, merge
from planner.snapshot.importers.source import Source

__all__ = ["Imported", "Source", "load", "merge"]
