"""Operations from the options of a plan, and checks of these options."""

import json
from collections.abc import Callable, Mapping, Sequence
from inspect import signature

import numpy as np

from placement.draft.draft import Settings
from placement.model.cluster import ABSENT, BrokerState, ClusterState
from placement.model.load import Resource
from placement.operations.add_brokers import AddBrokers
from placement.operations.demote import Demote
from placement.operations.descriptor import OPERATIONS, describe
from placement.operations.fix import Defect, Fix
from placement.operations.leaders import LED, Leaders
from placement.operations.log_dirs import LogDirs
from placement.operations.operation import Operation
from placement.operations.remove_brokers import RemoveBrokers
from placement.operations.replace_broker import ReplaceBroker
from placement.operations.set_replication_factor import SetReplicationFactor
from planner.errors import BadInputError
from planner.options.declared.option import DeclaredOption
from planner.options.declared.plan_options import OPTIONS, PlanOptions
from planner.options.declared.replication_factors import (
    MOST_REPLICAS,
    read_factor,
    topic_factors,
)
from planner.options.log_dir_names import read_dirs
from planner.options.new_brokers import ids_to_come
from planner.options.option_reader import OptionReader

_NOTHING = "nothing"


def check_operation(
    reader: OptionReader, operation: str | None, options: PlanOptions
) -> None:
    """Check the options of one operation; the reader keeps the problems."""
    described = describe(operation)
    check = _CHECKS.get(described.operation)
    if check is not None:
        check(reader, options)
    for name in described.options:
        _check_brokers(reader, OPTIONS[name], getattr(options, name) or ())


def _check_brokers(
    reader: OptionReader, declared: DeclaredOption, named: Sequence[int]
) -> None:
    """Reject brokers that are too many or too few, or that must be live and are not."""
    option, flag = declared.option, declared.flag
    if option.count is not None and len(set(named)) != option.count:
        value = ",".join(map(str, named)) or _NOTHING
        rule = f"{option.count} different brokers must be named"
        reader.refuse(flag, value, rule, f"write {flag} {json.loads(option.example)}")
    if reader.state is None or not option.must_be_live:
        return
    brokers = reader.state.brokers
    for broker, row in zip(named, brokers.rows_of(list(named)), strict=True):
        if row != ABSENT and not brokers.is_live[row]:
            rule = "a broker that takes replicas must be live"
            reader.refuse(flag, broker, rule, "start it, or name another one")


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


def _demoted_dirs(reader: OptionReader, options: PlanOptions) -> None:
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


def make_operation(
    name: str, state: ClusterState, options: PlanOptions, settings: Settings
) -> Operation:
    """
    Make an operation from its options; by default its parameters are the options.

    Parameters
    ----------
    name
        Name of the operation.
    state
        The cluster, including new brokers.
    options, settings
        Options for this cluster, and the settings that follow from them.

    Raises
    ------
    BadInputError
        With every option of the operation that is wrong for this cluster.
    """
    kind: Callable[..., Operation] = OPERATIONS[name].operation
    maker = _Maker(state, options, settings)
    if kind in _MAKERS:
        operation = _MAKERS[kind](maker)
        maker.reader.raise_problems()
        return operation
    return kind(**{each: getattr(options, each) for each in signature(kind).parameters})


