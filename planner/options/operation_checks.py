"""Checks of the options of single operations against a cluster."""

from collections.abc import Callable, Mapping, Sequence

from placement.model.cluster import ABSENT
from planner.options.declared.plan_options import PlanOptions
from planner.options.declared.replication_factors import MOST_REPLICAS, read_factor
from planner.options.option_reader import OptionReader


def check_operation(
    reader: OptionReader, operation: str | None, options: PlanOptions
) -> None:
    """Check the options of one operation; the reader keeps the problems."""
    check = _CHECKS.get(operation or "")
    if check is not None:
        check(reader, options)


def _replacement(reader: OptionReader, options: PlanOptions) -> None:
    olds, news = options.broker, options.with_broker
    for broker in olds:
        reader.look_up_brokers("--broker", [broker])
    for broker in news:
        reader.look_up_brokers("--with", [broker])
    if not reader.problems and (not olds or len(olds) != len(news)):
        value = f"{len(olds)} --broker, {len(news)} --with"
        rule = "every --broker needs one --with, and there must be one"
        reader.refuse("--broker", value, rule, "write --broker 3 --with 9")
    both = (*olds, *news)
    twice = sorted({broker for broker in both if both.count(broker) > 1})
    if twice:
        value = ",".join(map(str, twice))
        rule = "each broker may be named once, as the old or as the new one"
        reader.refuse("--broker", value, rule, "replace them one plan after the other")
    _refuse_off(reader, news)


def _refuse_off(reader: OptionReader, news: Sequence[int]) -> None:
    """Reject replacement brokers that are not live."""
    if reader.state is None:
        return
    brokers = reader.state.brokers
    for broker, row in zip(news, brokers.rows_of(list(news)), strict=True):
        if row != ABSENT and not brokers.is_live[row]:
            rule = "a broker that takes replicas must be live"
            reader.refuse("--with", broker, rule, "start it, or name another one")


def _lost(reader: OptionReader, options: PlanOptions) -> None:
    """Reject brokers that are treated as lost but are live."""
    ids = options.lost or ()
    if reader.state is None:
        return
    brokers = reader.state.brokers
    for broker, row in zip(ids, brokers.rows_of(list(ids)), strict=True):
        if row != ABSENT and brokers.is_live[row]:
            rule = "a broker that is taken as gone must not be live"
            remedy = f"run plan remove-brokers --broker-list {broker} to empty it"
            reader.refuse("--lost", broker, rule, remedy)


def _factors(reader: OptionReader, options: PlanOptions) -> None:
    factor = options.replication_factor
    remedy = "write --replication-factor 3"
    if factor is None and options.replication_factors is None:
        rule = "a replication factor, or a file of them, must be given"
        reader.refuse("--replication-factor", "nothing", rule, remedy)
    if factor is not None and read_factor(factor) is None:
        rule = f"must be from 1 to {MOST_REPLICAS}"
        reader.refuse("--replication-factor", factor, rule, remedy)


def _log_dirs(reader: OptionReader, options: PlanOptions) -> None:
    """Reject log dirs that the snapshot does not have."""
    state = reader.state
    if state is None:
        return
    owners = state.brokers.ids[state.log_dirs.broker_idx].tolist()
    for broker, path in options.log_dirs:
        listed = zip(owners, state.log_dirs.paths, strict=True)
        paths = [one for owner, one in listed if owner == broker]
        if path not in paths:
            rule = f"broker {broker} must have the log dir {path}"
            remedy = f"it has {', '.join(paths) or 'none'}"
            reader.refuse("--log-dirs", f"{broker}:{path}", rule, remedy)


_CHECKS: Mapping[str, Callable[[OptionReader, PlanOptions], None]] = {
    "replace-broker": _replacement,
    "demote": _log_dirs,
    "set-replication-factor": _factors,
    "fix": _lost,
}
