"""`snapshot synth`: seeded clusters of the families of the benchmarks."""

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from planner.cli.common.common_options import (
    Format,
    OutputFormat,
    Quiet,
    SnapshotOutput,
)
from planner.cli.common.fractions import fraction
from planner.cli.common.output import print_json, print_words

if TYPE_CHECKING:
    from pathlib import Path

    from placement.operations.operation import Operation
    from placement.synthetic import Instance, Size


class SizeName(StrEnum):
    """The sizes of `placement.synthetic`, smallest first."""

    XS = "XS"
    S = "S"
    M = "M"
    L = "L"
    XL = "XL"


Family = Annotated[
    str,
    typer.Option(
        "--family",
        metavar="NAME",
        help="a: 10 % empty brokers added to a balanced cluster; a': the same where "
        "Kafka's placement left things; b: 5 % of a balanced cluster to be removed; "
        "c: skewed; d: capacities 1, 1.5 and 2; e: one rack of half as many brokers; "
        "f: one rack lost; g: a few giant partitions.",
    ),
]
SizeOption = Annotated[
    SizeName,
    typer.Option(
        "--size",
        help="XS: 6 brokers, 300 replicas; S: 12, 3,000; M: 100, 60,000; "
        "L: 1,000, 1,000,000; XL: 5,000, 5,000,000.",
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, help="The same seed gives the same cluster.")
]
BandOption = Annotated[
    float,
    typer.Option(
        "--band",
        metavar="FRACTION",
        parser=fraction(1.0),
        help="Band that plans will use; balanced clusters are within 0.8 of it.",
    ),
]
BrokerCount = Annotated[
    int | None,
    typer.Option(
        "--brokers",
        min=3,
        max=100_000,
        help="Number of brokers instead of --size's.",
    ),
]
RackCount = Annotated[
    int | None,
    typer.Option(
        "--racks",
        min=3,
        max=10_000,
        help="Number of racks instead of --size's.",
    ),
]
ReplicaCount = Annotated[
    int | None,
    typer.Option(
        "--replicas",
        min=3,
        max=100_000_000,
        help="Number of replicas of all partitions instead of --size's.",
    ),
]


def synth(
    *,
    output: SnapshotOutput,
    family: Family = "a",
    size: SizeOption = SizeName.S,
    seed: Seed = 1,
    band: BandOption = 0.05,
    brokers: BrokerCount = None,
    racks: RackCount = None,
    replicas: ReplicaCount = None,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """
    Write a synthetic cluster, and print the plan command for it.

    Example: kafka-planner snapshot synth --family a --size M -o synthetic.json
    """
    from placement.synthetic import SIZES, make_instance
    from planner.snapshot import Snapshot, check_output, write_snapshot

    _refuse_unknown(family)
    wanted = _sized(SIZES[size], brokers=brokers, racks=racks, replicas=replicas)
    check_output(output)
    instance = make_instance(family, wanted, seed, band)
    header = {"rates": {"source": "synthetic"}}
    snapshot = Snapshot.from_state(instance.state, header)
    write_snapshot(snapshot, output)
    document = _document(instance, output, family=family, seed=seed, band=band)
    if output_format is OutputFormat.JSON:
        print_json(document)
    elif not quiet:
        print_words("\n".join(_words(document)))


def _refuse_unknown(family: str) -> None:
    from placement.synthetic import FAMILIES

    if family not in FAMILIES:
        msg = f"--family must be one of {', '.join(FAMILIES)}, not {family!r}"
        raise typer.BadParameter(msg)


def _sized(size: "Size", **given: int | None) -> "Size":
    """Return a size in which the given numbers are replaced."""
    given_counts = {name: count for name, count in given.items() if count is not None}
    sized = replace(size, **given_counts)
    if sized.brokers < sized.racks:
        msg = (
            f"--brokers {sized.brokers} must be at least --racks {sized.racks}: each "
            "rack needs a broker"
        )
        raise typer.BadParameter(msg)
    return sized


def _document(
    instance: "Instance", output: "Path", *, family: str, seed: int, band: float
) -> dict[str, Any]:
    from placement.synthetic import FAMILIES

    state = instance.state
    return {
        "snapshot": str(output),
        "family": family,
        "meaning": FAMILIES[family],
        "seed": seed,
        "band": band,
        "brokers": state.num_brokers,
        "racks": state.num_racks,
        "topics": len(state.topics),
        "partitions": state.num_partitions,
        "replicas": len(state.replicas),
        "command": _command(instance.operation, output, band),
    }


def _command(operation: "Operation", output: "Path", band: float) -> list[str]:
    """Return the words of the command that plans the operation of the family."""
    from placement.operations.descriptor import name_of
    from placement.operations.remove_brokers import RemoveBrokers
    from planner.text.format import ids_text

    words = ["kafka-planner", "plan", name_of(operation), str(output)]
    if isinstance(operation, RemoveBrokers):
        words += ["--broker-list", ids_text(list(operation.broker_ids))]
    return [*words, "--band", f"{band:g}"]


def _words(document: dict[str, Any]) -> list[str]:
    from planner.text.format import command_lines, wrapped

    sentence = (
        f"wrote {document['snapshot']}: {document['meaning']}; "
        f"{document['brokers']:,} brokers in {document['racks']:,} racks, "
        f"{document['topics']:,} topics, {document['partitions']:,} partitions, "
        f"{document['replicas']:,} replicas"
    )
    return [*wrapped(sentence), *command_lines("Next", document["command"])]
