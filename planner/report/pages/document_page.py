"""The page of a document that a command printed with `--format json`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from planner.report.charts.key_pictures import SHARE_LEGEND, SWEEP_LEGEND, key_pictures
from planner.report.charts.scenario_pictures import scenario_pictures
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
from planner.report.pages.document_verdicts import lines_of, verdicts_of
from planner.report.pages.group_pages import (
    assignment_sections,
    group_what_if_sections,
)
from planner.report.pages.load_blocks import figures_table
from planner.report.pages.score_page import score_sections
from planner.text.format import bytes_text, duration_text, percent_text

TITLES = {
    "failures": "Failures",
    "failures-scenario": "A loss",
    "score": "Score",
    "what-if": "What if",
    "size": "Size",
    "keys-skew": "Skew of keys",
    "status": "Status",
    "check": "Check",
    "verify": "Verify",
    "group-assignment": "Assignment of a group",
    "group-what-if": "What if: a group",
}
"""Title of the page of each document, by the name of its schema."""
FIRST = ("verdict", "status", "ok", "survives", "is_checked", "value", "lower_bound")
"""Fields that a reader looks for, in this order."""
LEFT_OUT = ("data_age_s", "seconds", "peak_memory_bytes")
"""Fields that were measured, or that the page tells when it is opened."""
PARTS = {"verdict": "Verdict by kind of loss"}
"""Titles of fields whose names say too little."""
MOST_ROWS = 4000
MOST_COLUMNS = 24
"""Largest number of columns of a table that fits on paper."""
FRACTIONS = ("use", "max_use", "mean_use", "threshold", "fraction", "share")


def document_page(name: str, document: Mapping[str, Any]) -> Page:
    """
    Return the page of a document.

    Parameters
    ----------
    name
        Name of its schema, of `TITLES`.
    document
        The document.
    """
    subject = document.get("cluster_id") or document.get("group_id")
    scalars = {key: v for key, v in document.items() if not isinstance(v, dict | list)}
    parts = {key: v for key, v in document.items() if isinstance(v, dict | list)}
    first = [key for key in FIRST if key in parts]
    order = [*first, *(key for key in parts if key not in first)]
    verdicts = [Words(text, is_strong=True) for text in verdicts_of(name, document)]
    lines = list(lines_of(name, document))[:MOST_ROWS]
    said = {label for label, _ in lines}
    facts = [(label, v) for label, v in _facts(_ordered(scalars)) if label not in said]
    left_out = {*LEFT_OUT, *SHOWN_APART.get(name, ())}
    sections = [
        Section("verdict", "Verdict", [*verdicts, *_lines(lines), Facts(facts)]),
        *OWN_SECTIONS.get(name, _no_sections)(document),
        *(
            Section(
                f"part-{key}",
                PARTS.get(key) or _label(key),
                list(_blocks(key, parts[key])),
            )
            for key in order
            if key not in left_out
        ),
    ]
    title = f"{TITLES[name]}: {subject}" if subject else TITLES[name]
    return Page(title=title, taken_at=document.get("taken_at"), sections=sections)


def _lines(lines: Sequence[tuple[str, str]]) -> Iterator[Block]:
    """Yield the lines of the screen below its verdict, if there are any."""
    if lines:
        yield Facts(lines)


def _ordered(fields: Mapping[str, Any]) -> dict[str, Any]:
    first = [key for key in FIRST if key in fields]
    return {key: fields[key] for key in (*first, *fields) if key not in LEFT_OUT}


def _no_sections(_: Mapping[str, Any]) -> Iterator[Section]:
    yield from ()


def _scenarios(document: Mapping[str, Any]) -> Iterator[Section]:
    rows = [document["today"], *document["scenarios"]]
    thresholds = document["assumptions"]["capacity_threshold"]
    pictures = list(scenario_pictures(rows, thresholds))
    blocks: list[Block] = []
    if pictures:
        legend = [("now", "fullest broker"), ("target", "mean")]
        legend.append(("limit", "capacity threshold"))
        table = figures_table("scenario", pictures)
        blocks.append(Figures(pictures=pictures, legend=legend, table=table))
    else:
        blocks.append(Words("No use of a broker is known."))
    yield Section("scenarios", "Scenarios beside today", blocks)


def _skews(document: Mapping[str, Any]) -> Iterator[Section]:
    """Yield the charts of keys: shares of partitions, and the sweep."""
    legends = (SHARE_LEGEND, SWEEP_LEGEND)
    heads = ("Shares of partitions", "Other numbers of partitions")
    for head, picture, words in zip(
        heads, key_pictures(document), legends, strict=False
    ):
        is_shown = {"band": bool(picture.lower), "limit": bool(picture.threshold)}
        legend = [(k, text) for k, text in words.items() if is_shown.get(k, True)]
        table = figures_table(picture.level, [picture])
        blocks: list[Block] = [Figures(pictures=[picture], legend=legend, table=table)]
        yield Section(f"of-{picture.name}", head, blocks)


OWN_SECTIONS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[Section]]] = {
    "what-if": _scenarios,
    "score": score_sections,
    "keys-skew": _skews,
    "group-assignment": assignment_sections,
    "group-what-if": group_what_if_sections,
}
"""Sections that a document has before its other fields."""
SHOWN_APART = {
    "failures": ("summary", "notes"),
    "failures-scenario": ("summary", "notes"),
    "size": ("summary",),
    "score": (
        *("summary", "resources", "violations", "notes"),
        *("by_broker", "by_rack", "by_log_dir", "by_topic"),
    ),
    "group-assignment": ("assignment", "load", "revoked", "certificate", "notes"),
    "group-what-if": ("runs", "notes"),
}
"""Fields that these sections show."""


def _blocks(key: str, value: Any, depth: int = 0) -> Iterator[Block]:  # noqa: ANN401
    """Yield a field: records as a table, single values as facts, parts below it."""
    if isinstance(value, list):
        yield from _listed(key, value)
        return
    if depth:
        yield Words(_label(key), is_strong=True)
    scalars = {k: v for k, v in value.items() if not isinstance(v, dict | list)}
    if scalars:
        yield Facts([(_label(k), _shown(f"{key} {k}", v)) for k, v in scalars.items()])
    for name, part in value.items():
        if isinstance(part, dict | list):
            yield from _blocks(f"{key} {name}", part, depth + 1)
    if not value:
        yield Words("none")


def _listed(name: str, values: Sequence[Any]) -> Iterator[Block]:
    """Yield a list: records as browsed tables, single values as words."""
    if not values:
        yield Words(f"{_label(name)}: none")
        return
    if not all(isinstance(value, dict) for value in values):
        yield Words(f"{_label(name)}: {_shown(name, list(values))}")
        return
    rows = [_flat(value) for value in values[:MOST_ROWS]]
    heads = list(dict.fromkeys(key for row in rows for key in row))
    for part, columns in _parts(heads):
        yield _browsed(f"{name} {part}".strip(), columns, rows, len(values))


def _parts(heads: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the columns of each table: wide records are apart, by the first column."""
    if len(heads) <= MOST_COLUMNS:
        yield "", list(heads)
        return
    by_record: dict[str, list[str]] = {"": []}
    for head in heads:
        by_record.setdefault(head.rpartition(" ")[0], []).append(head)
    for record, columns in by_record.items():
        first = heads[:1] if record else []
        yield record, [*first, *columns]


