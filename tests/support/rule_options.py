"""
Fields of the options of rules, from the descriptors of the rules.

``PYTHONPATH=tests python -m support.rule_options`` writes them, from the root of the
repository.
"""

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

from placement.rules.descriptor import RuleDescriptor
from placement.rules.registry import RULES

MODULE = Path(__file__).parents[2] / "planner/options/declared/rule_options.py"
KINDS = {
    "switch": ("bool", "False", "bool", ""),
    "topics": ("str | None", "None", "str", ""),
    "topic groups": (
        "tuple[str, ...]", "()", "Sequence[str]",
        'metavar="REGEX", takes=list, read=read_patterns',
    ),
    "topic sides": (
        "tuple[str, ...]", "()", "Sequence[str]",
        'metavar="REGEX=REGEX", takes=list, read=read_apart',
    ),
    "topic sets": (
        "dict[str, str] | None", "None", 'Mapping[str, str] | Literal["off"]',
        'metavar="REGEX=SET", takes=list, read=read_sets',
    ),
    "topic counts": (
        "tuple[tuple[str, int], ...]", "()", "Mapping[str, int]",
        'metavar="REGEX=N", takes=list, read=read_topic_leaders, save=pair_texts',
    ),
}  # fmt: skip
"""Type, default, type in Python and metadata of an option of each kind."""
ALWAYS_SAVED = {
    *("broker-set", "topics-apart", "topics-together", "keep-topics", "keep-leaders"),
    *("locality-scoped", "only-over-threshold", "only-trades"),
    *("potential-out", "leader-in", "even-positions"),
}
"""Rules that every plan.json names; later ones are named where they are given."""


def with_fields(code: str) -> str:
    """Return the module with the fields of all rules between its markers."""
    fields = {
        name: [rule for rule in RULES.values() if rule.option and rule.is_goal == flag]
        for name, flag in (("rules", False), ("goals", True))
    }
    for name, rules in fields.items():
        head, declared, middle, keywords, rest = _split(code, name)
        del declared, keywords
        code = head + "".join(map(_field, rules))
        code += middle + "".join(map(_keyword, rules)) + rest
    return _formatted(code)


def _split(code: str, name: str) -> Iterator[str]:
    """Yield the parts of the module outside and inside the markers."""
    start, end = (f"    # Requested {name}: {edge}\n" for edge in ("start", "end"))
    head, *blocks = code.split(start)
    for block in blocks:
        inside, _, rest = block.partition(end)
        yield head + start
        yield inside
        head = end + rest
    yield head


def _field(rule: RuleDescriptor) -> str:
    option = rule.option
    assert option is not None
    kind, default, _, metadata = KINDS[option.kind]
    maker = "_topics" if option.kind == "topics" else "_rule"
    given = {
        "help": option.help,
        "example": option.example,
        "saved_as": option.saved_as,
    }
    values = [f"{name}={_text(value)}" for name, value in given.items() if value]
    values += [metadata] if metadata else []
    values += [] if rule.name in ALWAYS_SAVED else ["saved=GIVEN"]
    made = f"{'_goal' if rule.is_goal else maker}({', '.join(values)})"
    return f"    {rule.option_name}: Annotated[{kind}, {made}] = {default}\n"


def _text(value: str) -> str:
    lines = textwrap.wrap(value, 64, drop_whitespace=False)
    return " ".join(map(repr, lines)) if len(value) > 66 else repr(value)


def _keyword(rule: RuleDescriptor) -> str:
    assert rule.option is not None
    return f"    {rule.option_name}: {KINDS[rule.option.kind][2]}\n"


def _formatted(code: str) -> str:
    ruff = Path(sys.executable).with_name("ruff")
    done = subprocess.run(
        [ruff, "format", "--stdin-filename", MODULE, "-"],
        input=code, capture_output=True, check=True, text=True,
    )  # fmt: skip
    return done.stdout


if __name__ == "__main__":
    MODULE.write_text(with_fields(MODULE.read_text(encoding="utf-8")), encoding="utf-8")
