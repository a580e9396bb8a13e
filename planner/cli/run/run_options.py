"""Options of the commands that change a running cluster."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from planner.cli.common.shared_options import gathered

Yes = Annotated[
    bool, typer.Option("--yes", help="Carry it out; without it, a preview.")
]
PlanId = Annotated[
    str | None,
    typer.Option(
        "--plan-id",
        metavar="ID",
        help="Id of the preview; a must without a terminal. Another one stops it.",
    ),
]
MaxAge = Annotated[
    str,
    typer.Option(
        "--max-age",
        metavar="TIME",
        help="Oldest snapshot of a plan that runs without a terminal.",
    ),
]
Throttle = Annotated[
    str | None,
    typer.Option(
        "--throttle",
        metavar="RATE",
        help="Rate at which a broker copies: 80MB/s. Default: that of the waves, "
        "or what networks have room for, or 50MB/s.",
    ),
]
NoThrottle = Annotated[
    bool, typer.Option("--no-throttle", help="Copy as fast as the brokers can.")
]
AllowDrift = Annotated[
    bool,
    typer.Option(
        "--allow-drift", help="Leave out partitions that are no longer as planned."
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="RULE",
        help="Go on in spite of: reassigning, under-min-isr, leaderless, throttled, "
        "no-record. Repeatable.",
    ),
]
SetControl = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="CONTROL",
        help="Change the run that is under way: pause, resume or throttle=80MB/s.",
    ),
]
Window = Annotated[
    str | None,
    typer.Option(
        "--window",
        metavar="HH:MM-HH:MM",
        help="Local hours in which copies begin, so that they end in time.",
    ),
]
MaxDuration = Annotated[
    str | None,
    typer.Option(
        "--max-duration", metavar="TIME", help="No copy runs longer than this: 4h."
    ),
]
Guard = Annotated[
    str | None,
    typer.Option(
        "--guard",
        metavar="CMD",
        help="Shell command; copies begin only while it exits with 0.",
    ),
]
BrokerGrace = Annotated[
    str,
    typer.Option(
        "--broker-grace",
        metavar="TIME",
        help="A broker may be down so long before its copies are cancelled.",
    ),
]
Patience = Annotated[
    str,
    typer.Option(
        "--patience",
        metavar="TIME",
        help="Longest wait for a cluster that is silent or in trouble.",
    ),
]
JournalOption = Annotated[
    Path | None,
    typer.Option(
        "--journal",
        metavar="FILE",
        help="Journal of the run. Default: journal.jsonl in the plan folder.",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """
    Options of the speed and the time of a run, as they were given.

    Parameters
    ----------
    throttle, no_throttle
        Rate of copies, and whether there is none.
    window, max_duration, guard
        When copies may begin.
    broker_grace, patience
        Waits for brokers and for the cluster.
    """

    throttle: Throttle = None
    no_throttle: NoThrottle = False
    window: Window = None
    max_duration: MaxDuration = None
    guard: Guard = None
    broker_grace: BrokerGrace = "2m"
    patience: Patience = "1h"


with_run_options = gathered(RunOptions, instead_of="options")
"""Decorator of a command that takes `RunOptions` as its parameter ``options``."""
