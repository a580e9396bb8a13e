"""The page of scores, one or more snapshots."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from placement.model.load import RESOURCES as ALL
from planner.report.charts.load_pictures import RESOURCES, Levels, Limits
from planner.report.pages.blocks import (
    Block,
    BrowsedTable,
    Command,
    Facts,
    Figures,
    Page,
    Section,
    Table,
    Words,
)
from planner.report.pages.input_blocks import unknown_facts
from planner.report.pages.load_blocks import broker_label, load_blocks
from planner.score.make_score import Scored
from planner.score.score_document import score_document
from planner.score.score_screen import hot_text
from planner.score.score_summary import NOW
from planner.score.score_verdict import next_words
from planner.text.format import plural

MOST_TOPICS = 4000
MOST_SPOTS = 100
TOPIC_HEADS = ("Topic", "Partitions", "Replicas", "Disk", "In /s", "Out /s", "Leaders")
TOPIC_SIZES = (3, 4, 5)


def score_page(scored: Sequence[tuple[Path, Scored]]) -> Page:
    """
    Return the page of scores.

    Parameters
    ----------
    scored
        Path and score of each snapshot.
    """
    sections = []
    for number, (path, each) in enumerate(scored):
        prefix = f"s{number + 1}-" if len(scored) > 1 else ""
        name = _name(path, each)
        sections += [
            _in_page(section, prefix, name if prefix else "")
            for section in _sections(path, each)
        ]
    names = ", ".join(_name(path, each) for path, each in scored)
    times = {each.taken_at for _, each in scored}
    return Page(
        title=f"Score: {names}",
        taken_at=times.pop() if len(times) == 1 else None,
        sections=sections,
    )


def _name(path: Path, scored: Scored) -> str:
    return scored.cluster_id or path.name


def _in_page(section: Section, prefix: str, name: str) -> Section:
    """Return a section whose anchor and title are its own among several snapshots."""
    title = f"{name}: {section.title}" if name else section.title
    blocks = [_block_in_page(block, prefix) for block in section.blocks]
    anchor = f"{prefix}{section.anchor}"
    return replace(section, anchor=anchor, title=title, blocks=blocks)


def _block_in_page(block: Block, prefix: str) -> Block:
    if isinstance(block, BrowsedTable):
        return replace(block, name=f"{prefix}{block.name}")
    if isinstance(block, Figures):
        pictures = [replace(p, name=f"{prefix}{p.name}") for p in block.pictures]
        return replace(block, pictures=pictures)
    return block


def _sections(path: Path, scored: Scored) -> Iterator[Section]:
    document = score_document(scored)
    yield Section("verdict", "Verdict", list(_verdict(path, scored, document)))
    loads, rest = loads_and_rest(document, score_limits(scored))
    yield from loads
    balance, *others = rest
    yield balance
    yield Section("hot", "Hot spots", list(_hot(scored)))
    yield from others


def score_sections(document: Mapping[str, Any]) -> Iterator[Section]:
    """Yield the sections of the document of a score, which has no bands to draw."""
    loads, rest = loads_and_rest(document, Limits())
    yield from loads
    yield from rest


def loads_and_rest(
    document: Mapping[str, Any], limits: Limits
) -> tuple[list[Section], list[Section]]:
    """Return the sections of the loads, and those of balance, topics and inputs."""
    loads = [
        Section(
            f"{levels.level.replace(' ', '-')}s",
            f"{levels.level.capitalize()}s",
            list(load_blocks(levels, limits)),
        )
        for levels in score_levels(document)
    ]
    rest = [
        Section("balance", "Balance and violations", list(_balance(document))),
        Section("topics", "Topics", list(_topics(document))),
        Section("inputs", "Inputs, and what is unknown", list(_inputs(document))),
    ]
    return loads, rest


def score_limits(scored: Scored) -> Limits:
    """Return the bands and thresholds of a score."""
    thresholds = scored.settings.capacity_thresholds
    return Limits(
        band={str(r): scored.settings.band(r) for r in ALL},
        threshold={str(r): value for r, value in thresholds.items()},
    )


def _verdict(
    path: Path, scored: Scored, document: Mapping[str, Any]
) -> Iterator[Block]:
    lines = [(line["label"], line["text"]) for line in document["summary"]]
    for label, text in lines:
        if label == NOW:
            yield Words(f"{label}: {text}", is_strong=True)
    yield Facts([(label.lower(), text) for label, text in lines if label != NOW])
    yield Words("Next:")
    yield Command(shlex.join(next_words(scored.score, path)))


def score_levels(document: Mapping[str, Any]) -> Iterator[Levels]:
    """Yield the loads of brokers, racks and log dirs of a score."""
    brokers = document["by_broker"]
    yield Levels(level="broker", labels=[*map(broker_label, brokers)], now=brokers)
    racks = document["by_rack"]
    if len(racks) > 1:
        yield Levels(level="rack", labels=[*map(_rack_label, racks)], now=racks)
    if dirs := document["by_log_dir"]:
        labels = [f"{each['broker']}:{each['log_dir']}" for each in dirs]
        yield Levels(level="log dir", labels=labels, now=dirs, resources=("disk",))


def _rack_label(row: Mapping[str, Any]) -> str:
    return f"broker {row['broker']} (no rack)" if row["rack"] is None else row["rack"]


def _balance(document: Mapping[str, Any]) -> Iterator[Block]:
    names = ("max_use", "mean_use", "max_over_mean", "cv", "gini", "jain")
    rows = []
    for resource in RESOURCES:
        figures = document["resources"][resource]
        if figures["known_fraction"]:
            cells = [figures[name] for name in (*names, "brokers_out_of_band")]
            rows.append((resource, *map(_rounded, cells)))
    heads = ["Resource", "Max use", "Mean use", "Max/mean", "CV", "Gini", "Jain"]
    heads.append("Brokers out of band")
    yield Table(caption="Balance over the brokers", heads=heads, rows=rows)
    broken = [
        (rule.replace("_", " "), count)
        for rule, count in document["violations"].items()
        if count
    ]
    if broken:
        yield Table(caption="Violations", heads=("Rule", "Number"), rows=broken)
    else:
        yield Words("No rule is broken.")


def _rounded(value: float | None) -> float | str:
    return "-" if value is None else float(f"{value:.4g}")


def _hot(scored: Scored) -> Iterator[Block]:
    score = scored.score
    spots = [hot_text(score, spot) for spot in score.hot_spots[:MOST_SPOTS]]
    if not spots:
        yield Words("No broker carries more than its band or threshold allows.")
    for text in spots:
        yield Words(text)
    if score.num_hot_spots > len(spots):
        yield Words(f"and {score.num_hot_spots - len(spots)} more")


def _topics(document: Mapping[str, Any]) -> Iterator[Block]:
    topics = document["by_topic"]
    totals = [[_total(topic, r) for r in ("disk", "in", "out")] for topic in topics]
    order = sorted(range(len(topics)), key=lambda t: -(totals[t][0] or 0))
    rows = [
        (
            topics[t]["topic"],
            topics[t]["partitions"],
            topics[t]["replicas"],
            *totals[t],
            _total(topics[t], "leaders"),
        )
        for t in order[:MOST_TOPICS]
    ]
    yield BrowsedTable(
        name="topics",
        caption="Topics",
        heads=TOPIC_HEADS,
        rows=rows,
        sizes=TOPIC_SIZES,
        total=len(topics),
        rest="those of most bytes are here; --format json has all",
    )


def _total(topic: Mapping[str, Any], resource: str) -> int | None:
    total = topic["resources"][resource]["total"]
    return None if total is None else round(total)


def _inputs(document: Mapping[str, Any]) -> Iterator[Block]:
    counts = [
        plural(document["brokers"], "broker"),
        plural(document["partitions"], "partition"),
        plural(document["replicas"], "replica"),
    ]
    yield Facts(
        [
            ("cluster", document["cluster_id"] or "unknown"),
            ("taken at", document["taken_at"] or "unknown"),
            ("size", ", ".join(counts)),
            *unknown_facts(document["resources"]),
        ]
    )
    for note in document["notes"]:
        yield Words(note["message"])
