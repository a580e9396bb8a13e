r"""
The table that ``kafka-cluster list-endpoints`` prints, and ``… cluster-id``.

::

    ID         HOST      PORT       RACK STATE      ENDPOINT_TYPE
    1          k1        9092       r1 unfenced   broker

The rows of 4.x are not as wide as their headings, so they are parsed word by word: a
rack is the text between port and state. Without ``--include-fenced-brokers`` the table
lists only brokers that are not fenced. Source: `ClusterTool` in Kafka's `tools`.
"""

import re

from planner.pasted_text import Form
from planner.snapshot.importers.inputs.import_source import Record, Source
from planner.snapshot.importers.inputs.input_text import (
    Refusal,
    numbered_lines,
    read_text,
    refuse_duplicates,
    without_last,
)
from planner.snapshot.tables.snapshot_columns import MAX_INT32

KIND = "the output of kafka-cluster list-endpoints"
_HEADING = re.compile(
    r"ID\s+HOST\s+PORT\s+RACK(\s+STATE)?\s+ENDPOINT_TYPE(?P<more>(?:\s+[A-Z#][A-Z_-]*)*)"
)
_ROW = re.compile(
    r"([0-9]{1,10})[ \t]+(\S+)[ \t]+([0-9]{1,5})[ \t](?:[ \t]*(\S.*?))?"
    r"(?:[ \t]+(fenced|unfenced|alive))?[ \t]+(broker|controller)",
    re.ASCII,
)
_CLUSTER_ID = re.compile(r"\s*Cluster ID: ([A-Za-z0-9_-]{1,64})[ \t\r]*\n\s*", re.ASCII)
_MAX_ROW = 2000
_REMEDY = f"give {KIND}, complete, with its heading"
FORM = Form(
    data=re.compile(
        r"(?!.*--:--)\s*(?:[0-9]{1,10}[ \t]+\S+[ \t]+[0-9]|ID\s+HOST|Cluster ID:)"
    ),
    marks=re.compile(r"\b[0-9]{1,5}[ \t].*\b(?:fenced|unfenced|alive)[ \t]+broker\b"),
    hints=re.compile(r"\b(?:fenced|unfenced|broker|controller)\s*$"),
)


def read_endpoints(data: bytes, *, file: str) -> Source:
    """
    Read the output of ``kafka-cluster list-endpoints`` or ``… cluster-id``.

    Parameters
    ----------
    data
        The whole output, gzipped or not.
    file
        Name of the file in problems.

    Returns
    -------
    Source
        Brokers with host, rack and state, complete for live ones; or the id of the
        cluster.

    Raises
    ------
    BadInputError
        If a line is not of this output, or names controllers instead of brokers.
    """
    refusal = Refusal(file, KIND, "list_endpoints")
    text = read_text(data, refusal, FORM)
    found = _CLUSTER_ID.fullmatch(text)
    if found is not None:
        header = {"cluster_id": found[1]}
        notes = refusal.notes()
        kind = "kafka-cluster cluster-id"
        return Source(file=file, kind=kind, header=header, notes=notes)
    lines = list(numbered_lines(text, refusal))
    heading = _HEADING.fullmatch(lines[0][1].strip())
    if heading is None:
        rule = "the first line must be the heading: ID HOST PORT RACK STATE …"
        refusal.stop(
            f"line {lines[0][0]}", rule, refusal.other_output() or f"give {KIND}"
        )
    more = refusal.skip_columns(heading["more"])
    brokers = [_broker(at, without_last(ln, more), refusal) for at, ln in lines[1:]]
    records = tuple(record for record in brokers if record is not None)
    refuse_duplicates(((one.key, one.place) for one in records), refusal)
    if len(lines) == 1:
        refusal.add(
            "line 1", "must have brokers below the heading", "take the output again"
        )
    refusal.raise_problems()
    return Source(
        file=file,
        kind="kafka-cluster list-endpoints",
        notes=refusal.notes(),
        brokers=records,
        lists_live_brokers=True,
    )


def _broker(number: int, line: str, refusal: Refusal) -> Record | None:
    found = _ROW.fullmatch(line.strip()) if len(line) <= _MAX_ROW else None
    place = f"line {number}"
    if found is None or int(found[1]) > MAX_INT32:
        rule = "must be id, host, port, rack, state and endpoint type"
        refusal.add(place, rule, "the line was cut or wrapped: take the output again")
        return None
    broker_id, host, _, rack, state, endpoint = found.groups()
    if endpoint == "controller":
        rule = "must list brokers, not controllers"
        refusal.add(place, rule, "run the tool with --bootstrap-server of a broker")
        return None
    values = {"host": host, "state": "fenced" if state == "fenced" else "alive"}
    if rack is not None and rack != "null":
        values["rack"] = rack
    return Record(key=int(broker_id), values=values, place=place)
