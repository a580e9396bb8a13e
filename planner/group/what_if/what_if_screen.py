"""Screen of `group what-if`: a table of the runs, then the history of each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

MAX_LINES = 12
"""Largest number of events and rebalances shown for each run."""


def lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the screen, each at most 80 columns wide."""
    runs = document["runs"]
    group = document["group_id"] or "(no name)"
    yield f"Group {group}, {document['until_s']:g} s played"
    yield ""
    yield f"{'':<56}stands still"
    yield (
        f"{'run':<31} {'rebal.':>6} {'revoked':>7} {'moved':>6} {'longest':>8} "
        f"{'in all':>7} {'lag':>7}"
    )
    for run in runs:
        yield _run_line(run)
    for run in runs:
        yield ""
        yield from _story(run)
    yield ""
    for note in document["notes"]:
        yield from _folded("Note ", note)


def _name(run: Mapping[str, Any]) -> str:
    words = {True: ", static", False: ", dynamic", None: ""}[run["static"]]
    return f"{run['protocol']} {run['assignor']}{words}"


def _run_line(run: Mapping[str, Any]) -> str:
    still, lag = run["still"], run["lag"]
    peak = "-" if lag is None else _short(lag["peak"])
    return (
        f"{_name(run)[:31]:<31} {run['rebalances']:>6} {_short(run['revoked']):>7} "
        f"{_short(run['moved']):>6} {_seconds(still['longest_s']):>8} "
        f"{_seconds(still['partition_s']):>7} {peak:>7}"
    )


def _story(run: Mapping[str, Any]) -> Iterator[str]:
    yield f"{_name(run)}:"
    entries = [(line["at_s"], 0, line["text"]) for line in run["story"]]
    entries += [(step["started_s"], 1, _step_text(step)) for step in run["steps"]]
    entries.sort(key=lambda each: each[:2])
    for at_s, _, text in entries[:MAX_LINES]:
        yield from _folded(f"{at_s:>9.1f} s  ", text)
    if len(entries) > MAX_LINES:
        yield f"{'':>13}… and {len(entries) - MAX_LINES} more; --format json has all"
    if run["idle_members"]:
        idle = run["idle_members"]
        yield from _folded(f"{'idle':>11}  ", f"{len(idle)}: {_some(idle)}")
    if run["uneven_topics"]:
        yield from _folded(f"{'uneven':>11}  ", _uneven_text(run["uneven_topics"]))
    if run["still"]["at_end"]:
        count = run["still"]["at_end"]
        yield f"{'still':>11}  {count} partitions are read by nobody at the end"
    if (lag := run["lag"]) is not None and lag["peak"]:
        yield from _folded(f"{'lag':>11}  ", _lag_text(lag))


def _uneven_text(topics: Sequence[Mapping[str, Any]]) -> str:
    texts = [
        f"{one['name']}: {one['least']} to {one['most']} partitions per member"
        for one in topics[:3]
    ]
    rest = len(topics) - len(texts)
    return "; ".join([*texts, *([f"{rest} more topics"] if rest else [])])


def _step_text(step: Mapping[str, Any]) -> str:
    revoked = sum(
        len(n) for topics in step["revoked"].values() for n in topics.values()
    )
    text = f"rebalance {step['number']} ({step['cause']})"
    text += f": {_seconds(step['ended_s'] - step['started_s'])}"
    if revoked:
        text += f"; {revoked} revoked from {_some(list(step['revoked']))}"
        if step["given_back"]:
            text += f", {step['given_back']} given back"
    if step["moved"]:
        text += f"; {step['moved']} moved"
    if step["findings"]:
        text += f"; BROKEN: {step['findings'][0]['message']}"
    return text


def _lag_text(lag: Mapping[str, Any]) -> str:
    peak = f"{_short(lag['peak'])} messages at most"
    if lag["caught_up_s"] is None:
        return f"{peak}; {_short(lag['end'])} at the end, and not caught up"
    return f"{peak}; caught up at {lag['caught_up_s']:.1f} s"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if names[3:] else "")


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value < 1000 else f"{_short(value)} s"


def _short(value: float) -> str:
    """Return a number with four significant digits and a unit prefix."""
    for limit, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= limit:
            size = 1e3 if unit == "k" else limit
            return f"{value / size:.4g}{unit}"
    return f"{value:.4g}"


def _folded(label: str, text: str) -> list[str]:
    import textwrap

    indent = " " * len(label)
    return textwrap.wrap(
        text,
        79,
        initial_indent=label,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
