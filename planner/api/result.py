"""Result of a plan: status, certificate, moves as tables, and the plan folder."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from placement.array_types import RateArray
from placement.check import Finding
from placement.model.load import RESOURCES
from placement.score.known_loads import known_loads
from planner.api.table import Table
from planner.plan.documents.plan_document import to_document
from planner.plan.folder.moves_file import moves_table
from planner.plan.folder.plan_folder import file_text, target_lists, write_plan
from planner.plan.run.make_plan import Planned
from planner.plan.screen.plan_screen import headline, plan_screen
from planner.report.charts.load_pictures import Levels, Limits, load_pictures
from planner.report.charts.pictures import LoadPicture
from planner.report.notebook_charts import chart_of, svg_charts
from planner.report.pages.plan_page import limits_of, plan_levels
from planner.text.document_numbers import rounded_all

Level = Literal["broker", "rack", "log dir"]
"""Places of which a chart shows the loads."""

MOVES_TYPES = {
    "topic": "string",
    "partition": "int32",
    "kind": "string",
    "from": "int32",
    "to": "int32",
    "from_rack": "string",
    "to_rack": "string",
    "bytes": "int64",
    "reason": "string",
    "resource": "string",
    "undone": "string",
    "undone_broker": "int32",
    "undone_resource": "string",
    "undone_outside": "float64",
}


@dataclass(frozen=True, eq=False, repr=False)
class PlanResult:
    """
    A plan, checked by separate code.

    Parameters
    ----------
    planned
        The plan and the findings of the independent checker.
    """

    planned: Planned

    @property
    def goal(self) -> str:
        """Name of the operation."""
        return self.planned.plan.goal

    @property
    def status(self) -> str:
        """One of optimal, feasible, nothing-to-do, left-alone, partial, infeasible."""
        return self.planned.plan.status

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The document plan.json."""
        return to_document(self.planned.plan)

    @property
    def counts(self) -> Mapping[str, int]:
        """Numbers of copied replicas and bytes, changed leaders and partitions."""
        return self.planned.plan.moves

    @property
    def certificate(self) -> Mapping[str, Mapping[str, Any]]:
        """
        Proven bounds of `bytes`, `replicas` and `deviation`.

        Each has the `value` of the plan, the `lower_bound` of every plan, the `gap`
        between the two, and the `proof`, from which the bound was verified.
        """
        certificate: Mapping[str, Mapping[str, Any]] = self.document["certificate"]
        return certificate

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of the independent checker; `existing` ones precede the plan."""
        return self.planned.findings

    @property
    def is_ok(self) -> bool:
        """Whether all hard rules hold, and the checker has no finding."""
        is_met = self.status not in {"partial", "infeasible"}
        return is_met and self.planned.is_ok and not self.planned.plan.leaves_offline

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the plan, one sentence each."""
        return tuple(note["message"] for note in self.document["notes"])

    @property
    def shortfalls(self) -> tuple[str, ...]:
        """Shortfalls of rules that cannot be met, one sentence each."""
        return tuple(one["message"] for one in self.document["shortfalls"])

    @cached_property
    def moves(self) -> Table:
        """
        A row per copy and per change of the first replica, as in moves.csv.

        Columns: `topic`, `partition`, `kind` (replica or leader), `from`, `to`,
        `from_rack`, `to_rack`, `bytes`; the cause: `reason`, `resource`; and the effect
        of leaving the move out: `undone`, `undone_broker`, `undone_resource`,
        `undone_outside`.
        """
        import pyarrow as pa
        from pyarrow import csv

        types = {name: pa.type_for_alias(alias) for name, alias in MOVES_TYPES.items()}
        text = moves_table(self.planned.plan).encode()
        options = csv.ConvertOptions(column_types=types, strings_can_be_null=False)
        return Table(csv.read_csv(pa.BufferReader(text), convert_options=options))

    @cached_property
    def brokers(self) -> Table:
        """
        A row per broker and resource: loads, use and deviation before and after.

        Columns: `broker`, `rack`, `resource`, `capacity`, `load_before`,
        `load_after`, `target`, `deviation_before`, `deviation_after`; null if the
        resource or the capacity is unknown.
        """
        import pyarrow as pa

        plan = self.planned.plan
        brokers = plan.state.brokers
        before, after = (
            known_loads(plan.state, score) for score in (plan.before, plan.after)
        )
        count, width = len(brokers), len(RESOURCES)
        racks = [brokers.racks[rack] for rack in brokers.rack_idx]
        columns = {
            "broker": np.repeat(brokers.ids, width),
            "rack": np.repeat(np.array(racks, dtype=object), width),
            "resource": [str(resource) for resource in RESOURCES] * count,
            "capacity": _flat(after["capacity"]),
            "load_before": _flat(before["load"]),
            "load_after": _flat(after["load"]),
            "target": _flat(after["target"]),
            "deviation_before": _flat(before["deviation"]),
            "deviation_after": _flat(after["deviation"]),
        }
        return Table(pa.table(columns))

    @property
    def reassignment(self) -> str:
        """The reassignment JSON for Kafka's own tool."""
        return file_text(target_lists(self.planned.plan).texts())

    def plot(self, level: Level = "broker") -> Any:  # noqa: ANN401 - of Altair
        """
        Return an Altair chart of loads before and after, targets, bands, thresholds.

        Parameters
        ----------
        level
            ``broker``, ``rack`` or ``log dir``.

        Raises
        ------
        BadInputError
            If the extra ``[report]`` is not installed.
        ValueError
            If the plan has no loads of that level.
        """
        return chart_of(self._pictures(level))

    def _pictures(self, level: Level) -> list[LoadPicture]:
        limits = limits_of(self.document["settings"])
        return pictures_at(level, plan_levels(self.document), limits)

    def write(self, folder: str | PathLike[str]) -> list[Path]:
        """
        Write the plan folder atomically; replaces an existing plan.

        Returns
        -------
        Paths of the files.

        Raises
        ------
        BadInputError
            If the folder contains anything else, or cannot be written.
        """
        path = Path(folder)
        return [path / name for name in write_plan(self.planned.plan, path)]

    def __repr__(self) -> str:
        plan = self.planned.plan
        name = plan.state.cluster_id or "cluster"
        return "\n".join([f'"{name}": {headline(plan)}', *plan_screen(self.planned)])

    def _repr_html_(self) -> str:
        counts = {**self.counts, "status": self.status, "goal": self.goal}
        rows = "".join(
            f"<tr><th>{escape(what)}</th><td>{escape(text)}</td></tr>"
            for what, text in self._summary(counts)
        )
        charts = svg_charts(self._pictures("broker"))
        return f"<table>{rows}</table><pre>{escape(repr(self))}</pre>{charts}"

    def _summary(self, counts: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
        proven = self.certificate["bytes"]
        return [
            ("plan", f"{counts['goal']}: {counts['status']}"),
            ("copies", f"{counts['replicas']:,} replicas, {counts['bytes']:,} bytes"),
            ("proven", f"no plan copies under {proven['lower_bound']:,} bytes"),
            ("leaders", f"{counts['leaders']:,} change"),
            ("checked", "ok" if self.planned.is_ok else "findings: do not run it"),
        ]


def _flat(values: RateArray) -> Any:  # noqa: ANN401 - an Arrow column
    """Return ``(B, R)`` numbers as a column, null where unknown."""
    import pyarrow as pa

    unknown = np.isnan(values.ravel())
    return pa.array(rounded_all(np.where(unknown, 0.0, values.ravel())), mask=unknown)


def pictures_at(
    level: Level, levels: Iterable[Levels], limits: Limits
) -> list[LoadPicture]:
    """
    Return the pictures of one level.

    Raises
    ------
    ValueError
        If there are no loads of that level.
    """
    found = {each.level: each for each in levels}
    if level not in found:
        msg = f"there is no {level!r} to plot, only {', '.join(map(repr, found))}"
        raise ValueError(msg)
    return list(load_pictures(found[level], limits))


def without_command(lines: Iterable[str]) -> str:
    """Return a screen without its last lines, which name a command."""
    kept = []
    for line in lines:
        if line.startswith("Next"):
            break
        kept.append(line)
    return "\n".join(kept)