class _Maker:
    """Operations whose parameters are not just their options."""

    def __init__(
        self, state: ClusterState, options: PlanOptions, settings: Settings
    ) -> None:
        self.state, self.options, self.settings = state, options, settings
        self.reader = OptionReader(state)

    def add_brokers(self) -> AddBrokers:
        brokers, named = self.state.brokers, self.options.broker_list
        if named is None:
            if not np.equal(brokers.state, BrokerState.NEW).any():
                rule = "one broker of the snapshot must be new, or be named"
                self._refuse_list(_NOTHING, rule, _brokers_to_fill(self.state))
            return AddBrokers()
        rows = brokers.rows_of(named)
        off = [
            broker_id
            for broker_id, row in zip(named, rows, strict=True)
            if row == ABSENT or not brokers.is_live[row]
        ]
        if off:
            rule = "brokers to be filled must be live"
            remedy = "start them, or leave them out"
            self._refuse_list(",".join(map(str, off)), rule, remedy)
        return AddBrokers((*named, *ids_to_come(self.options.new_broker)))

    def remove_brokers(self) -> RemoveBrokers:
        if not self.options.broker_list:
            rule = "brokers to be removed must be named"
            self._refuse_list(_NOTHING, rule, "name them: 4,5")
        return RemoveBrokers(self.options.broker_list or ())

    def leaders(self) -> Leaders:
        rule = f"the order of replicas decides {', '.join(LED)} alone"
        self._refuse_others(LED, rule, "leave the others out, or plan rebalance")
        return Leaders(orders_followers=self.options.order_followers)

    def replace_broker(self) -> ReplaceBroker:
        olds, news = self.options.broker, self.options.with_broker
        return ReplaceBroker(tuple(zip(olds, news, strict=True)))

    def demote(self) -> Demote:
        options = self.options
        if not options.broker_list and not options.log_dirs:
            rule = "brokers or log dirs to be demoted must be named"
            self._refuse_list(_NOTHING, rule, "name them: 4, or --log-dirs 4:/d1")
        return Demote(options.broker_list or (), options.log_dirs)

    def set_replication_factor(self) -> SetReplicationFactor:
        factors, notes = topic_factors(
            self.state,
            self.options.replication_factors or (),
            self.options.replication_factor,
            is_excluded=self.settings.excluded_topics,
            named=self.options.topic,
        )
        return SetReplicationFactor(factors, notes)

    def log_dirs(self) -> LogDirs:
        rule = "log dirs share out disk alone"
        self._refuse_others((Resource.DISK,), rule, "leave it out")
        try:
            return LogDirs(read_dirs("--empty", self.options.empty, self.state))
        except BadInputError as error:
            self.reader.problems += error.problems
        return LogDirs()

    def fix(self) -> Fix:
        only = frozenset(map(Defect, self.options.only)) or frozenset(Defect)
        return Fix(only, frozenset(self.options.lost or ()))

    def _refuse_list(self, value: str, rule: str, remedy: str) -> None:
        self.reader.refuse("--broker-list", value, rule, remedy)

    def _refuse_others(
        self, resources: Sequence[Resource], rule: str, remedy: str
    ) -> None:
        """Reject other resources than the operation can balance."""
        others = sorted(set(self.options.resources or ()) - set(resources))
        if others:
            self.reader.refuse("--resources", ",".join(others), rule, remedy)


def _brokers_to_fill(state: ClusterState) -> str:
    """Return the remedy: the empty brokers of the snapshot, or a new one."""
    brokers = state.brokers
    held = np.bincount(state.replicas.broker_idx, minlength=len(brokers))
    empty = brokers.ids[brokers.is_live & (held == 0)].tolist()
    if empty:
        return f"name the empty ones: --broker-list {','.join(map(str, empty))}"
    coming = int(brokers.ids.max(initial=0)) + 1
    return f"no broker is empty; describe one to come: --new-broker id={coming}"


_MAKERS: Mapping[object, Callable[[_Maker], Operation]] = {
    AddBrokers: _Maker.add_brokers,
    RemoveBrokers: _Maker.remove_brokers,
    Leaders: _Maker.leaders,
    ReplaceBroker: _Maker.replace_broker,
    Demote: _Maker.demote,
    SetReplicationFactor: _Maker.set_replication_factor,
    Fix: _Maker.fix,
    LogDirs: _Maker.log_dirs,
}
_CHECKS: Mapping[object, Callable[[OptionReader, PlanOptions], None]] = {
    ReplaceBroker: _replacement,
    Demote: _demoted_dirs,
    SetReplicationFactor: _factors,
    Fix: _lost,
}
