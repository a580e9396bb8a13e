"""Assignors by name: Kafka's, `balanced`, and classes of the user."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from planner.errors import BadInputError
from planner.io.problems import problem
from planner.io.user_objects import load_object, make_object
from planner.text.suggest import near, of_java_class

if TYPE_CHECKING:
    from assignment.assignors import Assignor
    from assignment.group import Group

NAMES = (
    "range",
    "roundrobin",
    "sticky",
    "cooperative-sticky",
    "server-range",
    "server-uniform",
    "hash",
    "random",
    "balanced",
)


class UserAssignor:
    """
    An assignor class of the user, which returns names.

    Parameters
    ----------
    name
        ``package.module:Class``.
    assign
        Method of the class: takes the group, returns member to topic to partition
        numbers.
    """

    def __init__(self, name: str, assign: Callable[["Group"], Any]) -> None:
        self.name = name
        self._assign = assign

    def answer(self, group: "Group") -> Mapping[str, Mapping[str, list[int]]]:
        """
        Return the assignment of a group as the class computes it.

        Raises
        ------
        UserAssignorError
            If the class raises, or returns anything but such a mapping.
        """
        from assignment.errors import UserAssignorError

        try:
            answer = self._assign(group)
        except Exception as error:
            msg = f"{self.name} raised {type(error).__name__}: {error}"
            raise UserAssignorError(msg) from error
        if not _is_answer(answer):
            msg = (
                f"{self.name} returned {type(answer).__name__}; it must return a "
                "mapping of member ids to mappings of topics to lists of numbers"
            )
            raise UserAssignorError(msg)
        found: Mapping[str, Mapping[str, list[int]]] = answer
        return found


def _is_answer(answer: object) -> bool:
    return isinstance(answer, Mapping) and all(
        isinstance(member, str)
        and isinstance(topics, Mapping)
        and all(_is_list(name, numbers) for name, numbers in topics.items())
        for member, topics in answer.items()
    )


def _is_list(name: object, numbers: object) -> bool:
    if not isinstance(name, str) or isinstance(numbers, str | bytes):
        return False
    try:
        return all(isinstance(number, int) for number in numbers)  # type: ignore[attr-defined]
    except TypeError:
        return False


def find_assignor(
    name: str, *, seed: int, tolerance: float
) -> "Assignor | UserAssignor":
    """
    Return the assignor of a name.

    Parameters
    ----------
    name
        One of `NAMES`, or ``package.module:Class``; the current folder is searched
        for modules, too.
    seed
        Seed of the assignor `random`.
    tolerance
        Tolerance of the assignor `balanced`: excess of a load over its fair share, as
        a fraction of the share, up to which a member keeps its partitions.

    Raises
    ------
    BadInputError
        If no assignor has the name, or the class cannot be loaded.
    """
    if ":" in name:
        return _load(name)
    from assignment.assignors import ASSIGNORS, Random
    from assignment.balanced.balanced_assignor import Balanced

    known: dict[str, Assignor] = {each.name: each for each in ASSIGNORS}
    known |= {"random": Random(seed), "balanced": Balanced(tolerance)}
    if name not in known:
        rule = f"must be one of {', '.join(NAMES)}, or package.module:Class"
        _refuse(name, rule, near(of_java_class(name), NAMES))
    return known[name]


def _load(name: str) -> UserAssignor:
    def refuse(rule: str) -> NoReturn:
        _refuse(name, rule)

    assignor = make_object(load_object(name, refuse), refuse)
    if not callable(getattr(assignor, "assign", None)):
        _refuse(name, "the class must have a method assign(group)")
    return UserAssignor(name, assignor.assign)


def _refuse(name: str, rule: str, remedy: str = "see docs/groups.md") -> NoReturn:
    found = problem("command line", "--assignor", name, rule, remedy)
    msg = f"no assignor {name}"
    raise BadInputError(msg, [found])
