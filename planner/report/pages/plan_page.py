"""The page of a plan, from the files of its folder."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from placement.check import Finding
from placement.check.checker import RULE_NAMES
from planner.plan.screen.plan_claims import (
    bands_text,
    copies_text,
    leaders_text,
    waves_text,
)
from planner.report.charts.load_pictures import (
    RESOURCES,
    Levels,
    Limits,
    rack_rows,
)
from planner.report.charts.pictures import Bar, TimelinePicture
from planner.report.pages.blocks import (
    Block,
    Facts,
    Figures,
    Page,
    Section,
    Table,
    Words,
)
from planner.report.pages.certificate_words import bounded_of, certificate_rows
from planner.report.pages.input_blocks import inputs_of
from planner.report.pages.load_blocks import broker_label, load_blocks
from planner.report.pages.move_blocks import move_blocks
from planner.report.pages.plan_folder_facts import PlanFacts
from planner.report.pages.runbook_blocks import command_sections
from planner.report.pages.wrong_words import wrong_after, wrong_before
from planner.text.format import bytes_text, duration_text, percent_text, plural

MOST_FINDINGS = 200
MOST_BARS = 60
"""Largest number of waves in the chart of waves."""
UNKNOWN_TEXT = "unknown for this report; give --snapshot SNAP"
MEANINGS = {
    "optimal": "The hard rules hold, and no plan of less cost reaches these bands.",
    "feasible": "The hard rules hold; a plan of less cost is not ruled out.",
    "nothing-to-do": "Nothing has to move.",
    "left-alone": "What had to move was left alone; see the notes.",
    "partial": "Some hard rule is not met, and it is not proven that none could be.",
    "infeasible": "It is proven that not all hard rules can be met.",
}
"""Meaning of each status of a plan."""


def plan_page(facts: PlanFacts) -> Page:
    """Return the page of a plan."""
    document = facts.document
    snapshot = document["snapshot"]
    name = snapshot["cluster_id"] or "a cluster without id"
    sections = [
        Section("verdict", "Verdict", list(_verdict(facts))),
        *_load_sections(document),
        Section("moves", "Moves and their reasons", list(move_blocks(facts.moves))),
        *([Section("waves", "Waves", list(_waves(facts)))] if facts.waves else []),
        Section("proof", "What is proven", list(_proof(facts))),
        Section("findings", "Rules before and after", list(_findings(facts))),
        Section("inputs", "Inputs, and what is unknown", list(inputs_of(document))),
        *command_sections(facts.runbook),
    ]
    return Page(
        title=f"Plan: {document['goal']} on {name}",
        taken_at=snapshot["taken_at"],
        sections=sections,
    )


def _verdict(facts: PlanFacts) -> Iterator[Block]:
    document = facts.document
    yield Words(
        f"{goal_text(document)}. {MEANINGS[document['status']]}", is_strong=True
    )
    yield Facts(list(verdict_lines(facts)))
    for shortfall in dict.fromkeys(each["message"] for each in document["shortfalls"]):
        yield Words(shortfall, is_strong=True)
    if document.get("reason"):
        yield Words(document["reason"]["message"], is_strong=True)


def goal_text(document: Mapping[str, Any]) -> str:
    """Return operation, bands and status of a plan, as its screen gives them."""
    settings = document["settings"]
    is_left_out = {
        note["where"].get("resource")
        for note in document["notes"]
        if note["what"] == "not-balanced"
    }
    chosen = settings["resources"] or RESOURCES
    bands = sorted({settings["band"][r] for r in chosen if r not in is_left_out})
    return f"{document['goal']}, {bands_text(bands)}: {document['status']}"


def verdict_lines(facts: PlanFacts) -> Iterator[tuple[str, str]]:
    """Yield the lines of the screen that the files and the cluster determine."""
    document = facts.document
    certificate = document["certificate"]
    yield "wrong before", wrong_before(document)
    yield (
        "copies",
        copies_text(
            document["moves"],
            bounded_of(certificate["bytes"]),
            certificate["replicas"]["lower_bound"],
            shows_crossing=document["settings"]["max_cross_rack_bytes"] is not None,
        ),
    )
    least = (certificate.get("leaders") or {}).get("lower_bound", 0.0)
    yield "leaders", leaders_text(document["moves"], facts.elected, least)
    if document["moves"]["log_dirs"]:
        size = bytes_text(document["moves"]["log_dir_bytes"])
        count = plural(document["moves"]["log_dirs"], "replica")
        yield "log dirs", f"{count} to another of its broker, {size}"
    estimates = _estimates(facts)
    if "time" in estimates:
        yield "time", estimates["time"]
    if facts.waves is not None:
        yield "waves", _waves_text(facts.waves)
    yield from wrong_after(document)
    if left := _out_of_band(document):
        yield "left", left
    if "survives" in estimates:
        yield "survives", estimates["survives"]
    yield "checked", _checked_text(facts.findings)


def _estimates(facts: PlanFacts) -> dict[str, str]:
    """Return the lines that the cluster determines; unknown without the cluster."""
    if facts.findings is not None:
        return dict(facts.estimates)
    names = ("time", "survives") if facts.document["moves"]["bytes"] else ("survives",)
    return dict.fromkeys(names, UNKNOWN_TEXT) | dict(facts.estimates)


def _thresholds(settings: Mapping[str, Any]) -> dict[str, float]:
    given = settings["capacity_threshold"]
    return {name: given[name] for name in RESOURCES if name in given}


def _out_of_band(document: Mapping[str, Any]) -> str:
    """Return the brokers out of band after the plan by resource; empty if none."""
    resources = document["after"]["resources"]
    counts = {name: resources[name]["brokers_out_of_band"] or 0 for name in RESOURCES}
    listed = [f"{name} {count}" for name, count in counts.items() if count]
    return f"brokers out of band: {', '.join(listed)}" if listed else ""


def _waves_text(waves: Mapping[str, Any]) -> str:
    proven = waves["certificate"]
    kinds = Counter(wave["kind"] for wave in waves["waves"])
    return waves_text(
        proven["waves"]["value"],
        proven["waves"]["lower_bound"],
        kinds,
        waves["seconds_wave_by_wave"],
        proven["seconds"]["value"],
    )


def _checked_text(findings: Sequence[Finding] | None) -> str:
    if findings is None:
        return "not for this report; give --snapshot SNAP to check every rule"
    caused = [finding for finding in findings if finding.is_wrong]
    if caused:
        count = plural(len(caused), "finding")
        return f"by separate code: not ok, {count}; first: {caused[0].message}"
    existing = Counter(one.rule for one in findings if one.existing)
    if not existing:
        return f"by separate code: {len(RULE_NAMES)} rules: ok"
    listed = ", ".join(f"{rule} {count:,}" for rule, count in existing.items())
    return (
        f"by separate code: {len(RULE_NAMES)} rules: nothing worse than before; "
        f"broken before and now: {listed}"
    )


def limits_of(settings: Mapping[str, Any]) -> Limits:
    """Return the bands and thresholds of the settings of a plan."""
    return Limits(band=settings["band"], threshold=_thresholds(settings))


def plan_levels(document: Mapping[str, Any]) -> Iterator[Levels]:
    """Yield the loads of brokers, racks and log dirs before and after a plan."""
    after, before = (document[side]["by_broker"] for side in ("after", "before"))
    labels = [broker_label(row) for row in after]
    yield Levels(level="broker", labels=labels, now=after, before=before)
    racks, earlier = rack_rows(after), rack_rows(before)
    if len(racks) > 1:
        yield Levels(
            level="rack",
            labels=list(racks),
            now=list(racks.values()),
            before=[earlier[name] for name in racks],
        )
    if document.get("log_dirs"):
        yield _log_dirs(document["log_dirs"])


def _log_dirs(dirs: Sequence[Mapping[str, Any]]) -> Levels:
    after, before = (
        [
            {
                "disk": {
                    "load": each[side],
                    "capacity": each["size_bytes"],
                    "target": each["target"],
                    "deviation": each[f"deviation_{side}"],
                }
            }
            for each in dirs
        ]
        for side in ("after", "before")
    )
    labels = [f"{each['broker']}:{each['log_dir']}" for each in dirs]
    return Levels(
        level="log dir", labels=labels, now=after, before=before, resources=("disk",)
    )


def _load_sections(document: Mapping[str, Any]) -> Iterator[Section]:
    limits = limits_of(document["settings"])
    for levels in plan_levels(document):
        blocks = [*load_blocks(levels, limits)]
        if levels.level == "broker":
            blocks.append(_balance(document))
        anchor = levels.level.replace(" ", "-")
        title = f"{levels.level.capitalize()}s before and after"
        yield Section(f"{anchor}s", title, blocks)


def _balance(document: Mapping[str, Any]) -> Table:
    """Return the measures of balance before and after, by resource."""
    heads = ["Resource", "Max/mean before", "after", "CV before", "after"]
    heads += ["Out of band before", "after"]
    names = ("max_over_mean", "cv", "brokers_out_of_band")
    rows = []
    for resource in RESOURCES:
        sides = [document[side]["resources"][resource] for side in ("before", "after")]
        if any(side["known_fraction"] for side in sides):
            cells = [side[name] for name in names for side in sides]
            rows.append((resource, *map(_rounded, cells)))
    return Table(caption="Balance over the brokers", heads=heads, rows=rows)


def _rounded(value: float | None) -> float | str:
    return "unknown" if value is None else round(value, 3)


def _waves(facts: PlanFacts) -> Iterator[Block]:
    waves = facts.waves or {}
    yield Words(f"{_waves_text(waves)}.")
    bars, rows, begin = [], [], 0.0
    for wave in waves["waves"]:
        end = begin + wave["seconds"]
        note = ", ".join(filter(None, (_wave_bytes(wave), _wave_disk(wave))))
        bars.append(Bar(str(wave["number"]), wave["kind"], begin, end, note))
        rows.append(_wave_row(wave, end))
        begin = end
    shown = bars[:MOST_BARS]
    yield Figures(
        pictures=[
            TimelinePicture(
                name="waves-timeline", bars=shown, omitted=len(bars) - len(shown)
            )
        ],
        legend=[("now", "copies"), ("drops", "drops"), ("leaders", "leaders")],
    )
    if len(bars) > len(shown):
        yield Words(f"The chart shows the first {len(shown)} of {len(bars)} waves.")
    heads = ("Wave", "Kind", "Partitions", "Copies", "Bytes", "Time", "Done after")
    yield Table(caption="Waves", heads=(*heads, "Fullest disk meanwhile"), rows=rows)
    for note in waves["notes"]:
        yield Words(note)
    if waves["stuck"]:
        yield Words(waves["stuck"]["message"], is_strong=True)


def _wave_bytes(wave: Mapping[str, Any]) -> str:
    return bytes_text(wave["bytes"] + wave["log_dir_bytes"])


def _wave_disk(wave: Mapping[str, Any]) -> str:
    fullest = wave["fullest_disk"]
    return f"b{fullest['broker']} {percent_text(fullest['use'])}" if fullest else ""


def _wave_row(wave: Mapping[str, Any], end: float) -> tuple[str | int, ...]:
    return (
        wave["number"],
        wave["kind"],
        wave["partitions"],
        wave["copies"],
        _wave_bytes(wave),
        duration_text(wave["seconds"]),
        duration_text(end),
        _wave_disk(wave),
    )


def _proof(facts: PlanFacts) -> Iterator[Block]:
    yield Words(
        "Bounds hold for all plans of this operation that reach the same bands. Those "
        "that are checked can be computed again from the witness in plan.json, by code "
        "that shares nothing with the solver."
    )
    certificate = {**facts.document["certificate"]}
    if facts.waves is not None:
        certificate |= facts.waves["certificate"]
    yield Table(
        caption="Certificate",
        heads=("What", "This plan", "No plan below", "Gap", "Proven by"),
        rows=list(certificate_rows(certificate)),
    )


def _findings(facts: PlanFacts) -> Iterator[Block]:
    document = facts.document
    before, after = (document[side]["violations"] for side in ("before", "after"))
    rows = [
        (
            rule.replace("_", " "),
            before[rule],
            after[rule],
            _change(before, after, rule),
        )
        for rule in before
        if before[rule] or after[rule]
    ]
    if rows:
        heads = ("Rule", "Before", "After", "The plan")
        yield Table(caption="Violations", heads=heads, rows=rows)
    else:
        yield Words("No rule is broken before or after the plan.")
    yield Words(f"Checked {_checked_text(facts.findings)}.")
    yield from _finding_tables(facts.findings or ())


def _change(before: Mapping[str, int], after: Mapping[str, int], rule: str) -> str:
    if after[rule] == before[rule]:
        return "changes nothing: it existed before"
    return (
        "repairs some"
        if 0 < after[rule] < before[rule]
        else ("repairs all" if not after[rule] else "makes more")
    )


def _finding_tables(findings: Sequence[Finding]) -> Iterator[Block]:
    parts = {
        "Caused by the plan": [one for one in findings if one.is_wrong],
        "Existing before the plan": [
            one for one in findings if one.existing and not one.is_wrong
        ],
        "Goals that are not met in full": [
            one for one in findings if one.soft and not one.existing
        ],
    }
    for caption, chosen in parts.items():
        if chosen:
            rows = [(one.rule, one.message) for one in chosen[:MOST_FINDINGS]]
            if len(chosen) > len(rows):
                rows.append(("…", f"and {len(chosen) - len(rows)} more"))
            yield Table(caption=caption, heads=("Rule", "Finding"), rows=rows)
