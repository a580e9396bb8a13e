"""The cluster as racks, brokers and log dirs with colours, for the template."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.text.format import bytes_text, percent_text
from planner.ui.ui_answer import FirstAnswer, PlanAnswer
from planner.ui.ui_picture import ClusterLoads, LogDirLoad
from planner.ui.ui_state import Step

SHOWN = {
    "disk": "disk",
    "in": "bytes in",
    "out": "bytes out",
    "cpu": "CPU",
    "replicas": "replicas",
    "leaders": "leaders",
}
"""Resources by which the cluster may be coloured, and their words."""
STEPS = 5
"""Number of shades up to a threshold."""
MOST_LOG_DIRS = 800
"""Number of log dirs above which they are not drawn."""
NO_RACK = "no rack"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """
    A broker or a log dir.

    Parameters
    ----------
    name
        Id of the broker, or ``ID:PATH``.
    label
        Words of its button.
    figures
        Load today, after the changes and after the plan, as one text.
    shade
        Class of its colour: ``shade-0`` to ``shade-4``, ``over``, ``down`` or
        ``unknown``.
    is_lost
        Whether a step loses it.
    inside
        Log dirs of a broker.
    """

    name: str
    label: str
    figures: str
    shade: str
    is_lost: bool
    inside: Sequence["Tile"] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rack:
    """
    A rack.

    Parameters
    ----------
    name
        Name; `None` for brokers without a rack.
    is_lost
        Whether a step loses it.
    brokers
        Its brokers.
    """

    name: str | None
    is_lost: bool
    brokers: Sequence[Tile]


class Painter:
    """
    Maker of racks for one answer.

    Parameters
    ----------
    first
        Figures of today and after the changes.
    plan
        Figures after the plan; `None` where none is there.
    steps
        Steps of the state, for what is lost.
    resource
        Resource of the colours.
    """

    def __init__(
        self,
        first: FirstAnswer,
        plan: PlanAnswer | None,
        steps: Sequence[Step],
        resource: str,
    ) -> None:
        sides = [first.today.loads, first.changed.loads]
        if plan is not None:
            sides.append(plan.side.loads)
        self._resource = resource
        thresholds = first.thresholds
        self._threshold = thresholds.get(resource, 1.0)
        self._disk_threshold = thresholds["disk"]
        self._steps = steps
        self._present: ClusterLoads = sides[1]
        self._cells = [
            {row["broker"]: row[resource] for row in side.brokers} for side in sides
        ]
        self._dirs = [{each.name: each for each in side.log_dirs} for side in sides]
        self._dirs_of: dict[int, list[LogDirLoad]] = {}
        for each in self._present.log_dirs:
            self._dirs_of.setdefault(each.broker, []).append(each)
        loads = [cell["load"] for cells in self._cells for cell in cells.values()]
        self._most = max((load for load in loads if load), default=0.0)

    @property
    def omits_log_dirs(self) -> bool:
        """Whether there are more log dirs than are drawn."""
        return len(self._present.log_dirs) > MOST_LOG_DIRS

    def racks(self) -> list[Rack]:
        """Return the racks by name, each with its brokers."""
        members: dict[str | None, list[Tile]] = {}
        for row in self._present.brokers:
            members.setdefault(row["rack"], []).append(self._broker(row["broker"]))
        names = sorted(members, key=lambda name: (name is None, name or ""))
        return [
            Rack(
                name=name,
                is_lost=name is not None and self._is_lost("racks", [name]),
                brokers=members[name],
            )
            for name in names
        ]

    def _is_lost(self, key: str, value: object) -> bool:
        return {"change": "lose", key: value} in self._steps

    def _broker(self, broker: int) -> Tile:
        is_up = broker in self._present.live
        cells = [cells.get(broker) for cells in self._cells]
        texts = [self._text(cell) for cell in cells]
        return Tile(
            name=str(broker),
            label=f"Broker {broker}" + ("" if is_up else " (down)"),
            figures=_arrows(texts, is_new=cells[0] is None),
            shade=self._shade(cells[-1], is_up=is_up),
            is_lost=self._is_lost("brokers", str(broker)),
            inside=[] if self.omits_log_dirs else self._log_dirs(broker),
        )

    def _text(self, cell: Mapping[str, Any] | None) -> str:
        if cell is None:
            return ""
        if cell["load"] is None:
            return "unknown"
        if cell["use"] is not None and self._resource not in {"replicas", "leaders"}:
            return percent_text(cell["use"])
        if self._resource in {"replicas", "leaders"}:
            return f"{cell['load']:,.0f}"
        if self._resource == "cpu":
            return f"{cell['load']:.2f} cores"
        return bytes_text(cell["load"]) + ("" if self._resource == "disk" else "/s")

    def _shade(self, cell: Mapping[str, Any] | None, *, is_up: bool) -> str:
        if not is_up:
            return "down"
        if cell is None or cell["load"] is None:
            return "unknown"
        use = cell["use"]
        if use is None or self._resource == "leaders":
            # Without capacities, shades compare the brokers.
            return _shade_of(cell["load"] / self._most if self._most else 0.0)
        return _shade_of(use / self._threshold)

    def _log_dirs(self, broker: int) -> list[Tile]:
        return [self._log_dir(each) for each in self._dirs_of.get(broker, ())]

    def _log_dir(self, present: LogDirLoad) -> Tile:
        found = [dirs.get(present.name) for dirs in self._dirs]
        uses = [None if each is None else each.use for each in found]
        texts = ["unknown" if use is None else percent_text(use) for use in uses]
        shade = "down"
        if present.is_online:
            use = uses[-1]
            shade = "unknown" if use is None else _shade_of(use / self._disk_threshold)
        return Tile(
            name=present.name,
            label=present.path + ("" if present.is_online else " (offline)"),
            figures=_arrows(texts, is_new=found[0] is None),
            shade=shade,
            is_lost=self._is_lost("log_dirs", [present.name]),
        )


def _arrows(texts: Sequence[str], *, is_new: bool) -> str:
    """Return the texts of the stages, those alike once."""
    known = [text for text in texts if text]
    kept = [t for at, t in enumerate(known) if at == 0 or known[at - 1] != t]
    return ("new: " if is_new else "") + " → ".join(kept)


def _shade_of(part: float) -> str:
    return "over" if part > 1 + 1e-9 else f"shade-{min(int(part * STEPS), STEPS - 1)}"
