"""Screen of `size`: the number of brokers, its proof and its placement."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

from placement.demand.broker_demand import SIZED, Need
from placement.failures.failure_domains import DomainKind
from placement.scenarios.scenario_figures import CAPPED
from placement.sizing.capacity_horizon import Lasting
from placement.sizing.cheapest_mix import needs_without_one
from placement.sizing.cluster_size import headroom
from placement.sizing.fewest_brokers import MOST_BROKERS
from planner.sizing.size_cluster import SizeAnswer
from planner.sizing.sizing_facts import left_out, removable, unsized
from planner.text.data_age import age_text
from planner.text.format import (
    bytes_text,
    command_lines,
    ids_text,
    labelled,
    labelled_lines,
    percent_text,
    plural,
    use_text,
    wrapped,
)
from planner.what_if.what_if_screen import crossing_text

NO_BROKER = "no broker is left"
"""Reason against a loss that takes every broker."""


def size_screen(
    answer: SizeAnswer, given: Sequence[str], output: Path | None, *, now: datetime
) -> Iterator[str]:
    """
    Yield the lines of the screen, each at most 80 columns wide.

    Parameters
    ----------
    answer
        Result of the sizing.
    given
        Arguments of the command line: snapshot, options.
    output
        Path to which the placement is written, or `None`.
    now
        Time, with a zone, that gives the age of the data.
    """
    snapshot = answer.snapshot
    yield from wrapped(
        f'Snapshot "{snapshot.cluster_id or "?"}"'
        f"{age_text(snapshot.taken_at, now)}: {plural(answer.today, 'broker')}, "
        f"{plural(answer.task.variant.state.num_partitions, 'partition')}."
    )
    yield from labelled_lines(answer_lines(answer))
    if output is not None and answer.sizing.shown is not None:
        yield from labelled("Files", str(output))
    yield from command_lines("Next", next_words(answer, given, output))


def answer_lines(answer: SizeAnswer) -> Iterator[tuple[str, str]]:
    """Yield label and text of each line of the screen, the answer first."""
    yield "Answer", answer_text(answer)
    yield "Binds", binding_text(answer)
    yield "Today", today_text(answer)
    if answer.sizing.shown is not None:
        yield "Shown", shown_text(answer)
    if answer.lasting is not None:
        for line in lasting_texts(answer.lasting):
            yield "Lasts", line
    yield "Assumed", assumed_text(answer)


def answer_text(answer: SizeAnswer) -> str:
    """Return the number of brokers with its bound, as text."""
    sizing = answer.sizing
    if sizing.shown is None:
        return f"none found: {_why_none(answer)}"
    fleet = ", ".join(
        f"{_kind_text(int(row.sum()), kind.name)}{_racks_text(answer, row.tolist())}"
        for kind, row in zip(sizing.kinds, sizing.counts, strict=True)
        if row.sum()
    )
    price = "" if sizing.bound is not None else f" for {sizing.value:g}"
    order = ""
    if sizing.bound is not None and sizing.bound.is_in_order:
        order = " if brokers go in this order (they differ)"
    proven = f"proven{known_text(answer)}"
    if sizing.is_exact:
        return f"{fleet}{price}; {proven}: nothing less will do{order}"
    what = "no fewer than" if sizing.bound is not None else "nothing for less than"
    gap = percent_text(sizing.gap or 0.0)
    return f"{fleet}{price}; {proven}: {what} {sizing.least:g}{order} (gap {gap})"


def known_text(answer: SizeAnswer) -> str:
    """Return the resources that count, as text; empty where all are known."""
    unknown = unsized(answer.sizing)
    if not unknown:
        return ""
    known = [str(resource) for resource in SIZED if str(resource) not in unknown]
    *others, last = known or ["counts", "racks"]
    alone = f"{', '.join(others)} and {last}" if others else last
    return f" for {alone} alone ({', '.join(unknown)} unknown)"


def _kind_text(count: int, name: str) -> str:
    return (
        f"{plural(count, 'broker')} {name}"
        if name.startswith("like ")
        else f"{count} {name}"
    )


def _racks_text(answer: SizeAnswer, counts: list[int]) -> str:
    racks = answer.task.racks
    if not racks:
        return ""
    noun = "rack" if len(racks) == 1 else "racks"
    return f" ({'+'.join(map(str, counts))} in {noun} {', '.join(racks)})"


def _why_none(answer: SizeAnswer) -> str:
    sizing = answer.sizing
    bound = sizing.bound
    if bound is not None and bound.brokers >= MOST_BROKERS:
        if bound.kind == "heaviest":
            return f"one replica alone is too much {bound.resource} for such a broker"
        return f"no number of them carries the {bound.resource or 'load'}"
    if sizing.attempts:
        last = sizing.attempts[-1]
        return f"the last tried, {plural(last.brokers, 'broker')}: {last.reason}"
    return "no mix of these types carries the load"


def binding_text(answer: SizeAnswer) -> str:
    """Return the binding resource and the threshold that one broker fewer breaks."""
    bound, sizing = answer.sizing.bound, answer.sizing
    if bound is None:
        return "; ".join(_mix_texts(answer)) or "nothing known"
    what = {
        "volume": f"{bound.resource} of all brokers together",
        "pigeonhole": f"{bound.resource}: few replicas fit on a broker",
        "heaviest": f"{bound.resource} of the heaviest replica",
        "replication-factor": "the replication factor: replicas need brokers of "
        "their own",
    }[bound.kind]
    lost = f", with a {bound.lost} lost" if bound.lost else ""
    fewer = ""
    if bound.need is not None and bound.brokers < MOST_BROKERS:
        fewer = f"; with {bound.brokers - 1} {need_text(bound.need)}"
    if sizing.fewer is not None and sizing.fewer.reason and not sizing.is_exact:
        fewer += f"; tried with {sizing.brokers - 1}: {sizing.fewer.reason}"
    return f"{what}{lost}{fewer}"


def _mix_texts(answer: SizeAnswer) -> Iterator[str]:
    """Yield the binding resource of a mix, and that of each type of broker."""
    sizing = answer.sizing
    lacking = needs_without_one(sizing) if sizing.shown is not None else []
    needs = [need for _, need in lacking if need is not None]
    needs += [need for need in sizing.today if need.level > 0]
    if needs:
        yield f"{needs[0].resource} most of all"
    for name, need in lacking:
        if need is not None:
            yield f"with one {name} less {need_text(need)}"


def need_text(need: Need) -> str:
    """Return the least possible use of the fullest broker, as text."""
    lost = f" without a {need.lost}" if need.lost else ""
    if not np.isfinite(need.level):
        return f"nothing is left for {need.resource}{lost}"
    use = use_text(need.level, need.threshold)
    return f"{need.resource} is at least {use}{lost}"


def today_text(answer: SizeAnswer) -> str:
    """Return the surplus or lack of brokers today, and the headroom, as text."""
    sizing = answer.sizing
    parts = []
    lacks_places = _lacks_places(answer)
    if sizing.bound is not None and sizing.shown is not None:
        rebuilt = ""
        if lacks_places and sizing.bound.lost:
            lost = sizing.bound.lost
            rebuilt = f" to rebuild every replica elsewhere after the loss of a {lost}"
        parts.append(_too_many(answer.today, sizing.brokers) + rebuilt)
    factor = headroom(sizing)
    if factor is not None:
        need = sizing.today[0]
        lost = f" and the loss of a {need.lost}" if need.lost else ""
        alone = "by loads alone " if lacks_places else ""
        parts.append(
            f"{alone}these brokers carry at most {_times_text(factor)} this load"
            f"{lost}: {need.resource}{_unknown_text(answer)}"
        )
    return "; ".join(parts) or "no capacity is known"


def _times_text(factor: float) -> str:
    """Return a factor, without decimals where they say nothing."""
    return f"{factor:.2f} times" if factor < 100 else f"{factor:,.0f} times"


def _lacks_places(answer: SizeAnswer) -> bool:
    """Return whether today's brokers are too few for replicas, whatever the load."""
    bound = answer.sizing.bound
    return (
        bound is not None
        and bound.kind == "replication-factor"
        and answer.today < bound.brokers
    )


