"""
The lines that ``kafka-features describe`` prints: the levels of a cluster's features.

::

    Feature: NAME  SupportedMinVersion: 0  SupportedMaxVersion: 1  \
FinalizedVersionLevel: 1  Epoch: 244

Levels are numbers, but that of ``metadata.version`` has a name. Kafka 2.7 to 3.2 prints
``FinalizedMinVersionLevel`` and ``FinalizedMaxVersionLevel``, of which the latter is
the level. Source:
`FeatureCommand` in Kafka's `tools`, and `MetadataVersion` in its `server-common`.
"""

import re

from planner.kafka_releases import METADATA_LEVELS, METADATA_VERSION
from planner.pasted_text import Form
from planner.snapshot.importers.inputs.import_source import Source
from planner.snapshot.importers.inputs.input_text import (
    Refusal,
    numbered_lines,
    read_text,
)
from planner.snapshot.tables.snapshot_columns import MAX_INT32

KIND = "the output of kafka-features describe"
_LEVEL = r"(?:UNKNOWN [0-9]{1,5}|[0-9][0-9A-Za-z.-]{0,20}|-)"
_LINE = re.compile(
    r"Feature: ?(?P<name>[a-zA-Z][\w.-]{0,80})\s+"
    rf"SupportedMinVersion: ?{_LEVEL}\s+"
    rf"SupportedMaxVersion: ?{_LEVEL}\s+"
    rf"(?:FinalizedVersionLevel|FinalizedMinVersionLevel: ?{_LEVEL}\s+"
    rf"(?P<old>FinalizedMaxVersionLevel)): ?(?P<level>{_LEVEL})\s+"
    r"Epoch: ?(?:[0-9]{1,19}|-)"
    r"(?P<more>(?:\s+[A-Z][A-Za-z]*: ?[\w.-]*)*)",
    re.ASCII,
)
_OLD = "a table of Kafka 2.7 to 3.2: FinalizedMaxVersionLevel is used as the level"
_NAME = re.compile(r"([A-Z][A-Za-z]*):")
FORM = Form(
    data=re.compile(r"\s*Feature: ?\S"),
    marks=re.compile(r"\bFeature: ?\S+\s+Supported"),
    hints=re.compile(r"\b(?:Feature|Supported\w+|Finalized\w*VersionLevel|Epoch)\b"),
)


def read_features(data: bytes, *, file: str) -> Source:
    """
    Read the output of ``kafka-features describe``.

    Parameters
    ----------
    data
        The whole output, gzipped or not.
    file
        Name of the file in problems.

    Returns
    -------
    Source
        Finalized levels. Level 0 is left out, as by brokers.

    Raises
    ------
    BadInputError
        If a line is not of this output, or a feature occurs twice.
    """
    refusal = Refusal(file, KIND, "features")
    text = read_text(data, refusal, FORM)
    if not re.search(r"^[ \t]*Feature: ?\S", text, re.MULTILINE):
        remedy = refusal.other_output() or f"give {KIND}"
        refusal.stop("line 1", "the file must have lines 'Feature: …'", remedy)
    levels: dict[str, str] = {}
    lines_by_age: dict[bool, int] = {}
    for number, line in numbered_lines(text, refusal):
        is_old = _read_line(number, line, levels, refusal)
        if is_old is not None:
            lines_by_age.setdefault(is_old, number)
    _refuse_mixed_releases(lines_by_age, refusal)
    refusal.raise_problems()
    features = {name: _level(name, level) for name, level in sorted(levels.items())}
    unknown = [name for name, level in features.items() if level is None]
    return Source(
        file=file,
        kind="kafka-features describe",
        header={"features": {name: n for name, n in features.items() if n}},
        notes=(
            *refusal.notes(),
            *([f"{file}: {_OLD}"] if True in lines_by_age else []),
            *(
                f"{file}: {name} has a level of an unknown release: left out"
                for name in unknown
            ),
        ),
    )


def _read_line(
    number: int, line: str, levels: dict[str, str], refusal: Refusal
) -> bool | None:
    """Add a level; return whether the line is of Kafka 3.2 or older, if it is one."""
    found = _LINE.fullmatch(line.strip())
    place = f"line {number}"
    if found is not None and found["more"]:
        refusal.skip_columns(" ".join(_NAME.findall(found["more"])))
    if found is None:
        rule = "must be a feature with its supported and finalized levels"
        remedy = (
            "the line was cut, wrapped or is of another command: take the output again"
        )
        refusal.add(place, rule, remedy)
    elif found["name"] in levels:
        rule = f"a feature must occur once; {found['name']} is also above"
        refusal.add(place, rule, "two outputs were joined: give one of them")
    else:
        levels[found["name"]] = found["level"]
    return None if found is None else found["old"] is not None


def _refuse_mixed_releases(lines_by_age: dict[bool, int], refusal: Refusal) -> None:
    if len(lines_by_age) > 1:
        rule = "all lines must be of one release: before Kafka 3.3 levels are a range"
        remedy = "two outputs were joined: give one of them"
        refusal.add(f"line {max(lines_by_age.values())}", rule, remedy)


def _level(name: str, text: str) -> int | None:
    """Return a level as a number; `None` if its name is not known."""
    if name == METADATA_VERSION:
        known = METADATA_LEVELS.get(text)
        if known is not None:
            return known
    number = text.removeprefix("UNKNOWN ")
    if not number.isdigit():
        return 0 if number == "-" else None
    return min(int(number), MAX_INT32)
