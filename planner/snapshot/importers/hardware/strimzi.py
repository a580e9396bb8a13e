"""
Strimzi's resources of clusters and topics, as ``kubectl get -o yaml`` prints them.

A note lists other keys of a resource.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from planner.pasted_text import Form
from planner.snapshot.importers.hardware.strimzi_cluster import StrimziCluster
from planner.snapshot.importers.hardware.strimzi_kinds import COMMAND, KIND, kind_of
from planner.snapshot.importers.hardware.strimzi_topics import (
    TOPIC_COMMAND,
    TOPIC_KIND,
    StrimziTopics,
)
from planner.snapshot.importers.inputs.import_source import Source
from planner.snapshot.importers.inputs.input_text import (
    NO_LINE_END,
    Refusal,
    read_text,
)
from planner.snapshot.importers.inputs.json_input import documents_of
from planner.snapshot.importers.inputs.yaml_text import parse_yaml

_FORM = Form(
    # Keys of resources begin with a small letter, those of warnings do not.
    data=re.compile(
        r" +(?!--\w|\+ |% |Dload )\S"
        r"|(?!(?:nohup|info|note|warning|error|bash|perl|tput|stty):)[a-z][A-Za-z]*:"
        r"(?:\s|$)|-(?: |$)|---|\{\s*$|\}"
    ),
    has_words=False,
)


def read_strimzi(data: bytes, *, file: str) -> Source:
    """
    Read resources of one Strimzi cluster.

    Parameters
    ----------
    data
        Output of ``kubectl get kafka,kafkanodepool,kafkatopic -o yaml``, or of some of
        these kinds, or ``-o json``, gzipped or not.
    file
        Name of the file in problems.

    Returns
    -------
    Source
        Brokers with log dirs, capacities and node pools, which are complete;
        controllers; id and version of the cluster, and its `min.insync.replicas`; ids
        of topics, and their desired partitions, replicas and settings.

    Raises
    ------
    BadInputError
        With every problem of the resources.
    """
    refusal = Refusal(file, KIND, "strimzi")
    cluster, topics = StrimziCluster(refusal), StrimziTopics(refusal)
    for place, resource in _resources(_load(data, refusal), ""):
        if kind_of(resource) == TOPIC_KIND:
            topics.add(place, resource)
        else:
            cluster.add(place, resource)
    cluster.check()
    topics.check()
    _check_one_cluster(cluster, topics, refusal)
    refusal.raise_problems()
    return _source(cluster, topics, file)


def _check_one_cluster(
    cluster: StrimziCluster, topics: StrimziTopics, refusal: Refusal
) -> None:
    names = cluster.names | topics.names
    if len(names) > 1:
        rule = f"must hold resources of one cluster; it has {len(names)} clusters"
        refusal.add("", rule, "select one cluster: -l strimzi.io/cluster=NAME")
    if not (cluster.num_read or topics.num_read or refusal.problems):
        rule = "must hold a KafkaNodePool, a Kafka or a KafkaTopic of kafka.strimzi.io"
        refusal.add("", rule, f"{COMMAND}, or {TOPIC_COMMAND}")


def _source(cluster: StrimziCluster, topics: StrimziTopics, file: str) -> Source:
    source = cluster.source()
    notes = (f"{file}: {note}" for note in topics.notes())
    return replace(
        source,
        topics=tuple(topics.topics),
        desired_topics=tuple(topics.desired),
        notes=(*source.notes, *notes),
    )


def _load(data: bytes, refusal: Refusal) -> list[Any]:
    text = read_text(data, refusal, _FORM)
    if text.lstrip().startswith("{"):
        return documents_of(text, refusal)
    if not text.endswith("\n"):
        rule, remedy = NO_LINE_END
        refusal.add(f"line {text.count(chr(10)) + 1}", rule, remedy)
    if "kafka.strimzi.io/" not in text:
        rule = "must hold resources of kafka.strimzi.io"
        refusal.stop("line 1", rule, refusal.other_output() or COMMAND)
    return parse_yaml(text, refusal, remedy=f"take the output again: {COMMAND}")


def _resources(documents: list[Any], place: str) -> Iterator[tuple[str, Any]]:
    """Yield resources, including those inside lists."""
    for at, document in enumerate(documents):
        here = f"{place}items[{at}]" if place else f"document {at + 1}"
        if isinstance(document, dict) and isinstance(document.get("items"), list):
            yield from _resources(document["items"], f"{here}, ")
        elif isinstance(document, list):
            yield from _resources(document, f"{here}, ")
        elif document:
            yield here, document