def _unknown_text(answer: SizeAnswer) -> str:
    unknown = unsized(answer.sizing)
    return f" ({', '.join(unknown)} unknown)" if unknown else ""


def _too_many(have: int, need: int) -> str:
    if have > need:
        spare = have - need
        return f"over-provisioned: {spare} of {have} could go ({spare / have:.0%})"
    if have < need:
        short = need - have
        return f"under-provisioned: {short} more needed ({short / max(have, 1):.0%})"
    return f"{plural(have, 'broker')}, just enough"


def shown_text(answer: SizeAnswer) -> str:
    """Return the figures of the found placement, as text."""
    shown = answer.sizing.shown
    if shown is None:  # pragma: no cover - the caller has looked
        return ""
    uses = [
        f"{resource} {percent_text(use.most)} b{use.broker_id}"
        for resource in CAPPED
        if (use := shown.figures.use[resource]).is_known
    ]
    checked = "ok" if answer.is_checked else "findings"
    stands = "".join(f"; {text}" for text in survival_texts(answer))
    uses_text = f": {', '.join(uses)}" if uses else ""
    return f"by a placement{uses_text}{stands}; separate code: {checked}"


def survival_texts(answer: SizeAnswer) -> Iterator[str]:
    """Yield the survived losses, and those that no number of brokers survives."""
    shown = answer.sizing.shown
    if shown is None:  # pragma: no cover - the caller has looked
        return
    verdicts = {
        kind: shown.figures.verdicts[kind]
        for kind in DomainKind
        if kind in answer.task.wanted.survives
    }
    fine = [str(kind) for kind, verdict in verdicts.items() if verdict.answer]
    if fine:
        yield f"any {' and '.join(fine)} may be lost"
    for kind, verdict in verdicts.items():
        if verdict.answer is False:
            helps = (
                f"no number of brokers helps, {_helping_text(kind, verdict.reason)} may"
            )
            if verdict.reason == NO_BROKER:
                helps = "more brokers help"
            yield f"without {kind} {verdict.hardest}, {verdict.reason}: {helps}"


