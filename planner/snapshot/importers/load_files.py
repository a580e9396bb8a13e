"""Every file that operators have, in one call."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from planner.errors import BadInputError, InputProblem
from planner.io.problem_folding import folded
from planner.progress import stage
from planner.snapshot.importers.cruise_control.cruise_control_folder import (
    read_cruise_control,
)
from planner.snapshot.importers.importer_registry import IMPORTERS, READERS, Reader
from planner.snapshot.importers.inputs.foreign_files import read_file
from planner.snapshot.importers.inputs.import_source import Source
from planner.snapshot.importers.merging.merge import Imported, merge
from planner.snapshot.importers.metrics.prometheus import BrokerLabels

__all__ = ["READERS", "load"]


def load(
    files: Mapping[str, Iterable[Path]],
    folders: Iterable[Path] = (),
    *,
    header: Mapping[str, Any] | None = None,
    labels: BrokerLabels | None = None,
    quantile: float = 0.95,
    allow_partial: bool = False,
) -> Imported:
    """
    Read files, and join them into one snapshot.

    Parameters
    ----------
    files
        Paths by what they hold: the keys of `READERS`.
    folders
        Folders of Cruise Control.
    header
        What the caller says once: `cluster_id`, `taken_at`.
    labels
        How series of Prometheus tell their broker.
    quantile
        Which quantile of each series of a range is its rate.
    allow_partial
        Whether to go on where files hide something from each other, and to leave out
        entries that are wrong.

    Raises
    ------
    BadInputError
        With everything that is wrong with any file; if nothing is, with what they
        contradict each other in.
    """
    readers = {one.name: one.reader(allow_partial=allow_partial) for one in IMPORTERS}
    prometheus = readers["prometheus"]
    readers["prometheus"] = partial(prometheus, labels=labels, quantile=quantile)
    works: list[Callable[[], list[Source]]] = [
        partial(_one, path, readers[name])
        for name, paths in files.items()
        for path in paths
    ]
    works += [partial(read_cruise_control, folder) for folder in folders]
    return merge(_all(works), header=header, allow_partial=allow_partial)


def _one(path: Path, read: Reader) -> list[Source]:
    stage(f"reading {path}")
    return [read_file(path, read)]


def _all(works: Iterable[Callable[[], list[Source]]]) -> list[Source]:
    """Do all works, and say everything that is wrong with any of them."""
    sources: list[Source] = []
    messages: list[str] = []
    problems: list[InputProblem] = []
    for work in works:
        try:
            sources += work()
        except BadInputError as error:
            messages.append(error.message)
            problems += folded(error.problems)
    if messages:
        raise BadInputError("; ".join(messages), problems)
    return sources
