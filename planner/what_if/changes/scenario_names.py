"""Names in a scenario, validated against the cluster at that point."""

import re
from collections.abc import Sequence

import numpy as np

from placement.array_types import BoolArray
from placement.cluster_changes.log_dir_changes import Place
from placement.model.cluster import ABSENT, ClusterState
from planner.errors import InputProblem
from planner.io.problems import problem
from planner.options.declared.broker_lists import parse_broker_list
from planner.text.suggest import near
from planner.what_if.changes.scenario_records import OnTopics


class NameReader:
    """
    Reader of names, which validates them and collects every problem.

    Parameters
    ----------
    file
        Name of the file in problems.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[InputProblem] = []

    def refuse(self, place: str, value: object, rule: str, remedy: str) -> None:
        """Add a problem."""
        self.problems.append(problem(self.file, place, value, rule, remedy))

    def ids(self, place: str, given: str | Sequence[int]) -> list[int]:
        """Return broker ids, whether or not such brokers exist."""
        if not isinstance(given, str):
            return list(dict.fromkeys(given))
        try:
            return list(parse_broker_list(given))
        except ValueError as error:
            self.refuse(place, given, str(error), "write ids and ranges: 1,2,5-9")
            return []

    def brokers(
        self, place: str, given: str | Sequence[int] | None, state: ClusterState
    ) -> list[int]:
        """Return the ids of existing brokers; all of them for `None`."""
        if given is None:
            return [int(b) for b in state.brokers.ids]
        ids = self.ids(place, given)
        rows = state.brokers.rows_of(ids)
        known = [i for i, row in zip(ids, rows, strict=True) if row != ABSENT]
        for broker_id in sorted(set(ids) - set(known)):
            rule = "there must be such a broker at this point"
            self.refuse(place, broker_id, rule, near(broker_id, state.brokers.ids))
        return known

    def new_ids(
        self, place: str, given: str | Sequence[int], state: ClusterState
    ) -> list[int]:
        """Return the ids that no broker has yet."""
        ids = self.ids(place, given)
        rows = state.brokers.rows_of(ids)
        taken = [i for i, row in zip(ids, rows, strict=True) if row != ABSENT]
        if taken:
            free = int(state.brokers.ids.max(initial=0)) + 1
            rule = "no broker may have the id of a new one"
            self.refuse(place, taken, rule, f"{free} and up are free")
        return [i for i in ids if i not in taken]

    def racks(self, place: str, given: Sequence[str], state: ClusterState) -> list[str]:
        """Return the names of existing racks."""
        known = [rack for rack in state.brokers.racks if rack is not None]
        for name in given:
            if name not in known:
                rule = "there must be such a rack at this point"
                self.refuse(place, name, rule, near(name, known))
        return [name for name in given if name in known]

    def log_dirs(
        self, place: str, given: Sequence[str], state: ClusterState
    ) -> list[Place]:
        """Return the existing log dirs of texts ``ID:PATH``."""
        owners = state.brokers.ids[state.log_dirs.broker_idx].tolist()
        pairs = list(zip(owners, state.log_dirs.paths, strict=True))
        by_name = {f"{b}:{path}": (b, path) for b, path in pairs}
        for name in given:
            if name not in by_name:
                rule = "there must be such a log dir at this point, as ID:PATH"
                self.refuse(place, name, rule, near(name, by_name))
        return [by_name[name] for name in given if name in by_name]

    def topics(self, place: str, record: OnTopics, state: ClusterState) -> BoolArray:
        """Return ``(T,)`` true for chosen topics; all where the record names none."""
        names = state.topics.names
        if record.topic is None and record.topics is None:
            return np.ones(len(names), dtype=np.bool_)
        chosen = np.zeros(len(names), dtype=np.bool_)
        wanted = [record.topic] if isinstance(record.topic, str) else record.topic or []
        for name in wanted:
            if name not in names:
                rule = "there must be such a topic at this point"
                self.refuse(f"{place}.topic", name, rule, near(name, names))
            else:
                chosen[names.index(name)] = True
        if record.topics is not None:
            chosen |= self._matching(f"{place}.topics", record.topics, names)
        return chosen

    def _matching(self, place: str, text: str, names: Sequence[str]) -> BoolArray:
        nothing = np.zeros(len(names), dtype=np.bool_)
        try:
            pattern = re.compile(text)
        except re.error as error:
            self.refuse(
                place, text, f"must be a regular expression: {error}", "correct it"
            )
            return nothing
        found = np.array([bool(pattern.fullmatch(name)) for name in names], dtype=bool)
        if not found.any():
            rule = "must match the whole name of some topic"
            self.refuse(place, text, rule, near(text, names))
            return nothing
        return found