def _browsed(
    name: str, heads: Sequence[str], rows: Sequence[Mapping[str, Any]], total: int
) -> BrowsedTable:
    return BrowsedTable(
        name=name.replace("_", "-").replace(" ", "-"),
        caption=_label(name),
        heads=[_label(head) for head in heads],
        rows=[[_cell(head, row.get(head)) for head in heads] for row in rows],
        sizes=[at for at, head in enumerate(heads) if _is_size(head)],
        total=total,
        rest="the document has all",
    )


def _flat(record: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return a record without records in it: their names are joined."""
    flat: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key} ")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _facts(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in fields.items():
        yield _label(key), _shown(key, value)


def _title(key: str) -> str:
    return PARTS.get(key) or _label(key)


def _label(key: str) -> str:
    words = key.replace("_per_s", "_per_second").replace("_", " ")
    return words.removesuffix(" s").capitalize()


def _is_size(key: str) -> bool:
    return key.endswith("bytes")


def _cell(key: str, value: Any) -> Cell:  # noqa: ANN401 - any JSON value
    """Return the cell of a table: numbers stay numbers, to be sorted."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return None if value is None else _shown(key, value)


def _shown(key: str, value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Return a value as text, in the unit that the name of its field gives."""
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_shown(key, each) for each in value) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{_label(k)} {_shown(k, v)}" for k, v in value.items())
    if isinstance(value, int | float):
        return _number_text(key, value)
    return str(value)


def _number_text(key: str, value: float) -> str:
    last = key.rsplit(" ", maxsplit=1)[-1]
    if last.endswith("bytes_per_s"):
        return f"{bytes_text(value)}/s"
    if _is_size(last):
        return bytes_text(value)
    if last == "seconds" or last.endswith("_s"):
        return duration_text(value)
    if last in FRACTIONS or "capacity_threshold" in key:
        return percent_text(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
