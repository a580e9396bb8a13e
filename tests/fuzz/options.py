"""Draw the options that plans share, and those that one operation has."""

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from placement.model.cluster import BrokerState, ClusterState, LogDirState
from placement.operations.descriptor import OPERATIONS
from placement.operations.fix import Defect
from planner.options.declared.plan_options import OPTIONS

FOLDER = tempfile.TemporaryDirectory(prefix="fuzz-")
"""Files of replication factors; their names say what is in them."""
BANDS = ((), (), (), (), ("0",), ("0.3",), ("disk=0.02", "leaders=0.5"), ("in=0",))
RESOURCES = {
    "leaders": (None, None, "leaders", "out"),
    "log-dirs": (None, None, "disk"),
}
ANY_RESOURCES = (
    *[None] * 6,
    "disk",
    "replicas",
    "replicas,leaders",
    "in,out",
    "cpu,disk",
)
THRESHOLDS = (
    *[()] * 5,
    ("disk=1",),
    ("disk=0.5", "in=0.95"),
    ("out=0.4",),
    ("cpu=1",),
)


def shared_options(draw: Any, goal: str, state: ClusterState) -> dict[str, Any]:
    """Draw options that all plans share, by the names of `PlanRequest`."""
    few = st.sampled_from([None] * 8 + [state.brokers.ids.tolist()])
    ids = draw(few)
    to = None if ids is None else draw(st.sets(st.sampled_from(ids), min_size=1))
    return {
        "band": draw(st.sampled_from(BANDS)),
        "resources": draw(st.sampled_from(RESOURCES.get(goal, ANY_RESOURCES))),
        "capacity_threshold": draw(st.sampled_from(THRESHOLDS)),
        "destination_broker_list": None if to is None else words(to),
        "max_bytes": draw(st.sampled_from([None] * 6 + ["0", "25", "90"])),
        "prefer": draw(st.sampled_from(["bytes", "bytes", "bytes", "moves"])),
        "move_cost_bytes": draw(st.sampled_from([None] * 5 + ["0", "15", "1000"])),
    }


def own_options(
    draw: Any, goal: str, state: ClusterState, defect: Defect | None
) -> dict[str, Any]:
    """Draw the options that an operation has alone."""
    if goal == "replace-broker":
        return _replacement(draw, state)
    if goal == "add-brokers" and draw(st.integers(0, 3)) == 3:
        return {"new_broker": (_new_broker(draw, state),)}
    if goal == "demote":
        dirs = dir_names(state)
        wanted = draw(st.booleans()) and dirs
        return {"log_dirs": draw(_some(dirs)) if wanted else ()}
    if goal == "set-replication-factor":
        return _factors(draw, state)
    if goal == "fix":
        is_alone = draw(st.booleans())
        return {"only": (defect,) if is_alone and defect else ()}
    return _some_named(draw, goal, state)


def _some_named(draw: Any, goal: str, state: ClusterState) -> dict[str, Any]:
    """Draw as many brokers as an option of the operation takes."""
    counts = {name: OPTIONS[name].option.count for name in OPERATIONS[goal].options}
    first = draw(st.sampled_from(with_load(state, goal)))
    others = [b for b in state.brokers.ids.tolist() if b != first]
    return {
        name: words({first, *draw(st.permutations(others))[: count - 1]})
        for name, count in counts.items()
        if count is not None
    }


def emptied_dirs(draw: Any, state: ClusterState) -> tuple[str, ...]:
    """Draw log dirs that shall be emptied, or none."""
    dirs = dir_names(state)
    return draw(_some(dirs)) if dirs and draw(st.booleans()) else ()


def dir_names(state: ClusterState) -> list[str]:
    """Return the log dirs that can be read, as options name them."""
    dirs = state.log_dirs
    owners = state.brokers.ids[dirs.broker_idx].tolist()
    return [
        f"{broker}:{path}"
        for broker, path, kind in zip(owners, dirs.paths, dirs.state, strict=True)
        if kind != LogDirState.OFFLINE
    ]


