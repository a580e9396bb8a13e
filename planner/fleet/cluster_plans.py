"""
Plans of many clusters: the requests, and one row of results per cluster.

The module works without Spark. A cluster that cannot be planned becomes a row with the
reason, and does not stop the others.
"""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from planner.errors import BadInputError, InputProblem
from planner.io.gatherer import Gatherer
from planner.io.json_reader import parse_json
from planner.options.declared.plan_options import OPTIONS
from planner.options.plan_request import PlanRequest
from planner.snapshot.tables.snapshot_columns import ArrowTable

if TYPE_CHECKING:
    from placement.check import Finding
    from planner.plan.documents.scored_plan import Plan
    from planner.snapshot import Snapshot

REFUSED = "refused"
"""Status of an invalid snapshot, or of one that does not fit the request."""
FAILED = "failed"
"""Status after an unexpected error of the planner."""
MOVES = ("replicas", "bytes", "leaders", "partitions")
PROVEN = ("bytes", "replicas", "deviation")
SCHEMA = pa.schema(
    [
        ("cluster_id", pa.string()),
        ("taken_at", pa.timestamp("us", tz="UTC")),
        ("request", pa.string()),
        ("request_hash", pa.string()),
        ("goal", pa.string()),
        ("status", pa.string()),
        ("reason", pa.string()),
        ("num_findings", pa.int64()),
        *((f"moved_{name}", pa.int64()) for name in MOVES),
        *(
            (f"{name}_{figure}", pa.float64())
            for name in PROVEN
            for figure in ("value", "lower_bound", "gap")
        ),
        ("solve_s", pa.float64()),
        ("bound_s", pa.float64()),
        ("total_s", pa.float64()),
        ("fingerprint", pa.string()),
        ("certificate", pa.string()),
        ("plan", pa.string()),
        ("files", pa.map_(pa.string(), pa.string())),
    ]
)
"""The columns of a table of plans."""


class FleetRequest(Protocol):
    """Request to every cluster of a fleet: a plan, or a scenario."""

    @property
    def name(self) -> str:
        """Name of the request in its rows."""
        ...

    @property
    def hash(self) -> str:
        """Hash of all that the answer depends on, except the snapshot."""
        ...

    @property
    def goal(self) -> str:
        """Name of the operation."""
        ...

    def answer(self, snapshot: "Snapshot") -> dict[str, Any]:
        """
        Return the columns of one cluster's row, from `status` on.

        Raises
        ------
        BadInputError
            If the request does not fit the cluster.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRequest:
    """
    Request for a plan of every cluster, under a name.

    Parameters
    ----------
    name
        Name of the request in its rows.
    request
        The operation and its options.
    text
        The request as JSON.
    """

    name: str
    request: PlanRequest
    text: str = field(init=False)

    def __post_init__(self) -> None:
        text = json.dumps(self.request.to_dict(), sort_keys=True)
        object.__setattr__(self, "text", text)

    @property
    def hash(self) -> str:
        """Hash of the operation and its options."""
        return hash_of(self.text)

    @property
    def goal(self) -> str:
        """Name of the operation."""
        return self.request.goal

    def answer(self, snapshot: "Snapshot") -> dict[str, Any]:
        """
        Plan one cluster.

        Raises
        ------
        BadInputError
            If the request does not fit the cluster.
        """
        from planner.plan.documents.plan_document import shortfall_document
        from planner.plan.run.make_plan import make

        planned = make(
            snapshot.to_state(),
            self.request,
            taken_at=snapshot.taken_at,
            resources=snapshot.topic_resources(),
        )
        plan, findings = planned.plan, planned.findings
        missing = [
            str(shortfall_document(plan.placed, each)["message"])
            for each in plan.placed.solution.shortfalls
        ]
        return {
            "status": str(plan.status),
            "reason": reason_of(missing, findings),
            **plan_columns(plan, findings),
        }


def hash_of(text: str) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 hash of a text."""
    return sha256(text.encode()).hexdigest()[:16]


def read_requests(text: str, *, file: str) -> list[NamedRequest]:
    """
    Read a JSON list of requests, each an object of options and a `name`.

    Parameters
    ----------
    text
        Such as ``[{"name": "tight", "goal": "rebalance", "band": ["0.05"]}]``. Keys are
        the options of plans, with underscores; options left out have their defaults.
    file
        Name of the file in problems.

    Raises
    ------
    BadInputError
        With every problem of the text.
    """
    try:
        listed = parse_json(text)
    except ValueError:
        listed = None
    if not isinstance(listed, list) or not listed:
        rule = "must be a JSON list of requests"
        raise _refusal(file, [("", "", rule)])
    problems: list[tuple[str, str, str]] = []
    found = [_request(each, f"[{n}]", problems) for n, each in enumerate(listed)]
    names = [named.name for named in found if named is not None]
    problems += [
        ("name", name, "a name must occur once")
        for name in sorted(set(names))
        if names.count(name) > 1
    ]
    if problems:
        raise _refusal(file, problems)
    return [named for named in found if named is not None]


