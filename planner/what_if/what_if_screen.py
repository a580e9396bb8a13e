"""Screen of `what-if`: a table of today and the scenarios, then sentences."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from planner.text.data_age import age_text
from planner.text.format import (
    SCREEN_WIDTH,
    bytes_text,
    command_lines,
    labelled,
    percent_text,
    plural,
    use_text,
    wrapped,
)
from planner.text.printable import shorten
from planner.text.table import Column, table_lines
from planner.what_if.changes.change_context import Context
from planner.what_if.play_scenarios import WhatIf

Row = Mapping[str, Any]
NAME_WIDTH = 17
MARK_AND_NAME = (
    Column(least=1, gap=0),
    Column(least=NAME_WIDTH, most=NAME_WIDTH, gap=1),
)
FIGURES = {
    "brk": 3,
    "disk": 5,
    "in": 4,
    "out": 4,
    "cpu": 4,
    "bal": 4,
    "over": 4,
    "copied": 8,
    "time": 6,
    "N-1": 4,
    "full": 5,
}
"""Heading and least width of each column of figures."""
PRICES = {
    "brokers": "brokers",
    "racks": "cross_rack",
    "remote": "remote",
    "all": "total",
    "copies": "copying",
}
"""Heading of each column of prices, and its key in the document."""
PRICE_WIDTH = 11
MOST_SENTENCES = 12
MOST_DIRS = 3
INDENT = "  "
WORDS = {
    "offline": "offline",
    "under_min_isr": "under min ISR",
}


def what_if_screen(
    found: WhatIf, given: Sequence[str], *, now: datetime
) -> Iterator[str]:
    """
    Yield the lines of the screen, each at most 80 columns wide.

    Parameters
    ----------
    found
        Results of today and of the scenarios.
    given
        Arguments of the command line: snapshot, file, options.
    now
        Time, with a zone, that gives the age of the data.
    """
    yield from wrapped(_headline(found, now))
    yield from scenario_lines([found.today, *found.scenarios])
    yield from legend()
    if found.file.context.prices is not None:
        yield from price_lines([found.today, *found.scenarios], found.file.context)
    alone = [row for row in found.scenarios if row["sweep"] is None]
    yield from _sentences(alone, found.today)
    for name in dict.fromkeys(row["sweep"] for row in found.scenarios if row["sweep"]):
        yield from sweep_lines(
            name, [row for row in found.scenarios if row["sweep"] == name]
        )
    yield from labelled("Assumed", assumed_text(found))
    for note in dict.fromkeys(n for row in found.scenarios for n in row["notes"]):
        yield from labelled("Note", note)
    planned = [row for row in found.scenarios if row["status"] != "as-is"]
    words = ["kafka-planner", "what-if", *given]
    more = ["-o", "what-if"] if planned else ["--format", "json"]
    yield from command_lines("Next", [*words, *more])


def scenario_lines(rows: Sequence[Row]) -> list[str]:
    """Return the lines of a table with one row per scenario."""
    figures = [
        Column(heading, align="right", least=least, gap=1)
        for heading, least in FIGURES.items()
    ]
    return table_lines([*MARK_AND_NAME, *figures], map(_cells, rows))


def _headline(found: WhatIf, now: datetime) -> str:
    snapshot, today = found.snapshot, found.today
    return (
        f'Snapshot "{snapshot.cluster_id or "?"}"{age_text(snapshot.taken_at, now)}: '
        f"{plural(today['brokers'], 'broker')}, "
        f"{plural(today['partitions'], 'partition')}. {held_text(found.scenarios)}"
    )


def held_text(rows: Sequence[Row]) -> str:
    """Return how many scenarios hold, as a sentence."""
    broken = sum(not row["holds"] for row in rows)
    fine = len(rows) - broken
    return (
        f"{plural(len(rows), 'scenario')}: {fine} {'holds' if fine == 1 else 'hold'}, "
        f"{broken} {'does' if broken == 1 else 'do'} not."
    )


def _cells(row: Row) -> list[str]:
    """Return the cells of a scenario, ``!`` first where it does not hold."""
    return [
        "" if row["holds"] else "!",
        _row_name(row),
        str(row["brokers"]),
        *(_use_text(row["resources"][r]) for r in ("disk", "in", "out", "cpu")),
        _balance_text(row),
        str(row["brokers_over_threshold"]),
        _copied_text(row["copies"]),
        _time_text(row["copies"]["seconds"]),
        survives_text(row),
        full_text(row["full"]),
    ]


def _copied_text(copies: Row) -> str:
    if not copies["replicas"]:
        return "-"
    return "?" if copies["bytes"] is None else bytes_text(copies["bytes"], 3)


def _row_name(row: Row) -> str:
    """Return the name of a scenario, or the sweep and the values of a point."""
    point = row["point"]
    if point is None:
        return str(row["name"])
    parts = []
    if point["traffic"] is not None:
        parts.append(f"x {point['traffic']:g}")
    if point["days"] is not None:
        parts.append(f"day {point['days']:g}")
    name, place = row["sweep"], ", ".join(parts)
    if not place:
        return str(name)
    # The number of brokers is left out: the next column has it.
    room = NAME_WIDTH - len(place) - 2
    return f"{shorten(name, room)}: {place}"


def _use_text(use: Row | None) -> str:
    return "?" if use is None else f"{100 * use['max_use']:.0f}"


def _balance_text(row: Row) -> str:
    return f"{min(100 * row['balance']['max_deviation'], 999):.0f}"


def _time_text(seconds: float | None) -> str:
    """Return a duration in six columns."""
    if seconds is None:
        return "?"
    if not seconds:
        return "-"
    hours = seconds / 3600
    if hours < 1:
        return f"{max(round(seconds / 60), 1)} min"
    if hours < 48:
        return f"{hours:.1f} h"
    return f"{hours / 24:.1f} d"


def survives_text(row: Row) -> str:
    """Return ``y``, ``n`` or ``?`` for the loss of any broker and of any rack."""
    answers = [row["survives"][kind]["survives"] for kind in ("broker", "rack")]
    return "".join({True: "y", False: "n", None: "?"}[answer] for answer in answers)


def full_text(full: Row | None) -> str:
    """Return the time until a threshold is passed, in five columns."""
    if full is None:
        return "?"
    if full["days"] is None:
        return ">10y"
    days = full["days"]
    return f"{days:.0f} d" if days < 1000 else f"{days / 365.2425:.1f} y"


def legend() -> Iterator[str]:
    """Yield lines that explain the columns."""
    yield from wrapped(
        "disk, in, out, cpu: % of the fullest broker's capacity; bal: % furthest from "
        "its share; over: brokers over a threshold; N-1: any broker, any rack may be "
        "lost; full: days until a threshold is passed."
    )


def price_lines(rows: Sequence[Row], context: Context) -> Iterator[str]:
    """Yield a table of the costs of today and of each scenario."""
    prices = context.prices
    if prices is None:  # pragma: no cover - the caller has looked
        return
    columns = [
        Column(heading, align="right", least=PRICE_WIDTH, gap=1) for heading in PRICES
    ]
    yield from table_lines([*MARK_AND_NAME, *columns], map(_price_cells, rows))
    unit = f"{prices.currency} a {prices.per}".strip()
    yield from wrapped(
        f"Prices: {unit}; brokers, traffic between racks, remote storage, all; and "
        "once for what is copied between racks."
    )


def _price_cells(row: Row) -> list[str]:
    texts = [_price_text(row["price"][key]) for key in PRICES.values()]
    return ["", _row_name(row), *texts]


def _price_text(value: float | None) -> str:
    return (
        "-" if value is None else f"{value:,.2f}" if value < 1000 else f"{value:,.0f}"
    )


def _sentences(rows: Sequence[Row], today: Row) -> Iterator[str]:
    """Yield sentences on all scenarios that do not hold, and on the first that do."""
    broken = sum(not row["holds"] for row in rows)
    room = max(MOST_SENTENCES - broken, 0)
    fine = [row["name"] for row in rows if row["holds"]]
    for row in rows:
        if not row["holds"] or row["name"] in fine[:room]:
            yield from _sentence(row, today)
    if more := len(fine[room:]):
        verb, them = ("holds", "it") if more == 1 else ("hold", "them")
        yield f"and {more} more that {verb}: --scenario NAME shows {them}"


def scenario_verdict(row: Row, today: Row) -> str:
    """Return whether a scenario holds, with the reasons, as text."""
    verdict = "holds" if row["holds"] else "does not hold"
    reasons = "; ".join([*reasons_of(row), *_between_racks(row, today)])
    return f"{verdict}; {reasons}".rstrip("; ")


def scenario_name(row: Row) -> str:
    """Return the name of a scenario, and the one that it begins after."""
    after = f" (after {row['after']})" if row["after"] else ""
    return f"{row['name']}{after}"


def _sentence(row: Row, today: Row) -> Iterator[str]:
    text = f"{scenario_name(row)}: {scenario_verdict(row, today)}"
    first, *rest = wrapped(text, SCREEN_WIDTH - len(INDENT))
    yield first
    yield from (f"{INDENT}{line}" for line in rest)


def reasons_of(row: Row) -> Iterator[str]:
    """Yield reasons for a verdict: broken rules, binding capacities, hard losses."""
    for key, words in WORDS.items():
        if row["violations"][key]:
            yield f"{plural(row['violations'][key], 'partition')} {words}"
    if row["status"] in {"partial", "infeasible"}:
        yield f"the plan is {row['status']}"
    yield from row["shortfalls"][:1]
    yield from _full_dirs(row["log_dirs_over_threshold"])
    if row["binding"] is not None:
        yield binding_text(row["binding"])
    if row["out_on_return"] is not None:
        use = row["out_on_return"]
        yield (
            f"once every follower fetches again, out is {percent_text(use['max_use'])} "
            f"on broker {use['broker']}"
        )
    for kind, name in (("broker", "broker"), ("rack", "rack")):
        found = row["survives"][kind]
        is_of_loss = found["fails"] or found["controllers_keep_majority"] is False
        if found["survives"] is False and is_of_loss:
            yield loss_text(name, found)
    yield from _until_full(row["full"])


def _full_dirs(full: Sequence[str]) -> Iterator[str]:
    if full:
        more = f" and {len(full) - MOST_DIRS} more" if len(full) > MOST_DIRS else ""
        named = ", ".join(full[:MOST_DIRS])
        yield f"log dir{'s' * (len(full) > 1)} {named}{more} over the disk threshold"


def loss_text(kind: str, found: Row) -> str:
    """Return why the loss of a broker or a rack is not survived, as text."""
    if not found["reason"]:
        return f"one more {kind} may take the controllers' majority"
    if not found["fails"]:
        return str(found["reason"])
    return f"without {kind} {found['hardest']}: {found['reason']}"


def _between_racks(row: Row, today: Row) -> Iterator[str]:
    rate, before = row["cross_rack_bytes_per_s"], today["cross_rack_bytes_per_s"]
    if rate is None or before is None:
        return
    text = f"between racks {bytes_text(rate)}/s of replication"
    if bytes_text(rate) != bytes_text(before):
        text += f", today {bytes_text(before)}/s"
    crossed = row["copies"]["cross_rack_bytes"]
    yield text + (f", and {bytes_text(crossed)} of the copies" if crossed else "")


def _until_full(full: Row | None) -> Iterator[str]:
    if full is None or full["days"] is None:
        return
    where = crossing_text(full["resource"], full["broker"], full["log_dir"])
    if full["days"] >= 1:
        days = plural(round(full["days"]), "day")
        yield f"{where} is first over its threshold, in {days}"
    else:
        when = "within a day" if full["days"] else "today"
        yield f"{where} is over its threshold {when}"


def crossing_text(resource: str, broker_id: int, log_dir: str | None) -> str:
    """Return what passes a threshold: a resource of a broker, or a log dir, as text."""
    if log_dir is None:
        return f"{resource} of broker {broker_id}"
    return f"log dir {broker_id}:{log_dir}"


def binding_text(binding: Row) -> str:
    """Return the binding resource with its broker and use, as text."""
    use = use_text(binding["use"], binding["threshold"])
    return f"{binding['resource']} binds: broker {binding['broker']} {use}"


def sweep_lines(name: str, rows: Sequence[Row]) -> Iterator[str]:
    """Yield the most traffic, or days, that holds for each number of brokers."""
    axis = "traffic" if rows[0]["point"]["traffic"] is not None else "days"
    if rows[0]["point"][axis] is None:
        held = [str(row["brokers"]) for row in rows if row["holds"]]
        yield from wrapped(f"{name}: holds with {', '.join(held) or 'none'} brokers")
        return
    yield from _cheapest_lines(name, rows, axis)
    counts = list(dict.fromkeys(row["point"]["brokers"] for row in rows))
    texts = []
    for count in counts:
        mine = [row for row in rows if row["point"]["brokers"] == count]
        held = [row["point"][axis] for row in mine if row["holds"]]
        most = f"{max(held):g}" if held else "none"
        texts.append(most if count is None else f"{count} brokers: {most}")
    yield from wrapped(f"{name}: most {axis} that holds: {'; '.join(texts)}")


def _cheapest_lines(name: str, rows: Sequence[Row], axis: str) -> Iterator[str]:
    """Yield the cheapest number of brokers that holds, per value of the axis."""
    priced = [row for row in rows if (row["price"] or {}).get("total") is not None]
    if not priced or priced[0]["point"]["brokers"] is None:
        return
    texts = []
    for value in dict.fromkeys(row["point"][axis] for row in priced):
        held = [row for row in priced if row["point"][axis] == value and row["holds"]]
        if not held:
            texts.append(f"{value:g}: none")
            continue
        best = min(held, key=lambda row: row["price"]["total"])
        price = _price_text(best["price"]["total"])
        count = plural(best["point"]["brokers"], "broker")
        texts.append(f"{value:g}: {count}, {price}")
    yield from wrapped(f"{name}: cheapest that holds, by {axis}: {'; '.join(texts)}")


def assumed_text(found: WhatIf) -> str:
    """Return the assumptions of the figures, as text."""
    options = found.options
    thresholds = options.settings.capacity_thresholds
    most = ", ".join(f"{r} {percent_text(v)}" for r, v in thresholds.items())
    rate = bytes_text(options.bandwidth_bytes_per_s)
    grows = "by the growth given" if found.file.context.growth else "growth not given"
    return f"at most {most}; copies at {rate}/s per broker; {grows}"
