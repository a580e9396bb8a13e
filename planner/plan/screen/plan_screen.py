"""Screen of a plan: state, violations, changes and certificate."""

import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from placement.check.checker import RULE_NAMES
from placement.draft.draft import Note
from placement.model.cluster import ClusterState
from placement.model.load import RESOURCES, Resource
from placement.operations.descriptor import describe
from planner.kafka_files.creation import Creation
from planner.options.declared.plan_options import OPTIONS
from planner.plan.documents.plan_document import rollback_notes, throttle_notes
from planner.plan.documents.plan_figures import (
    DEFAULT_RATE_BYTES_PER_S,
    counted_out,
)
from planner.plan.documents.scored_plan import Plan, elections
from planner.plan.documents.topic_patches import (
    partition_patch_notes,
    partition_patches,
)
from planner.plan.documents.wrong_lines import AFTER, AS_BEFORE, BEFORE, wrong_lines
from planner.plan.folder.plan_folder import ASSIGNMENT_NAME
from planner.plan.folder.runbook import NAME as RUNBOOK
from planner.plan.run.make_plan import Planned
from planner.plan.screen.broker_table import broker_tables
from planner.plan.screen.log_dirs_screen import log_dir_lines
from planner.plan.screen.plan_claims import (
    bands_text,
    copies_text,
    leaders_text,
    left_text,
    waves_text,
)
from planner.plan.screen.shortfall_lines import lacking_lines, remedy_lines
from planner.plan.screen.survival import survival_text, time_text
from planner.plan.waves.wave_document import (
    kind_of,
    stuck_text,
    timeline,
    wave_seconds,
)
from planner.plan.waves.wave_files import FOLDER as WAVES_FOLDER
from planner.text.format import (
    bytes_text,
    command_lines,
    ids_text,
    labelled,
    percent_text,
    plural,
    span_text,
)

MOST_NOTES = 2
"""Largest number of notes of one kind that are shown; others are counted."""
MOST_CREATED = 8
"""Number of new partitions that are shown."""
PART_NAME = re.compile(r"-\d{3,}\.json$")


def plan_screen(planned: Planned) -> Iterator[str]:
    """Yield the lines of a plan's screen, each at most 80 columns wide."""
    plan = planned.plan
    now, after = broker_tables(plan)
    if plan.creation is not None:
        yield from _note_lines(plan)
        yield from _creation_lines(plan, plan.creation)
        yield from after
        yield from lacking_lines(plan)
        yield from labelled("Checked", _verdict(planned))
        return
    yield from now
    yield from labelled("Wrong", wrong_lines(plan)[BEFORE])
    yield from _note_lines(plan)
    yield from _plan_lines(plan)
    yield from after
    yield from _left_lines(plan)
    if plan.state.num_partitions:
        survived = survival_text(plan.placed.reassignment.after(), plan.voters)
        yield from labelled("Survives", survived)
    yield from labelled("Checked", _verdict(planned))
    yield from remedy_lines(planned)


def headline(plan: Plan) -> str:
    """Return a summary of the cluster: brokers, racks, partitions, size."""
    state = plan.state
    factors = np.unique(state.replication_factor)
    span = f" RF {span_text(factors[0], factors[-1])}" if len(factors) else ""
    return (
        f"{plural(state.num_brokers, 'broker')}, {_racks_text(state)}, "
        f"{plural(state.num_partitions, 'partition')}{span}, {_size_text(plan)}"
    )


def _racks_text(state: ClusterState) -> str:
    is_named = np.array([rack is not None for rack in state.brokers.racks], np.bool_)
    unnamed = int((~is_named[state.brokers.rack_idx]).sum())
    if not is_named.any():
        return "racks unknown" if unnamed else "0 racks"
    without = f" ({plural(unnamed, 'broker')} without)" if unnamed else ""
    return plural(int(is_named.sum()), "rack") + without


def _size_text(plan: Plan) -> str:
    """Return the bytes of all replicas; file systems may hold other data."""
    if not plan.before.resources[Resource.DISK].known_fraction:
        return "sizes unknown"
    weights = plan.placed.weights_before
    size = int((weights.replica[:, 0] * plan.state.num_replicas).sum())
    return bytes_text(size + int(weights.own.sum()))


def _note_lines(plan: Plan) -> Iterator[str]:
    for text in _note_texts(plan):
        yield from labelled("Note", text)