def check_requests(requests: Iterable[NamedRequest]) -> None:
    """
    Reject requests that fit no cluster, before any cluster is planned.

    Raises
    ------
    BadInputError
        With every option that is invalid for any cluster.
    """
    from placement.operations.descriptor import OPERATIONS
    from planner.options.cluster_options import check_request

    known = [name for name, each in OPERATIONS.items() if not each.creates_partitions]
    inputs = Gatherer()
    for named in requests:
        goal = named.request.goal
        if goal not in known:
            rule = f"must be one of {', '.join(known)}"
            inputs.problems += _refusal(named.name, [("goal", goal, rule)]).problems
        # Brokers and topics can be checked only against a cluster.
        inputs.read(partial(check_request, named.request, None))
    inputs.raise_problems("bad options")


def _refusal(file: str, problems: Iterable[tuple[str, str, str]]) -> BadInputError:
    found = [
        InputProblem(
            file=file, place=place, value=value, rule=rule, remedy="see docs/fleets.md"
        )
        for place, value, rule in problems
    ]
    return BadInputError(f"{file} is not a list of requests", found)


def _request(
    value: object, place: str, problems: list[tuple[str, str, str]]
) -> NamedRequest | None:
    """Read one request, and add its problems to a list."""
    from pydantic import ConfigDict, ValidationError, create_model

    model = create_model(
        "Request", __config__=ConfigDict(extra="forbid", strict=True), **_kinds(),
        name=(str, ...), goal=(str, ...),
    )  # fmt: skip
    try:
        # Strict validation accepts objects for grouped options only as JSON.
        read: Any = model.model_validate_json(json.dumps(_flat(value)))
    except ValidationError as error:
        for each in error.errors(include_url=False):
            at = ".".join(map(str, (place, *each["loc"])))
            problems.append((at, "", each["msg"]))
        return None
    given = {name: getattr(read, name) for name in read.model_fields_set - {"name"}}
    return NamedRequest(name=read.name, request=PlanRequest(**given))


def _kinds() -> dict[str, Any]:
    """Return the type and the default of each option in a list of requests."""
    kinds: dict[str, Any] = {}
    for name, declared in OPTIONS.items():
        takes = declared.option.takes or (str if declared.words else declared.type)
        kind = Sequence[str] if takes is list else takes
        kinds[name] = (kind | None, None)
    return kinds


def _flat(value: object) -> object:
    """Return a request with the options of `rules` and `own` among the others."""
    if not isinstance(value, dict):
        return value
    groups = [name for name in ("rules", "own") if isinstance(value.get(name), dict)]
    flat = {name: one for name, one in value.items() if name not in groups}
    for name in groups:
        flat |= value[name]
    return flat


def plan_row(
    tables: Mapping[str, ArrowTable],
    header: Mapping[str, Any],
    request: FleetRequest,
) -> dict[str, Any]:
    """
    Return the row of one cluster; any error becomes the reason of the row.

    Parameters
    ----------
    tables
        Tables of the snapshot by name.
    header
        Header of the snapshot.
    request
        The request.

    Returns
    -------
    Values of the columns of the table of results, without `cluster_id` and `taken_at`.
    """
    from planner.snapshot import Snapshot

    row = _request_columns(request)
    began = time.perf_counter()
    try:
        row |= request.answer(Snapshot.from_tables(tables, header))
    except BadInputError as error:
        reason = "; ".join([error.message, *map(str, error.problems[:20])])
        row |= {"status": REFUSED, "reason": reason}
    except Exception as error:  # one cluster must not stop the others
        reason = f"{type(error).__name__}: {error}"
        row |= {"status": FAILED, "reason": reason}
    return row | {"total_s": time.perf_counter() - began}


def unreadable_row(request: FleetRequest, reason: str) -> dict[str, Any]:
    """
    Return the row of a cluster with a file that cannot be read.

    Parameters
    ----------
    request
        The request.
    reason
        Name of the file, and the error.
    """
    row = _request_columns(request)
    return row | {"status": FAILED, "reason": reason, "total_s": 0.0}


def _request_columns(request: FleetRequest) -> dict[str, Any]:
    return {
        "request": request.name,
        "request_hash": request.hash,
        "goal": request.goal,
    }


def plan_columns(plan: "Plan", findings: Iterable["Finding"]) -> dict[str, Any]:
    """Return the columns of a row that describe a plan."""
    from planner.io.plan_file_names import DOCUMENT_NAME
    from planner.plan.folder.plan_folder import plan_files

    files = dict(plan_files(plan))
    text = files.pop(DOCUMENT_NAME)
    document = json.loads(text)
    seconds = plan.placed.seconds
    return {
        "num_findings": sum(found.is_wrong for found in findings),
        **{f"moved_{name}": document["moves"][name] for name in MOVES},
        **_proven(document["certificate"]),
        "solve_s": seconds["solve"],
        "bound_s": seconds["bound"],
        "fingerprint": document["snapshot"]["fingerprint"],
        "certificate": json.dumps(document["certificate"]),
        "plan": text,
        "files": list(files.items()),
    }


def _proven(certificate: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {
        f"{name}_{figure}": certificate[name][figure]
        for name in PROVEN
        for figure in ("value", "lower_bound", "gap")
    }


def reason_of(missing: Sequence[str], findings: Iterable["Finding"]) -> str | None:
    """Return missing quantities and findings of the checker as text; `None`: none."""
    wrong = [str(found.message) for found in findings if found.is_wrong]
    return "; ".join([*missing[:20], *wrong[:20]]) or None
