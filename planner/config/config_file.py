"""Reader of `planner.toml`, which collects every problem."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planner.config.config_option import ConfigOption
from planner.errors import BadInputError, InputProblem, raise_problems
from planner.io.problems import refuse_all
from planner.io.toml_records import read_toml
from planner.text.suggest import near

PLAN = "plan"
OPERATION = "operation"
CPU, CPU_OPTION = "cpu", "cpu_weight"
"""Table of one option: ``[cpu]`` stands for ``cpu_weight`` of ``[plan]``."""
RULES = "rules"
"""Table of ``RULE = "soft"`` or ``"hard"``: the options `soft` and `hard` of plans."""
MOST_SHOWN = 60

Options = Mapping[str, ConfigOption]


@dataclass(frozen=True, slots=True)
class Setting:
    """
    One value of a file, with its place.

    Parameters
    ----------
    value
        The value in the form of the command line.
    place
        Place in the file: ``plan.max_bytes``.
    """

    value: Any
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """
    Settings of a file, by table.

    Parameters
    ----------
    path
        Path of the file.
    plan
        Settings of all operations, by the name of the option.
    operations
        Settings of single operations, which take precedence over those of all.
    problems
        Every problem of the file; the valid settings are kept.
    """

    path: Path
    plan: Mapping[str, Setting] = field(default_factory=dict)
    operations: Mapping[str, Mapping[str, Setting]] = field(default_factory=dict)
    problems: tuple[InputProblem, ...] = ()

    def of(self, operation: str | None) -> dict[str, Setting]:
        """Return the settings of one operation; `None` for those of all operations."""
        return {**self.plan, **self.operations.get(operation or "", {})}

    def raise_problems(self) -> None:
        """
        Refuse the file if it has problems.

        Raises
        ------
        BadInputError
            If the file has problems; names them all.
        """
        raise_problems(f"{self.path} is no configuration", self.problems)


def read_config(path: Path, operations: Mapping[str, Options]) -> Config:
    """
    Read a file; its problems are in the field `problems`.

    Parameters
    ----------
    path
        Path of the file.
    operations
        Options of each operation, by name. A key of ``[plan]`` must be an option
        of every one of them, a key of ``[operation.NAME]`` one of that operation.
    """
    reader = _Reader(path)
    tables = reader.tables()
    known: dict[str, list[str]] = {}
    for operation, options in operations.items():
        for name in options:
            known.setdefault(name, []).append(operation)
    common = {
        name: options[name]
        for options in operations.values()
        for name in options
        if all(name in others for others in operations.values())
    }
    plan = dict(reader.settings(PLAN, tables.get(PLAN, {}), common, known))
    if CPU in tables:
        plan |= reader.cpu(tables[CPU], common, plan)
    if RULES in tables:
        plan |= reader.rules(tables[RULES], common, plan)
    single = tables.get(OPERATION, {})
    own = {}
    for name, table in reader.operations(single, operations):
        place = f"{OPERATION}.{name}"
        own[name] = dict(reader.settings(place, table, operations[name], known))
    return Config(path=path, plan=plan, operations=own, problems=tuple(reader.problems))


Owners = Mapping[str, Sequence[str]]
"""Operations that have an option, by its name."""


class _Reader:
    """Reader of one file, which collects every problem."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.problems: list[InputProblem] = []

    def _refuse(self, place: str, value: object, rule: str, remedy: str) -> None:
        text = "" if value is None else str(value)
        shown = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
        self.problems.append(
            InputProblem(
                file=str(self._path), place=place, value=shown, rule=rule, remedy=remedy
            )
        )

    def tables(self) -> dict[str, Any]:
        """Return the known tables of a file; none where it is not TOML."""
        remedy = "see `kafka-planner config init`"
        try:
            document = read_toml(self._path, refuse_all, remedy=remedy)
        except BadInputError as error:
            self.problems += error.problems
            return {}
        known = (PLAN, OPERATION, CPU, RULES)
        for name in document:
            if name not in known:
                self._refuse(name, None, "no such table", near(name, known))
        return {name: document[name] for name in known if name in document}

    def cpu(
        self, table: object, options: Options, plan: Mapping[str, Setting]
    ) -> dict[str, Setting]:
        """Convert the table ``[cpu]`` to the option `cpu_weight`."""
        if CPU_OPTION in plan:
            place = plan[CPU_OPTION].place
            self._refuse(CPU, None, f"is also given as {place}", "keep one of the two")
        elif not isinstance(table, dict):
            self._refuse(CPU, table, "must be a table", f"write [{CPU}]")
        else:
            return dict(self._setting(CPU, options[CPU_OPTION], table))
        return {}

    def rules(
        self, table: object, options: Options, plan: Mapping[str, Setting]
    ) -> dict[str, Setting]:
        """Convert the table ``[rules]`` to the options `soft` and `hard`."""
        if not isinstance(table, dict):
            self._refuse(RULES, table, "must be a table", f"write [{RULES}]")
            return {}
        found: dict[str, Setting] = {}
        for kind in ("soft", "hard"):
            names = [rule for rule, value in table.items() if value == kind]
            if names and kind in plan:
                rule = f"is also given as {plan[kind].place}"
                self._refuse(RULES, kind, rule, "keep one of the two")
            elif names:
                found |= dict(self._setting(RULES, options[kind], names))
        for name, value in table.items():
            if value not in {"soft", "hard"}:
                place = f"{RULES}.{name}"
                rule = 'must be "soft" or "hard"'
                self._refuse(place, value, rule, f'write {name} = "soft"')
        return found

    def operations(
        self, table: object, known: Mapping[str, Options]
    ) -> Iterator[tuple[str, Any]]:
        """Yield the table of each known operation."""
        if not isinstance(table, dict):
            self._refuse(OPERATION, table, "must be a table", "write [operation.NAME]")
            return
        for name, one in table.items():
            if name in known:
                yield name, one
            else:
                place = f"{OPERATION}.{name}"
                self._refuse(place, None, "no such operation", near(name, known))

    def settings(
        self, place: str, table: object, options: Options, known: Owners
    ) -> Iterator[tuple[str, Setting]]:
        """Yield the valid settings of one table, by the names of their options."""
        if not isinstance(table, dict):
            self._refuse(place, table, "must be a table", f"write [{place}]")
            return
        seen: dict[str, str] = {}
        for key, value in table.items():
            name, where = key.replace("-", "_"), f"{place}.{key}"
            if name not in options:
                rule, remedy = _unknown(name, options, known)
                self._refuse(where, None, rule, remedy)
            elif name in seen:
                rule = f"is also given here as {seen[name]}"
                self._refuse(where, value, rule, "keep one of the two")
            else:
                seen[name] = key
                yield from self._setting(where, options[name], value)

    def _setting(
        self, where: str, option: ConfigOption, value: object
    ) -> Iterator[tuple[str, Setting]]:
        try:
            yield option.name, Setting(option.read(value), where)
        except ValueError as error:
            shown = str(value).lower() if isinstance(value, bool) else value
            remedy = f"as {option.option} takes: {option.help}"
            self._refuse(where, shown, str(error), remedy)


def _unknown(name: str, options: Options, known: Owners) -> tuple[str, str]:
    if name in known:
        rule = "not every operation has this option"
        return rule, f"write it in [operation.NAME] of {' or '.join(known[name])}"
    return "no such option", near(name, options)
