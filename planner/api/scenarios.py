"""Scenarios and sizing from Python, with results as tables."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from placement.cluster_changes.variant import Variant
from planner.api.errors import named_as_arguments, required
from planner.api.growth import AnyGrowth, growth_rates
from planner.api.result import PlanResult
from planner.api.table import Screen, Table
from planner.plan.run.make_plan import Planned, check_plan
from planner.report.charts.pictures import LoadPicture
from planner.report.charts.scenario_pictures import scenario_pictures
from planner.report.notebook_charts import chart_of, svg_charts
from planner.snapshot import Snapshot
from planner.what_if.play_scenarios import (
    Player,
    WhatIf,
    WhatIfRequest,
    read_options,
)
from planner.what_if.play_scenarios import what_if as play
from planner.what_if.scenarios import Scenario
from planner.what_if.scenarios_file import (
    ScenariosFile,
    read_scenarios,
    validate_scenarios,
)
from planner.what_if.what_if_answer import to_document
from planner.what_if.what_if_screen import scenario_lines

AnyScenarios = Mapping[str, Any] | str | PathLike[str]
"""A scenarios file, or its content as a dictionary."""
RESOURCES = ("disk", "in", "out", "cpu")
USES = ("max_use", "mean_use")
KINDS = {
    **dict.fromkeys(("name", "status", "after", "full_resource"), "string"),
    **dict.fromkeys(("holds", "survives_broker", "survives_rack"), "bool"),
    **dict.fromkeys(("brokers", "brokers_over_threshold", "num_brokers"), "int64"),
    **dict.fromkeys(("copied_replicas", "copied_bytes"), "int64"),
    **dict.fromkeys(("copied_between_racks", "full_broker"), "int64"),
}
"""Types of the columns that are not numbers with a fraction."""


@dataclass(frozen=True, eq=False, repr=False)
class WhatIfResult(Screen):
    """
    Results of scenarios, compared with today.

    Parameters
    ----------
    found
        Figures of today and of each scenario.
    """

    found: WhatIf

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the scenarios, in the order of the file."""
        return tuple(str(row["name"]) for row in self.found.scenarios)

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The document that `what-if --format json` prints."""
        return to_document(self.found, now=datetime.now(UTC))

    @property
    def is_ok(self) -> bool:
        """Whether every scenario holds."""
        return all(row["holds"] for row in self.found.scenarios)

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        """Return the figures of one scenario, or of ``"today"``."""
        for row in (self.found.today, *self.found.scenarios):
            if row["name"] == name:
                return row
        raise KeyError(name)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.found.scenarios)

    def __len__(self) -> int:
        return len(self.found.scenarios)

    @cached_property
    def table(self) -> Table:
        """
        A row for today and each scenario.

        Columns: `name`, `holds`, `status`, `brokers`, the largest and the mean use of
        `disk`, `in`, `out` and `cpu`, `max_deviation`, `brokers_over_threshold`,
        `copied_replicas`, `copied_bytes`, `copy_seconds`, `copied_between_racks`,
        `between_racks_per_s`, with prices `price` and the single `copies_price`,
        `after`, `survives_broker`, `survives_rack`, `full_days`, `full_broker`,
        `full_resource`, and `traffic`, `num_brokers` and `days` of a sweep.
        """
        import pyarrow as pa

        rows = [_flat(row) for row in (self.found.today, *self.found.scenarios)]
        # Fixed types, so that tables of several results can be concatenated.
        kinds = {name: KINDS.get(name, "float64") for name in rows[0]}
        schema = pa.schema({n: pa.type_for_alias(kind) for n, kind in kinds.items()})
        return Table(pa.Table.from_pylist(rows, schema=schema))

    def plan(self, name: str) -> PlanResult:
        """
        Return the plan of a scenario, for the cluster after its changes.

        Raises
        ------
        KeyError
            If there is no such scenario.
        ValueError
            If the scenario plans nothing.
        """
        scenario = self._scenario(name)
        player = self._player()
        outcome = player.outcome(scenario)
        if outcome.placed is None:
            msg = f"the scenario {name!r} has no plan: its 'then' is nothing"
            raise ValueError(msg)
        plan = player.plan(scenario, outcome.placed)
        findings = check_plan(plan, self.found.options.plan)
        return PlanResult(Planned(plan=plan, checked=lambda: findings))

    def cluster(self, name: str) -> Snapshot:
        """
        Return the cluster after the changes of a scenario, before any plan.

        Raises
        ------
        KeyError
            If there is no such scenario.
        """
        player = self._player()
        variant: Variant = player.variant(self._scenario(name))
        return player.cluster(variant, variant.state)

    def _scenario(self, name: str) -> Scenario:
        for scenario in self.found.file.scenarios:
            if scenario.name == name:
                return scenario
        raise KeyError(name)

    def _player(self) -> Player:
        snapshot, file = self.found.snapshot, self.found.file
        return Player(snapshot, required(snapshot).to_state(), file, self.found.options)

    def plot(self) -> Any:  # noqa: ANN401 - of Altair
        """
        Return an Altair chart of the fullest broker of today and of each scenario.

        Raises
        ------
        BadInputError
            If the extra ``[report]`` is not installed.
        """
        return chart_of(self._pictures())

    def _pictures(self) -> list[LoadPicture]:
        rows = [self.found.today, *self.found.scenarios]
        thresholds = self.found.options.settings.capacity_thresholds
        limits = {str(name): value for name, value in thresholds.items()}
        return list(scenario_pictures(rows, limits))

    def __repr__(self) -> str:
        return "\n".join(scenario_lines([self.found.today, *self.found.scenarios]))

    def _repr_html_(self) -> str:
        return super()._repr_html_() + svg_charts(self._pictures())


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return one scenario as the row of a table."""
    uses = row["resources"]
    full, point = row["full"] or {}, row["point"] or {}
    return {
        "name": row["name"],
        "holds": row["holds"],
        "status": row["status"],
        "brokers": row["brokers"],
        **{f"{r}_{x}": (uses[r] or {}).get(x) for r in RESOURCES for x in USES},
        "max_deviation": row["balance"]["max_deviation"],
        "brokers_over_threshold": row["brokers_over_threshold"],
        "copied_replicas": row["copies"]["replicas"],
        "copied_bytes": row["copies"]["bytes"],
        "copy_seconds": row["copies"]["seconds"],
        "copied_between_racks": row["copies"]["cross_rack_bytes"],
        "between_racks_per_s": row["cross_rack_bytes_per_s"],
        "price": (row["price"] or {}).get("total"),
        "copies_price": (row["price"] or {}).get("copying"),
        "after": row["after"],
        "survives_broker": row["survives"]["broker"]["survives"],
        "survives_rack": row["survives"]["rack"]["survives"],
        "full_days": full.get("days"),
        "full_broker": full.get("broker"),
        "full_resource": full.get("resource"),
        "traffic": point.get("traffic"),
        "num_brokers": point.get("brokers"),
        "days": point.get("days"),
    }


