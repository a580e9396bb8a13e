"""Partitioners by the names of the command line: of clients, and of the user."""

from typing import NoReturn

from assignment.partitioners import NAMES, Partitioner, find_partitioner
from assignment.partitioners.built_in import BATCH_BYTES
from assignment.partitioners.user_partitioner import UserPartitioner
from planner.errors import BadInputError
from planner.io.problems import problem
from planner.io.user_objects import load_object, make_object
from planner.text.suggest import near, of_java_class


def named_partitioner(name: str, *, batch_bytes: int = BATCH_BYTES) -> Partitioner:
    """
    Return the partitioner of a name.

    Parameters
    ----------
    name
        One of `NAMES`, or ``package.module:name`` of a function of key and number of
        partitions, or of a class with such a method ``partition``.
    batch_bytes
        ``batch.size``.

    Raises
    ------
    BadInputError
        If no partitioner has the name, or it cannot be loaded.
    """
    if ":" in name:
        return _load(name)
    try:
        return find_partitioner(name, batch_bytes=batch_bytes)
    except KeyError:
        rule = f"must be one of {', '.join(NAMES)}, or package.module:Class"
        _refuse(name, rule, near(of_java_class(name), NAMES))


def _load(name: str) -> UserPartitioner:
    def refuse(rule: str) -> NoReturn:
        _refuse(name, rule, "see docs/keys.md")

    found = load_object(name, refuse)
    if isinstance(found, type):
        found = getattr(make_object(found, refuse), "partition", None)
    if not callable(found):
        refuse("must be a function, or a class with a method partition(key, count)")
    return UserPartitioner(name, found)


def _refuse(name: str, rule: str, remedy: str) -> NoReturn:
    found = problem("command line", "--partitioner", name, rule, remedy)
    msg = f"no partitioner {name}"
    raise BadInputError(msg, [found])
