"""Hypothesis strategies for whole snapshot documents, every field in every state."""

from typing import Any

from hypothesis import strategies as st

TEXTS = st.text(
    st.characters(exclude_categories=["Cs"]), max_size=12
) | st.sampled_from(["", "räck-1", "机架", "a\x00b", "😀", '"\\', " ", ":"])
PATHS = TEXTS.filter(bool)
NAMES = st.from_regex(r"\A[a-zA-Z0-9._-]{1,12}\Z").filter(
    lambda n: n not in {".", ".."}
)
BYTES = st.integers(0, 10**12) | st.just(2**53 + 1)
RATES = st.floats(0, 1e18, allow_nan=False) | st.integers(0, 10**9)
CONFIGS = st.dictionaries(TEXTS, TEXTS, max_size=3)
SAVED = {
    "taken_at": st.just("2026-11-21T08:00:00Z")
    | st.datetimes().map(lambda t: f"{t.isoformat()}+02:00"),
    "rates": st.fixed_dictionaries(
        {},
        optional={
            "source": st.none() | TEXTS,
            "window_s": st.none() | RATES,
            "quantile": st.none() | st.floats(0, 1),
            "split": st.none() | TEXTS,
        },
    ),
    "cluster_id": TEXTS,
    "kafka_version": TEXTS,
    "configs": CONFIGS
    | st.builds(lambda: {"min.insync.replicas": "2", "retention.ms": "86400000"}),
    "features": st.dictionaries(TEXTS, st.integers(0, 2**31 - 1), max_size=2),
    "controllers": st.lists(
        st.fixed_dictionaries(
            {"id": st.integers(0, 2**31 - 1)},
            optional={
                "rack": st.none() | TEXTS,
                "voter": st.none() | st.booleans(),
                "combined": st.none() | st.booleans(),
            },
        ),
        max_size=3,
        unique_by=lambda controller: controller["id"],
    ),
}


def _or_null(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return records whose fields may be there, null, or left out."""
    return st.fixed_dictionaries(
        {}, optional={name: st.none() | values for name, values in fields.items()}
    )


def _log_dirs() -> st.SearchStrategy[list[dict[str, Any]]]:
    sizes = st.none() | st.tuples(BYTES, BYTES).map(sorted)
    record = st.tuples(
        PATHS, sizes, st.sampled_from([None, "online", "offline", "cordoned"])
    )
    return st.lists(record, max_size=3, unique_by=lambda each: each[0]).map(
        lambda records: [
            {"path": path, "state": state}
            | ({"usable_bytes": size[0], "size_bytes": size[1]} if size else {})
            for path, size, state in records
        ]
    )


@st.composite
def brokers(draw: st.DrawFn, broker_id: int) -> dict[str, Any]:
    """Draw one broker record; `disk_bytes` agrees with its log dirs."""
    states = ["alive", "new", "demoted", "shutting-down", "fenced", "dead"]
    record = {"id": broker_id} | draw(
        _or_null(
            rack=TEXTS,
            host=TEXTS,
            state=st.sampled_from(states),
            broker_set=TEXTS,
            in_bytes_per_s=RATES,
            out_bytes_per_s=RATES,
            cpu_cores=RATES,
            max_replicas=st.integers(0, 10**6),
            configs=CONFIGS,
            tags=CONFIGS,
            log_dirs=_log_dirs(),
        )
    )
    online = [
        log_dir.get("size_bytes")
        for log_dir in record.get("log_dirs") or []
        if log_dir["state"] != "offline"
    ]
    if not record.get("log_dirs") or None in online:
        record["disk_bytes"] = draw(st.none() | BYTES)
    elif draw(st.booleans()):
        record["disk_bytes"] = sum(online)
    return record


@st.composite
def partitions(
    draw: st.DrawFn, number: int, known: list[dict[str, Any]]
) -> dict[str, Any]:
    """Draw one partition record on known brokers."""
    paths_of = {
        b["id"]: [each["path"] for each in b.get("log_dirs") or []] for b in known
    }
    replicas = draw(
        st.lists(st.sampled_from(sorted(paths_of)), min_size=1, max_size=5, unique=True)
    )
    members = st.lists(st.sampled_from(replicas), unique=True)
    some = st.lists(st.sampled_from(replicas), unique=True, max_size=len(replicas) - 1)
    paths = st.tuples(
        *(
            st.none() | (st.sampled_from(paths_of[b]) if paths_of[b] else PATHS)
            for b in replicas
        )
    ).map(list)
    size = len(replicas)
    return {"partition": number, "replicas": replicas} | draw(
        _or_null(
            leader=st.sampled_from(replicas),
            isr=members,
            elr=members,
            last_known_elr=members,
            adding_replicas=some,
            removing_replicas=members,
            offline_replicas=members,
            log_dirs=paths,
            future_log_dirs=paths,
            size_bytes=BYTES,
            replica_bytes=st.lists(st.none() | BYTES, min_size=size, max_size=size),
            remote_bytes=BYTES,
            in_bytes_per_s=RATES,
            out_bytes_per_s=RATES,
            leader_cpu_cores=RATES,
            follower_cpu_cores=RATES,
        )
    )


@st.composite
def topics(draw: st.DrawFn, name: str, known: list[dict[str, Any]]) -> dict[str, Any]:
    """Draw one topic record; without partitions if there are no brokers."""
    numbers = draw(st.lists(st.integers(0, 9), max_size=4, unique=True))
    record = {"name": name} | draw(
        _or_null(
            topic_id=TEXTS,
            storage=st.sampled_from(["local", "tiered", "shared", "unknown"]),
            configs=CONFIGS | st.builds(lambda: {"min.insync.replicas": "3"}),
            tags=CONFIGS,
        )
    )
    if known:
        record["partitions"] = [draw(partitions(n, known)) for n in numbers]
    return record


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a valid snapshot document, rows in any order."""
    ids = st.integers(0, 9) | st.sampled_from([2**31 - 1, 100_000])
    known = [
        draw(brokers(broker_id))
        for broker_id in draw(st.lists(ids, max_size=5, unique=True))
    ]
    names = draw(st.lists(NAMES, max_size=4, unique=True))
    return (
        {"format": "kafka-planner/snapshot", "version": 1}
        | draw(_or_null(**SAVED))
        | {"brokers": known, "topics": [draw(topics(name, known)) for name in names]}
    )


def small_document(**changes: Any) -> dict[str, Any]:
    """Return a snapshot of three brokers and one topic of two partitions."""
    return {
        "format": "kafka-planner/snapshot",
        "version": 1,
        "cluster_id": "small",
        "brokers": [
            {
                "id": b,
                "rack": rack,
                "log_dirs": [
                    {"path": "/d1", "size_bytes": 600, "usable_bytes": 300},
                    {"path": "/d2", "size_bytes": 400},
                ],
            }
            for b, rack in ((1, "a"), (2, "b"), (3, "c"))
        ],
        "topics": [
            {
                "name": "orders",
                "partitions": [
                    {
                        "partition": 0,
                        "replicas": [1, 2],
                        "leader": 1,
                        "isr": [1, 2],
                        "log_dirs": ["/d1", "/d2"],
                        "size_bytes": 100,
                        "in_bytes_per_s": 1.5,
                    },
                    {"partition": 1, "replicas": [2, 3], "size_bytes": 200},
                ],
            }
        ],
    } | changes
