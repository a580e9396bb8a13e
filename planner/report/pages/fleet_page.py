"""The page of tables of fleets: clusters, the worst first, and their plans."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from planner.report.charts.load_pictures import MOST_PLACES, RESOURCES
from planner.report.charts.pictures import LoadPicture, Number
from planner.report.charts.scenario_pictures import USED
from planner.report.pages.blocks import (
    Block,
    BrowsedTable,
    Cell,
    Facts,
    Figures,
    Page,
    Section,
    Words,
)
from planner.report.pages.fleet_verdict import (
    Row,
    Tables,
    cluster_name,
    fleet_verdict,
)
from planner.report.pages.load_blocks import figures_table
from planner.text.format import plural

MOST_ROWS = 4000
FIRST = (
    "cluster_id",
    "taken_at",
    "request",
    "broker",
    "log_dir",
    "resource",
    "status",
    "holds",
    "reason",
)
OVERVIEW = (
    *FIRST,
    "owner",
    "brokers",
    "partitions",
    "offline_partitions",
    "under_min_isr",
    "offline_replicas",
    "under_replicated",
    "rack",
    "over_capacity",
    "brokers_out_of_band",
    "brokers_over_threshold",
    "log_dirs_over_threshold",
    "worst_broker",
    "worst_resource",
    "worst_deviation",
    "max_disk_use",
    "fullest_broker",
    "headroom_n1_broker",
    "headroom_n1_rack",
    "days_until_full",
    "min_bytes_to_balance",
    "cost_total",
    "saving_at_most",
)
"""Columns of an overview that fit a page; the table has all."""
WORST = ("offline_partitions", "under_min_isr", "offline_replicas")
"""Columns of an overview by which the cluster to look at first is found."""
LEFT_OUT = ("version", "date", "level", "request_hash")


def fleet_page(tables: Tables) -> Page:
    """
    Return the page of tables of a fleet.

    Parameters
    ----------
    tables
        Rows of the last snapshot of each cluster, by the name of the table, as
        `planner.report.fleet_tables` reads them.
    """
    clusters = {cluster_name(row) for rows in tables.values() for row in rows}
    times = [row["taken_at"] for rows in tables.values() for row in rows]
    sections = [Section("verdict", "Verdict", list(_verdict(tables, len(clusters))))]
    makers = {
        "overview": _overview,
        "scores": _scores,
        "plans": _plans,
        "scenarios": _plans,
        "trends": _trends,
        "balance": _balance,
        "changes": _changes,
        "drift": _plain,
        "problems": _plain,
    }
    for name, maker in makers.items():
        if rows := tables.get(name):
            title = name.capitalize()
            sections.append(Section(name, title, list(maker(name, rows))))
    oldest = min((time for time in times if time is not None), default=None)
    return Page(
        title=f"Fleet: {plural(len(clusters), 'cluster')}",
        taken_at=None if oldest is None else _time(oldest),
        sections=sections,
    )


def _verdict(tables: Tables, num_clusters: int) -> Iterator[Block]:
    yield Words(fleet_verdict(tables), is_strong=True)
    pairs = [("clusters", f"{num_clusters:,}")]
    pairs += [(name, f"{len(rows):,} rows") for name, rows in tables.items()]
    yield Facts(pairs)


def _overview(name: str, rows: Sequence[Row]) -> Iterator[Block]:
    ranked = sorted(rows, key=_rank)
    used = [_percent(row["max_disk_use"]) for row in ranked]
    unit = "% of the disk's capacity"
    yield from _figures([_picture("fullest disk", unit, ranked, used)])
    own = [{key: row.get(key) for key in OVERVIEW if key in row} for row in ranked]
    yield _table(name, own)
    yield Words("The table of the overview has further columns.")


def _rank(row: Row) -> tuple[Any, ...]:
    """Return the sort key by which the cluster to look at first is the first."""
    # Overviews of older versions lack some columns.
    counts = [-(row.get(column) or 0) for column in WORST]
    is_read = row["status"] == "ok"
    worst = -(row["brokers_over_threshold"] or 0), -(row["max_disk_use"] or 0.0)
    return (is_read, *counts, *worst, cluster_name(row))


def _scores(name: str, rows: Sequence[Row]) -> Iterator[Block]:
    pictures, ranked = [], []
    clusters = [row for row in rows if row["level"] == "cluster"]
    for resource in RESOURCES:
        own = [row for row in clusters if row["resource"] == resource]
        own.sort(key=lambda row: (-(row["max_use"] or 0.0), cluster_name(row)))
        ranked += own
        if resource in USED:
            used = [_percent(row["max_use"]) for row in own]
            mean = [_percent(row["mean_use"]) for row in own]
            unit = "% of the fullest broker's capacity"
            pictures.append(_picture(resource, unit, own, used, mean))
    yield from _figures(pictures)
    yield _table(name, ranked)


def _plans(name: str, rows: Sequence[Row]) -> Iterator[Block]:
    yield _table(name, sorted(rows, key=_plan_rank))


def _plan_rank(row: Row) -> tuple[Any, ...]:
    return (-(row["moved_bytes"] or 0), cluster_name(row), row["request"])


def _trends(name: str, rows: Sequence[Row]) -> Iterator[Block]:
    limits = [row for row in rows if row["level"] != "cluster"]
    if limits:
        yield Words("Brokers and log dirs that reach a limit, the soonest first.")
        yield _table("limits", sorted(limits, key=_days_rank))
    clusters = [row for row in rows if row["level"] == "cluster"]
    if clusters:
        yield Words("Growth of whole clusters.")
        yield _table(name, clusters)


def _days_rank(row: Row) -> tuple[Any, ...]:
    days = (row["days_until_full"], row["days_until_threshold"])
    return (min(each for each in days if each is not None), cluster_name(row))


def _balance(name: str, rows: Sequence[Row]) -> Iterator[Block]:
    yield _table(name, sorted(rows, key=_change_rank))


def _change_rank(row: Row) -> tuple[Any, ...]:
    return (-(row["max_use_change"] or 0.0), cluster_name(row), row["resource"])


def _changes(name: str, rows: Sequence[Row]) -> Iterator[Block]:
    yield _table(name, sorted(rows, key=_bytes_rank))


def _bytes_rank(row: Row) -> tuple[Any, ...]:
    return (row["reason"] is None, -(row["bytes"] or 0), cluster_name(row))


def _plain(name: str, rows: Sequence[Row]) -> Iterator[Block]:
    yield _table(name, rows)


def _figures(pictures: Sequence[LoadPicture]) -> Iterator[Block]:
    """Yield the pictures that have a load, and their numbers as a table."""
    known = [picture for picture in pictures if any(picture.now)]
    if not known:
        return
    legend = [("now", "fullest broker")]
    if any(any(picture.target) for picture in known):
        legend.append(("target", "mean"))
    most = max(picture.omitted for picture in known)
    if most:
        yield Words(f"The charts leave out {plural(most, 'cluster')}, the least full.")
    table = figures_table("cluster", known)
    yield Figures(pictures=known, legend=legend, table=table)


def _picture(
    name: str,
    unit: str,
    rows: Sequence[Row],
    now: Sequence[Number],
    target: Sequence[Number] | None = None,
) -> LoadPicture:
    shown = slice(0, MOST_PLACES)
    return LoadPicture(
        name=f"clusters-{name.replace(' ', '-')}",
        resource=name,
        level="cluster",
        unit=unit,
        places=[cluster_name(row) for row in rows[shown]],
        now=now[shown],
        before=None,
        target=[None] * len(rows[shown]) if target is None else target[shown],
        omitted=max(len(rows) - MOST_PLACES, 0),
    )


def _percent(use: float | None) -> Number:
    return None if use is None else round(100 * use, 3)


def _table(name: str, rows: Sequence[Row]) -> BrowsedTable:
    """Return a table of the columns that any row has a value of."""
    shown = [_flat(row) for row in rows[:MOST_ROWS]]
    used = {key for row in shown for key, value in row.items() if value is not None}
    names = dict.fromkeys(key for row in shown for key in row)
    first = [key for key in FIRST if key in used]
    heads = [*first, *(key for key in names if key in used and key not in first)]
    return BrowsedTable(
        name=name,
        caption=name.capitalize(),
        heads=[head.replace("_", " ").capitalize() for head in heads],
        rows=[[row.get(head) for head in heads] for row in shown],
        filters=[at for at, head in enumerate(heads) if head in {"status", "resource"}],
        sizes=[at for at, head in enumerate(heads) if head.endswith("bytes")],
        total=len(rows),
        rest="the table has all",
    )


def _flat(row: Row) -> dict[str, Cell]:
    """Return the cells of a row: fields of violations apart, maps and times as text."""
    flat: dict[str, Cell] = {}
    for key, value in row.items():
        if key in LEFT_OUT:
            continue
        if key == "violations":
            flat |= {rule: count for rule, count in (value or {}).items() if count}
        else:
            flat[key] = _cell(value)
    return flat


def _cell(value: Any) -> Cell:  # noqa: ANN401 - any cell of a table
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, datetime):
        return _time(value)
    if isinstance(value, list):
        return ", ".join(f"{key} {each}" for key, each in sorted(value)) or None
    return str(value)


def _time(time: datetime) -> str:
    zoned = time if time.tzinfo else time.replace(tzinfo=UTC)
    return zoned.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