def _note_texts(plan: Plan) -> Iterator[str]:
    """Yield the notes, a few of each kind."""
    kinds: dict[str, list[Note]] = defaultdict(list)
    for note in (
        *plan.placed.notes,
        *rollback_notes(plan),
        *throttle_notes(plan),
    ):
        kinds[note.what].append(note)
    if "not-balanced" in kinds:
        yield _not_balanced(kinds.pop("not-balanced"))
    for notes in kinds.values():
        yield from (note.message for note in notes[:MOST_NOTES])
        rest = len(notes) - MOST_NOTES
        if rest > 0:
            yield f"and {rest} more like this, in plan.json"


def _not_balanced(notes: list[Note]) -> str:
    """Return all resources that are not balanced, in one line."""
    unknown = [str(note.where["resource"]) for note in notes if not note.have]
    partly = [
        f"{note.where['resource']} ({percent_text(note.have)} of the partitions)"
        for note in notes
        if note.have
    ]
    texts = []
    if unknown:
        texts.append(f"unknown: {', '.join(unknown)}")
    if partly:
        texts.append(f"known in part: {', '.join(partly)}")
    return f"not balanced, {'; '.join(texts)}"


def _plan_lines(plan: Plan) -> Iterator[str]:
    settings = plan.placed.draft.settings
    balanced = plan.placed.balanced
    if plan.placed.log_dirs is not None:
        balanced = (*balanced, Resource.DISK)
    bands = sorted({settings.band(resource) for resource in balanced})
    goal = f"{plan.goal}{_whom(plan)}, {bands_text(bands)}: {plan.status}"
    yield from labelled("Plan", goal)
    yield from labelled(" copies", _copies_text(plan))
    yield from labelled(" leaders", _leaders_text(plan))
    yield from log_dir_lines(plan)
    ordered = _ordered(plan)
    if ordered:
        orders_all = describe(plan.goal).is_order_only
        why = "to spread who leads next" if orders_all else "followers alone"
        yield from labelled(" order", f"{plural(ordered, 'other list')}, {why}")
    dropped = plan.placed.reassignment.is_dropped
    if dropped.any():
        yield from labelled(" drops", plural(int(dropped.sum()), "replica"))
    if plan.moves["bytes"]:
        yield from labelled(" time", _time_text(plan))
    yield from _wave_lines(plan)
    yield from lacking_lines(plan)


def _creation_lines(plan: Plan, creation: Creation) -> Iterator[str]:
    """Yield the first new partitions with their replicas."""
    count, rest = len(creation.lists), len(creation.lists) - MOST_CREATED
    what = f"{plan.goal} {creation.topic}, {plural(count, 'partition')}"
    yield from labelled("Plan", f"{what} from {creation.first}: {plan.status}")
    for number, row in enumerate(creation.lists[:MOST_CREATED], creation.first):
        yield from labelled(f"  {number}", ",".join(map(str, row)))
    if rest > 0:
        yield from labelled("", f"and {rest} more")


def _wave_lines(plan: Plan) -> Iterator[str]:
    waves = plan.waves
    if waves is None:
        return
    found = waves.found
    kinds = Counter(kind_of(step) for step in waves.steps)
    seconds = sum(wave_seconds(waves, step) for step in waves.steps)
    at_once = timeline(waves)[0] if seconds else 0.0
    text = waves_text(found.num_copy_waves, found.bound, kinds, seconds, at_once)
    yield from labelled(" waves", text)
    if found.stuck is not None:
        left = int((found.wave < 0).sum())
        yield from labelled(" stuck", stuck_text(found.stuck, left))


def _whom(plan: Plan) -> str:
    """Return what the operation is about, by settings or masks of brokers."""
    described = describe(plan.goal)
    texts = [_subject_text(plan, name) for name in described.subject]
    named = described.joint.join(filter(None, texts))
    return f" {named}" if named else ""


def _subject_text(plan: Plan, name: str) -> str:
    """Return a setting, or the brokers of a mask of the draft, as text."""
    if name not in plan.settings:
        return ids_text(plan.state.brokers.ids[getattr(plan.placed.draft, name)])
    given = plan.settings[name]
    if not isinstance(given, list):
        return "" if given is None else str(given)
    if OPTIONS[name].option.count is not None:
        return " and ".join(map(str, given))
    are_ids = all(isinstance(one, int) for one in given)
    return ids_text(given) if are_ids else ", ".join(given)


