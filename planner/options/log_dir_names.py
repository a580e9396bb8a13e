"""Log dirs named by options: looked up in a cluster."""

from collections.abc import Iterator

from placement.model.cluster import ABSENT, ClusterState
from planner.errors import InputProblem, raise_problems
from planner.options.declared.broker_lists import parse_broker_list

BROKER = "{broker}"


def read_dirs(
    option: str, given: tuple[str, ...], state: ClusterState
) -> tuple[int, ...]:
    """
    Parse log dirs by broker and path: ``3:/data/d1``, ``1-4:/logs/kafka-log{broker}``.

    Raises
    ------
    BadInputError
        With every text that is malformed, or names a log dir that no broker has.
    """
    owners = state.brokers.ids[state.log_dirs.broker_idx].tolist()
    row_of = {
        key: d for d, key in enumerate(zip(owners, state.log_dirs.paths, strict=True))
    }
    rows: list[int] = []
    problems: list[InputProblem] = []
    for text in given:
        for found in _read(text, row_of):
            if isinstance(found, int):
                rows.append(found)
            else:
                rule, remedy = found
                problems.append(
                    InputProblem(
                        file="command line",
                        place=option,
                        value=text,
                        rule=rule,
                        remedy=remedy,
                    )
                )
    raise_problems("bad options", problems)
    return tuple(sorted(set(rows)))


def _read(
    text: str, row_of: dict[tuple[int, str], int]
) -> Iterator[int | tuple[str, str]]:
    """Yield the row of each named log dir, or the rule it violates and a remedy."""
    listed, colon, path = text.partition(":")
    remedy = "write BROKER:PATH, such as 3:/data/d1"
    if not colon or not path.startswith("/"):
        yield "a log dir must be named by its broker and its absolute path", remedy
        return
    try:
        ids = parse_broker_list(listed)
    except ValueError as error:
        yield str(error), remedy
        return
    for broker in ids:
        name = path.replace(BROKER, str(broker))
        row = row_of.get((broker, name), ABSENT)
        if row != ABSENT:
            yield row
            continue
        there = ", ".join(p for b, p in row_of if b == broker) or "none that are known"
        yield f"broker {broker} has no log dir {name}", f"its log dirs: {there}"
