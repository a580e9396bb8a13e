"""Options of plans that are fields of requests, by the same names."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.common.common_options import CapacityThreshold

if TYPE_CHECKING:
    from planner.options.plan_request import PlanRequest


class Prefer(StrEnum):
    """Objective of a plan besides balance."""

    BYTES = "bytes"
    MOVES = "moves"


class Effort(StrEnum):
    """Amount of work of the search."""

    QUICK = "quick"
    NORMAL = "normal"
    THOROUGH = "thorough"
    EXACT = "exact"


class CopyOrder(StrEnum):
    """Order of the copies."""

    SHORTEST = "shortest"
    UNDER_REPLICATED = "under-replicated"
    SMALL = "small"
    LARGE = "large"
    TOPIC = "topic"


Band = Annotated[
    list[str] | None,
    typer.Option(
        "--band",
        metavar="[RESOURCE=]FRACTION",
        help="Distance of a broker from its share: 0.10, disk=0.05. Repeatable.",
    ),
]
Resources = Annotated[
    str | None,
    typer.Option(
        "--resources",
        metavar="NAMES",
        help="Resources to balance: disk,in,out,cpu,replicas,leaders. Default: all "
        "known.",
    ),
]
Topic = Annotated[
    list[str] | None,
    typer.Option("--topic", metavar="NAME", help="Only this topic. Repeatable."),
]
Topics = Annotated[
    str | None,
    typer.Option("--topics", metavar="REGEX", help="Only topics whose name matches."),
]
ExcludeTopics = Annotated[
    str | None,
    typer.Option(
        "--exclude-topics",
        metavar="REGEX",
        help="Topics that stay as they are.",
    ),
]
Destinations = Annotated[
    str | None,
    typer.Option(
        "--destination-broker-list", metavar="IDS", help="Only these receive replicas."
    ),
]
NoReplicas = Annotated[
    str | None,
    typer.Option(
        "--exclude-brokers-for-replicas",
        metavar="IDS",
        help="These receive no replicas.",
    ),
]
NoLeaders = Annotated[
    str | None,
    typer.Option(
        "--exclude-brokers-for-leaders", metavar="IDS", help="These receive no leaders."
    ),
]
MaxMoves = Annotated[
    int | None,
    typer.Option("--max-moves", metavar="N", help="Most replicas to copy."),
]
MaxBytes = Annotated[
    str | None,
    typer.Option("--max-bytes", metavar="SIZE", help="Most bytes to copy: 2TB."),
]
MaxCrossRackBytes = Annotated[
    str | None,
    typer.Option(
        "--max-cross-rack-bytes",
        metavar="SIZE",
        help="Most bytes to copy to another rack than the leader's: 500GB.",
    ),
]
PreferOption = Annotated[
    Prefer,
    typer.Option("--prefer", help="Fewest bytes, or also few moves."),
]
MoveCost = Annotated[
    str | None,
    typer.Option(
        "--move-cost-bytes",
        metavar="SIZE",
        help="Price of a move, besides its bytes.",
    ),
]
TopicSlack = Annotated[
    int,
    typer.Option(
        "--topic-slack",
        metavar="N",
        min=0,
        help="Replicas of a topic above the share of a broker that are accepted.",
    ),
]
TransientDisk = Annotated[
    bool,
    typer.Option(
        "--transient-disk/--no-transient-disk",
        help="Count replicas that leave a disk there until all copies are done.",
    ),
]
DeadlineOption = Annotated[
    float | None,
    typer.Option(
        "--deadline",
        metavar="SECONDS",
        help="Time limit of the search; the plan may differ between runs.",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", help="Seed of the search's random numbers.")
]
Waves = Annotated[
    bool,
    typer.Option(
        "--waves/--no-waves", help="Also divide the plan into waves, each of them safe."
    ),
]
MaxMovesIn = Annotated[
    int | None,
    typer.Option(
        "--max-moves-in",
        min=1,
        help="Copies that a broker receives in a wave: 5.",
    ),
]
MaxMovesOut = Annotated[
    int | None,
    typer.Option(
        "--max-moves-out",
        min=1,
        help="Copies that a broker sends in a wave: 5.",
    ),
]
MaxMovesPerBroker = Annotated[
    int | None,
    typer.Option(
        "--max-moves-per-broker", min=1, help="Copies in and out of a broker in a wave."
    ),
]
MaxMovesPerPartition = Annotated[
    int | None,
    typer.Option(
        "--max-moves-per-partition",
        min=1,
        help="New replicas of a partition in a wave: 1.",
    ),
]
Bandwidth = Annotated[
    str | None,
    typer.Option(
        "--bandwidth",
        metavar="RATE",
        help="Rate at which a broker may copy: 50MB/s by default.",
    ),
]
WaveOrder = Annotated[
    CopyOrder | None,
    typer.Option("--order", help="Order of copies, where caps allow a choice."),
]
EffortOption = Annotated[
    Effort, typer.Option("--effort", help="Amount of work of the search.")
]


def request_options(
    *,
    band: Band = None,
    resources: Resources = None,
    capacity_threshold: CapacityThreshold = None,
    topic: Topic = None,
    topics: Topics = None,
    exclude_topics: ExcludeTopics = None,
    destination_broker_list: Destinations = None,
    exclude_brokers_for_replicas: NoReplicas = None,
    exclude_brokers_for_leaders: NoLeaders = None,
    max_moves: MaxMoves = None,
    max_bytes: MaxBytes = None,
    max_cross_rack_bytes: MaxCrossRackBytes = None,
    prefer: PreferOption = Prefer.BYTES,
    move_cost_bytes: MoveCost = None,
    effort: EffortOption = Effort.NORMAL,
    seed: Seed = 1,
    topic_slack: TopicSlack = 2,
    transient_disk: TransientDisk = False,
    deadline: DeadlineOption = None,
    waves: Waves = False,
    max_moves_in: MaxMovesIn = None,
    max_moves_out: MaxMovesOut = None,
    max_moves_per_broker: MaxMovesPerBroker = None,
    max_moves_per_partition: MaxMovesPerPartition = None,
    bandwidth: Bandwidth = None,
    order: WaveOrder = None,
) -> dict[str, Any]:
    """Return the options that all plans share, by the names of `PlanRequest`."""
    return dict(locals())


def plan_request(goal: str, given: dict[str, Any]) -> "PlanRequest":
    """Return the request of values that have the names of its fields."""
    from planner.options.operation_options import OWN_NAMES, OwnOptions
    from planner.options.plan_request import PlanRequest
    from planner.options.rule_options import RULE_NAMES, rule_request

    for name in ("band", "capacity_threshold", "topic"):
        given[name] = tuple(given[name] or ())
    given["effort"] = str(given["effort"])
    given["order"] = None if given["order"] is None else str(given["order"])
    given["prefer"] = str(given["prefer"])
    own = {name: given.pop(name) for name in OWN_NAMES & given.keys()}
    rules = {name: given.pop(name) for name in RULE_NAMES & given.keys()}
    return PlanRequest(
        goal=goal, own=OwnOptions(**own), rules=rule_request(rules), **given
    )
