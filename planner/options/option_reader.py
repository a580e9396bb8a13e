"""Problems of the options of a plan, and look-ups in its cluster."""

from collections.abc import Iterable, Sequence

from placement.model.cluster import ClusterState
from planner.errors import BadInputError, InputProblem
from planner.options.declared.option import Problems
from planner.options.declared.plan_options import OPTIONS

_PLACES = {declared.flag: n for n, declared in enumerate(OPTIONS.values())}


class OptionReader:
    """
    Reader of options for one cluster that keeps every problem.

    Parameters
    ----------
    state
        The cluster; `None`: brokers and topics are not looked up.
    problems
        Problems found so far.
    """

    def __init__(
        self, state: ClusterState | None, problems: Iterable[InputProblem] = ()
    ) -> None:
        self.state = state
        self.problems: list[InputProblem] = list(problems)

    def refuse(self, option: str, value: object, rule: str, remedy: str) -> None:
        """Record a problem of an option."""
        problems = Problems(option)
        problems.refuse(value, rule, remedy)
        self.problems += problems.found

    def raise_problems(self) -> None:
        """
        Raise the recorded problems, if any, in the order of the declared options.

        Raises
        ------
        BadInputError
            With every problem.
        """
        if self.problems:
            msg = "bad options"
            known = sorted(self.problems, key=lambda p: _PLACES.get(p.place, -1))
            raise BadInputError(msg, known)

    def look_up_brokers(self, option: str, ids: Sequence[int] | None) -> None:
        """Record the brokers of a list that the cluster does not have."""
        if self.state is None or ids is None:
            return
        rows = self.state.brokers.rows_of(list(ids))
        unknown = [i for i, row in zip(ids, rows, strict=True) if row < 0]
        if unknown:
            known = ",".join(map(str, self.state.brokers.ids.tolist()[:50]))
            self.refuse(
                option,
                ",".join(map(str, unknown)),
                "brokers must be in the snapshot",
                f"it has {known or 'none'}",
            )

    def look_up_topics(self, names: Iterable[str]) -> None:
        """Record a problem for each topic that the cluster does not have."""
        if self.state is None:
            return
        known = set(self.state.topics.names)
        for name in names:
            if name not in known:
                rule = "topics must be in the snapshot"
                self.refuse("--topic", name, rule, "check the name")