def _copies_text(plan: Plan) -> str:
    return copies_text(
        plan.moves,
        plan.placed.solution.certificate.cost,
        plan.placed.solution.certificate.moves.lower_bound,
        shows_crossing=plan.settings.get("max_cross_rack_bytes") is not None,
    )


def _leaders_text(plan: Plan) -> str:
    roles = plan.placed.solution.certificate.roles
    least = 0.0 if roles is None else roles.lower_bound
    return leaders_text(plan.moves, int(elections(plan).sum()), least)


def _ordered(plan: Plan) -> int:
    """Return the number of lists in which only the order of followers changes."""
    reassignment = plan.placed.reassignment
    of = reassignment.partition_idx
    moved = reassignment.is_copied | reassignment.is_moved_inside
    has_moves = np.bincount(of[moved], minlength=plan.state.num_partitions) > 0
    changed = reassignment.is_changed & ~reassignment.is_led_anew
    changed &= ~reassignment.is_resized
    return int((changed & ~has_moves).sum())


def _time_text(plan: Plan) -> str:
    rate: float = DEFAULT_RATE_BYTES_PER_S
    if plan.waves is not None:
        rate = plan.waves.found.settings.bandwidth_bytes_per_s
    return time_text(plan.placed.reassignment, rate)


def _left_lines(plan: Plan) -> Iterator[str]:
    """Yield remaining violations, and the number of brokers out of their bands."""
    wrong = wrong_lines(plan)
    for label in (AFTER, AS_BEFORE):
        if label in wrong:
            yield from labelled(label.removeprefix("Plan:"), wrong[label])
    out = counted_out(plan)
    left = {
        str(resource): int(out[:, r].sum())
        for r, resource in enumerate(RESOURCES)
        if resource in plan.placed.balanced and out[:, r].any()
    }
    if left:
        furthest = plan.placed.solution.certificate.deviation
        yield from labelled(" left", left_text(left, furthest))


def _verdict(planned: Planned) -> str:
    caused = [finding for finding in planned.findings if finding.is_wrong]
    if not caused:
        existing = Counter(one.rule for one in planned.findings if one.existing)
        if not existing or planned.plan.creation is not None:
            return f"by separate code: {len(RULE_NAMES)} rules: ok"
        listed = ", ".join(f"{rule} {count:,}" for rule, count in existing.items())
        return (
            f"by separate code: {len(RULE_NAMES)} rules: nothing worse than before; "
            f"broken before and now: {listed}"
        )
    count = plural(len(caused), "finding")
    return f"by separate code: not ok, {count}; first: {caused[0].message}"


def next_lines(plan: Plan, output: Path) -> list[str]:
    """Return the command that shows the runbook; empty if nothing changes."""
    if plan.creation is not None:
        return labelled("Next", _tool_text(plan.creation, output))
    if not plan.moves["partitions"] and not elections(plan).any():
        return []
    return command_lines("Next", ["cat", str(output / RUNBOOK)])


def _tool_text(creation: Creation, folder: Path) -> str:
    """Return the command of Kafka's own tool that creates partitions."""
    what = f"--create --topic {creation.topic}"
    if not creation.is_new_topic:
        what = f"--alter --topic {creation.topic} --partitions {creation.count}"
    for key, value in creation.configs.items():
        what += f" --config {shlex.quote(f'{key}={value}')}"
    return (
        f"kafka-topics.sh {what}, with the text of {folder / ASSIGNMENT_NAME} as its "
        "--replica-assignment; or this command again with --apply"
    )


def last_notes(plan: Plan) -> list[str]:
    """Return the notes on what to do after new partitions."""
    if plan.creation is None:
        return []
    patches = partition_patches(plan.creation, plan.resources)
    notes = partition_patch_notes(patches)
    return [line for note in notes for line in labelled("Note", note.message)]


def files_lines(output: Path, files: Sequence[str]) -> list[str]:
    """Return the list of written files; parts of files are counted."""
    in_waves = [name for name in files if name.startswith(f"{WAVES_FOLDER}/")]
    kept = [name for name in files if name not in in_waves]
    parts = [name for name in kept if PART_NAME.search(name)]
    whole = " ".join(name for name in kept if name not in parts)
    more = f", and {plural(len(parts), 'part')} of long files" if parts else ""
    if in_waves:
        more += f"; {plural(len(in_waves), 'file')} in {WAVES_FOLDER}/"
    return labelled("Files", f"{output}/: {whole}{more}")
