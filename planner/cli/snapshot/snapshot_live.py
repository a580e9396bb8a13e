"""`snapshot live`: a snapshot of a running cluster; read-only."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.cli.common.common_options import (
    AllowPartial,
    BootstrapServer,
    CommandConfig,
    Format,
    OutputFormat,
    Quiet,
    Resolve,
    SampleSeconds,
    SnapshotOutput,
    Timeout,
)
from planner.cli.common.output import print_json, print_words

if TYPE_CHECKING:
    from planner.snapshot.snapshot_document import Snapshot


def _summary(snapshot: "Snapshot", output: Path, notes: list[str]) -> dict[str, Any]:
    return {
        "snapshot": str(output),
        "cluster_id": snapshot.cluster_id,
        "taken_at": snapshot.taken_at,
        "brokers": snapshot.brokers.num_rows,
        "topics": snapshot.topics.num_rows,
        "partitions": snapshot.partitions.num_rows,
        "rates": snapshot.rates,
        "notes": notes,
    }


def live(
    *,
    output: SnapshotOutput,
    bootstrap_server: BootstrapServer = None,
    command_config: CommandConfig = None,
    sample_seconds: SampleSeconds = 10.0,
    resolve: Resolve = None,
    timeout: Timeout = 30.0,
    allow_partial: AllowPartial = False,
    output_format: Format = OutputFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """
    Take a snapshot of a running cluster; read-only.

    Rates are estimated from two readings and hold for these seconds only. Rates of
    consumers are not available from the admin protocol.

    Example: kafka-planner snapshot live --bootstrap-server k1:9092 -o prod.json
    """
    from planner.kafka.client.client_session import open_cluster
    from planner.kafka.read.live_snapshot import take_snapshot

    _check_output(output)
    notes: list[str] = []

    def note(text: str) -> None:
        notes.append(text)
        if not quiet:
            print_words(f"note: {text}")

    client = open_cluster(
        bootstrap_server,
        command_config,
        resolve=resolve or (),
        timeout_s=timeout,
        note=note,
    )
    with client:
        snapshot = take_snapshot(
            client,
            sample_seconds=sample_seconds,
            allow_partial=allow_partial,
            note=note,
        )
    from planner.snapshot.snapshot_files import write_snapshot

    write_snapshot(snapshot, output)
    summary = _summary(snapshot, output, notes)
    if output_format is OutputFormat.JSON:
        print_json(summary)
    elif not quiet:
        print_words(_sentence(summary))


def _check_output(output: Path) -> None:
    """Check that the snapshot can be written; load its library only if needed."""
    try:
        is_free = not os.path.lexists(output)
    except ValueError:  # not a valid file name
        is_free = False
    if not is_free:
        from planner.snapshot.snapshot_files import check_output

        check_output(output)


def _sentence(summary: dict[str, Any]) -> str:
    rates = summary["rates"]
    estimate = f"in rates over {rates['window_s']:g} s, an estimate" if rates else ""
    return (
        f"{summary['snapshot']}: cluster {summary['cluster_id']}, "
        f"{summary['brokers']} brokers, {summary['topics']} topics, "
        f"{summary['partitions']} partitions; {estimate or 'no rates'}"
    )
