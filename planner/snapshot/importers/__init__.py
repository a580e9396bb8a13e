"""Importers: one module per foreign format, and the merging of several files."""

from planner.snapshot.importers.inputs.import_source import Source
from planner.snapshot.importers.load_files import load
from planner.snapshot.importers.merging.merge import Imported, merge

__all__ = ["Imported", "Source", "load", "merge"]