def _helping_text(kind: DomainKind, reason: str) -> str:
    """Return what helps where more brokers do not, as text."""
    helps = ["a higher replication factor"]
    if "min ISR" in reason:
        helps.append("a lower min.insync.replicas")
        # A single replica is lost with its rack, however many racks there are.
        helps += ["more racks"] * (kind is DomainKind.RACK)
    *others, last = helps
    return f"{', '.join(others)} or {last}" if others else last


def lasting_texts(lasting: Lasting) -> Iterator[str]:
    """Yield the times until today's brokers are full."""
    if lasting.crossings:
        first = lasting.crossings[0]
        where = crossing_text(first.resource, first.broker_id, first.log_dir)
        yield (
            f"as it is {days_text(first.days)}, then {where} is over its threshold"
            if first.days
            else f"as it is not at all: {where} is over its threshold today"
        )
    else:
        yield "as it is over ten years"
    limit = f", then {need_text(lasting.limit)}" if lasting.limit is not None else ""
    most = f"; proven: at most {days_text(lasting.most_days)}{limit}"
    is_bounded = np.isfinite(lasting.most_days)
    yield (
        f"rebalanced {days_text(lasting.shown_days)}, shown by a plan"
        f"{most if is_bounded else ''}"
    )
    stands = days_text(lasting.stands_days)
    yield (
        f"any one loss can be rebuilt for {stands}, as it is"
        if lasting.stands_days
        else "as it is, some loss cannot be rebuilt even today"
    )


def days_text(days: float) -> str:
    """Return a number of days as days or years."""
    if not np.isfinite(days):
        return "over ten years"
    if days >= 730:
        return f"{days / 365.2425:.1f} years"
    return plural(int(days), "day")


def assumed_text(answer: SizeAnswer) -> str:
    """Return the assumptions of the sizing, as text."""
    most = ", ".join(
        f"{r} {percent_text(v)}" for r, v in answer.task.wanted.thresholds.items()
    )
    lost = " and ".join(sorted(answer.task.wanted.survives)) or "nothing"
    missing = " and ".join(left_out(answer))
    without = f" (the loss of a {missing} left out: no two racks known)"
    months = answer.request.months
    ahead = f"; {months:g} months ahead" if months else ""
    scenario = answer.request.scenario
    after = f'; after scenario "{scenario}"' if scenario else ""
    rate = bytes_text(answer.options.bandwidth_bytes_per_s)
    unknown = ", ".join(unsized(answer.sizing))
    blind = f"; not sized by what is not known: {unknown}" if unknown else ""
    return (
        f"at most {most}; to be survived and rebuilt: {lost}"
        f"{without if missing else ''}; brokers evenly in racks{ahead}{after}; "
        f"{rate}/s per broker{blind}"
    )


def next_words(
    answer: SizeAnswer, given: Sequence[str], output: Path | None
) -> list[str]:
    """Return the words of the next command."""
    sizing, request = answer.sizing, answer.request
    name, leaving = given[0], removable(answer)
    # Only a sizing of today's load on today's brokers can be carried out by a plan.
    is_for_today = request.scenario is None and not request.months
    is_for_today &= sizing.bound is not None and sizing.shown is not None
    if is_for_today and leaving:
        words = ["kafka-planner", "plan", "remove-brokers", name]
        return [*words, "--broker-list", ids_text(leaving), "--rebalance", "-o", "plan"]
    if is_for_today and sizing.brokers == answer.today:
        return ["kafka-planner", "plan", "rebalance", name, "-o", "plan"]
    if sizing.shown is None:
        return ["kafka-planner", "score", name]
    if output is not None:
        return ["kafka-planner", "failures", str(output)]
    return ["kafka-planner", "size", *given, "-o", "sized.json.gz"]