def play_scenarios(
    snapshot: Snapshot,
    scenarios: AnyScenarios,
    *,
    growth: AnyGrowth | None = None,
    band: float | Mapping[str, float] | None = None,
    capacity_threshold: Mapping[str, float] | None = None,
    bandwidth: str | int = "50MB/s",
    effort: Literal["quick", "normal", "thorough", "exact"] = "normal",
    seed: int = 1,
    jobs: int = 1,
) -> WhatIfResult:
    """
    Plan scenarios of a cluster, and compare them with today.

    Parameters
    ----------
    snapshot
        The cluster.
    scenarios
        A scenarios file, or its content as a dictionary.
    growth
        Growth of topics without growth in the scenarios: ``"5%/month"``, bytes per day
        by topic, or the folder of `fleet trends`.
    band, capacity_threshold, effort, seed
        Options of the plans, as in `PlanOptions`.
    bandwidth
        Rate at which a broker may copy.
    jobs
        Number of processes. A script that uses several must guard its main part, as
        Python's `multiprocessing` requires.

    Raises
    ------
    BadInputError
        If scenarios or options are wrong; has every problem.

    Examples
    --------
    >>> import planner
    >>> from planner.demo import SNAPSHOT_FILE
    >>> snapshot = planner.read_snapshot(SNAPSHOT_FILE)
    >>> lost = {"change": "lose", "racks": ["b"]}
    >>> scenarios = [{"name": "no b", "then": "nothing", "changes": [lost]}]
    >>> found = planner.play_scenarios(snapshot, {"scenarios": scenarios})
    >>> found["no b"]["violations"]["under_replicated"]
    312
    """
    state = required(snapshot).to_state()
    rates = growth_rates(growth, snapshot)
    request = WhatIfRequest(
        band={} if band is None else band,
        capacity_threshold=capacity_threshold or {},
        bandwidth=bandwidth,
        effort=effort,
        seed=seed,
    )
    with named_as_arguments():
        options = read_options(request, state)
        file: ScenariosFile = (
            validate_scenarios(scenarios, snapshot, state, growth=rates)
            if isinstance(scenarios, Mapping)
            else read_scenarios(Path(scenarios), snapshot, state, growth=rates)
        )
        return WhatIfResult(play(snapshot, file, options, jobs=jobs))
