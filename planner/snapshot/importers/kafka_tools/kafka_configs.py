"""
Text that ``kafka-configs --describe`` prints for topics and brokers.

A line for each topic or broker, then one for each of its settings::

    Dynamic configs for topic orders are:
      retention.ms=1 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=1}

With ``--all`` defaults are included; the first synonym shows the source of a value. For
topics, their own settings are kept; for brokers, those that `planner.kept_configs` and
`planner.throttles` name, since other settings of a broker hold host names, paths and
passwords. Source: `ConfigCommand` in Kafka's `core`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from planner.kept_configs import ALWAYS_KEPT, CLUSTER_CONFIGS
from planner.pasted_text import Form
from planner.snapshot.importers.inputs.import_source import Record, Source
from planner.snapshot.importers.inputs.input_text import (
    Refusal,
    numbered_lines,
    read_text,
)
from planner.snapshot.tables.snapshot_columns import MAX_INT32
from planner.throttles import BROKER_THROTTLES

KIND = "the output of kafka-configs --describe for topics or brokers"
_HEADING = re.compile(
    r"(?P<style>Dynamic c|All c|C)onfigs for "
    r"(?:topic (?P<topic>[a-zA-Z0-9._-]{1,249})|broker (?P<broker>[0-9]{1,10})) are:"
    r"|(?P<default>Default configs?) for brokers in the cluster are:",
    re.ASCII,
)
_SETTING = re.compile(
    r"\s*(?P<key>[A-Za-z][A-Za-z0-9_.-]*)=(?P<value>.*) "
    r"sensitive=(?P<is_hidden>true|false)"
    r"(?: synonyms=\{(?P<synonyms>.*)\})?",
    re.ASCII,
)
_SOURCE = re.compile(r"(?P<source>[A-Z_]+_CONFIG):")
_ALL_BROKERS = "DYNAMIC_DEFAULT_BROKER_CONFIG"
_DEFAULT_RATE = re.compile(rf"(?:^|, ){_ALL_BROKERS}:[^=,]+=([^,]*)")
_DEFAULT = "DEFAULT_CONFIG"
_NOTHING = "null"
_TOPIC = "DYNAMIC_TOPIC_CONFIG"
_MAX_LINE = 1_000_000
FORM = Form(
    data=re.compile(r"\s*(?:\S+=.* sensitive=|(?:\w+ )?[Cc]onfigs? for \S.* are:)"),
    marks=re.compile(r" sensitive=(?:true|false)\b|\b[Cc]onfigs? for .* are:"),
    hints=re.compile(r"\b(?:[Cc]onfigs? for|sensitive|synonyms)\b|_CONFIG\b"),
)


@dataclass(slots=True)
class _Entity:
    """
    A topic, a broker or all brokers, with its settings.

    `inherited` holds the throttles that a broker has, or would have, by the default.
    """

    name: str | int | None
    place: str
    configs: dict[str, str] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    inherited: dict[str, str] = field(default_factory=dict)


def read_configs(data: bytes, *, file: str) -> Source:
    """
    Read the output of ``kafka-configs --describe`` for topics or brokers.

    Parameters
    ----------
    data
        The whole output, gzipped or not; with or without ``--all``.
    file
        Name of the file in problems.

    Returns
    -------
    Source
        Settings of topics; throttles of brokers; settings of the whole cluster. Values
        that Kafka marks as sensitive are ignored.

    Raises
    ------
    BadInputError
        If a line is not of this output, or a topic or broker occurs twice.
    """
    refusal = Refusal(file, KIND, "configs")
    text = read_text(data, refusal, FORM)
    if not re.search(r"\b[Cc]onfigs? for \S.* are:", text):
        remedy = refusal.other_output() or f"give {KIND}"
        refusal.stop(
            "line 1", "the file must have lines 'Dynamic configs for …'", remedy
        )
    entities: dict[str | int | None, _Entity] = {}
    current: _Entity | None = None
    styles: dict[str, int] = {}
    for number, line in numbered_lines(text, refusal):
        heading = _HEADING.fullmatch(line.strip())
        if heading is None:
            _add_setting(number, line, current, refusal)
            continue
        current = _begin(number, heading, entities, refusal)
        if heading["style"] is not None:
            styles.setdefault(heading["style"], number)
    _refuse_mixed_headings(styles, refusal)
    refusal.raise_problems()
    return _source(refusal, list(entities.values()))


def _refuse_mixed_headings(styles: dict[str, int], refusal: Refusal) -> None:
    """Reject headings of several releases, or both with and without ``--all``."""
    for number in [*styles.values()][1:]:
        rule = "all headings must begin alike: with Dynamic, All, or neither"
        remedy = "two outputs were joined: give each in its own file"
        refusal.add(f"line {number}", rule, remedy)


def _begin(
    number: int,
    heading: re.Match[str],
    entities: dict[str | int | None, _Entity],
    refusal: Refusal,
) -> _Entity:
    """Begin a topic or a broker."""
    broker = heading["broker"]
    name = heading["topic"] if broker is None else int(broker)
    place = f"line {number}"
    if isinstance(name, int) and name > MAX_INT32:
        refusal.add(
            place, "a broker id must fit 32 bits", "take the output again", broker
        )
    if name in entities:
        what = "the default of brokers" if name is None else str(name)
        rule = f"must occur once; {what} is also on {entities[name].place}"
        refusal.add(place, rule, "two outputs were joined: give each in its own file")
    return entities.setdefault(name, _Entity(name, place))


def _add_setting(
    number: int, line: str, entity: _Entity | None, refusal: Refusal
) -> None:
    found = _SETTING.fullmatch(line) if len(line) <= _MAX_LINE else None
    place = f"line {number}"
    if found is None or entity is None:
        rule = (
            "a setting must be below the line of its topic or broker"
            if found is not None
            else "must be a setting with 'sensitive=' and 'synonyms={…}', or the line "
            "of a topic or broker"
        )
        remedy = "it was cut, wrapped or is of other entities: take the output again"
        refusal.add(place, rule, remedy)
        return
    key = found["key"]
    if key in entity.sources:
        rule = f"a setting must occur once; {key} is also above"
        refusal.add(place, rule, "remove one of the two")
        return
    entity.sources[key] = _source_of(found["synonyms"])
    if found["is_hidden"] == "false" and found["value"] != _NOTHING:
        entity.configs[key] = found["value"]
    default = _DEFAULT_RATE.search(found["synonyms"] or "")
    if default and key in BROKER_THROTTLES:
        entity.inherited[key] = default[1]


def _source_of(synonyms: str | None) -> str:
    """Return the source of a value."""
    if synonyms is None:
        # Before 2.5 only values that were set were printed.
        return "DYNAMIC"
    origin = _SOURCE.match(synonyms)
    return _DEFAULT if origin is None else origin["source"]


def _source(refusal: Refusal, entities: list[_Entity]) -> Source:
    file = refusal.file
    topics = [one for one in entities if isinstance(one.name, str)]
    brokers = [one for one in entities if isinstance(one.name, int)]
    everywhere = _cluster_configs(entities)
    return Source(
        file=file,
        kind="kafka-configs --describe",
        header={"configs": everywhere} if everywhere else {},
        brokers=tuple(
            Record(key=one.name, values={"configs": throttles}, place=one.place)
            for one in brokers
            if (throttles := _own_throttles(one))
        ),
        topics=tuple(_topic(one) for one in topics),
        lists_topics=bool(topics),
        notes=(*refusal.notes(), *_notes(file, brokers)),
    )


def _kept(entity: _Entity, keys: tuple[str, ...]) -> dict[str, str]:
    """Return the settings of some keys that were set explicitly."""
    return {
        key: entity.configs[key]
        for key in sorted(keys)
        if key in entity.configs
        and (entity.sources[key] != _DEFAULT or key == ALWAYS_KEPT)
    }


def _own_throttles(broker: _Entity) -> dict[str, str]:
    """Return the throttles of a broker that are not the default of all brokers."""
    kept = _kept(broker, BROKER_THROTTLES)
    return {
        key: value for key, value in kept.items() if broker.sources[key] != _ALL_BROKERS
    }


def _topic(entity: _Entity) -> Record:
    own = {
        key: value
        for key, value in sorted(entity.configs.items())
        if entity.sources[key] in {_TOPIC, "DYNAMIC"}
    }
    is_tiered = own.get("remote.storage.enable") == "true"
    values: dict[str, Any] = {"configs": own}
    if is_tiered:
        values["storage"] = "tiered"
    return Record(key=entity.name, values=values, place=entity.place)


def _cluster_configs(entities: list[_Entity]) -> dict[str, str]:
    """Return cluster-wide settings: those of the first broker, else the default."""
    brokers = [one for one in entities if isinstance(one.name, int)]
    defaults = [one for one in entities if one.name is None]
    found: dict[str, str] = {}
    for one in (*brokers[:1], *defaults):
        found = {**_kept(one, CLUSTER_CONFIGS), **found}
    for one in brokers:
        found |= one.inherited
    for one in defaults:
        found |= _kept(one, BROKER_THROTTLES)
    return found


def _notes(file: str, brokers: list[_Entity]) -> Iterator[str]:
    """Yield notes on cluster-wide settings in which brokers differ."""
    settings = [_kept(one, CLUSTER_CONFIGS) for one in brokers]
    for key in CLUSTER_CONFIGS:
        if len({one.get(key) for one in settings}) > 1:
            yield f"{file}: brokers differ in {key}: the value of the first is used"