def words(ids: set[int]) -> str:
    """Return broker ids as an option takes them."""
    return ",".join(map(str, sorted(ids)))


def broker_list(draw: Any, goal: str, state: ClusterState, own: dict[str, Any]) -> Any:
    """Draw the brokers that an operation is about; `None`: it is not told."""
    ids = state.brokers.ids.tolist()
    if goal == "remove-brokers" or (goal == "demote" and not own.get("log_dirs")):
        return words(draw(_some_brokers(with_load(state, goal))))
    if goal != "add-brokers":
        return None
    new = state.brokers.ids[state.brokers.state == BrokerState.NEW].tolist()
    is_told = not new or bool(own.get("new_broker")) or draw(st.integers(0, 4)) == 4
    return words(draw(_some_brokers(new or ids))) if is_told else None


def with_load(state: ClusterState, goal: str) -> list[int]:
    """Return the brokers that hold something, or lead something; else all."""
    rows = state.replicas.broker_idx
    if goal == "demote":
        rows = state.partitions.leader_idx
    busy = sorted({b for b in rows.tolist() if b >= 0})
    return state.brokers.ids[busy].tolist() or state.brokers.ids.tolist()


def _some(names: list[str]) -> Any:
    """Return tuples of one of some names, or now and then of two."""
    one = st.sampled_from(names).map(lambda name: (name,))
    two = st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True)
    return one | one | two.map(tuple)


def _some_brokers(ids: list[int]) -> Any:
    one = st.sampled_from(ids).map(lambda b: {b})
    return one | one | st.sets(st.sampled_from(ids), min_size=1, max_size=2)


def _replacement(draw: Any, state: ClusterState) -> dict[str, Any]:
    ids = state.brokers.ids.tolist()
    old = draw(st.sampled_from(with_load(state, "replace-broker")))
    if draw(st.integers(0, 3)) == 3:
        text = _new_broker(draw, state)
        new = str(max(ids) + 1)
        return {"broker": (str(old),), "with_broker": (new,), "new_broker": (text,)}
    # The last one is new, if any is.
    others = [b for b in ids if b != old]
    new = str(draw(st.sampled_from([*[others[-1]] * 4, *others])))
    return {"broker": (str(old),), "with_broker": (new,)}


def _new_broker(draw: Any, state: ClusterState) -> str:
    ids = state.brokers.ids.tolist()
    rack = draw(st.sampled_from(["", "", ",rack=a", ",rack=c", ",rack=z"]))
    like = draw(st.sampled_from(["", *(f",like={b}" for b in ids)]))
    return f"id={max(ids) + 1}{rack}{like}"


def _factors(draw: Any, state: ClusterState) -> dict[str, Any]:
    """Draw one factor for all topics, or a file of them, or both."""
    wanted = _wanted(state)
    factor = draw(st.sampled_from(wanted))
    if draw(st.booleans()):
        return {"replication_factor": factor}
    names = list(state.topics.names) or ["t0"]
    told = {name: draw(st.sampled_from(wanted)) for name in names[:2]}
    also = factor if draw(st.booleans()) else None
    return {"replication_factors": factors_file(told), "replication_factor": also}


def factors_file(told: dict[str, int]) -> Path:
    """Write the factors of some topics; the same ones always to the same file."""
    title = ",".join(f"{name}={factor}" for name, factor in sorted(told.items()))
    path = Path(FOLDER.name) / f"{title}.toml"
    lines = [
        f"{factor} = {[name for name, wanted in told.items() if wanted == factor]}\n"
        for factor in sorted(set(told.values()))
    ]
    path.write_text("".join(lines))
    return path


def _wanted(state: ClusterState) -> list[int]:
    """Return factors that are not those of all partitions already."""
    there = set(state.num_replicas.tolist())
    least = int(state.topics.min_insync_replicas.max(initial=1))
    most = min(4, state.num_brokers)
    wanted = [n for n in range(1, most + 1) if there != {n}]
    # Below min.insync.replicas it is refused.
    return [n for n in wanted if n >= least] or wanted or [1]
