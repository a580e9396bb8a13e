"""Small consumer groups for tests, and groups as the golden vectors have them."""

from typing import Any

from hypothesis import strategies as st

from assignment.check import Finding, check
from assignment.group import NOT_SENT, Group
from assignment.make_group import MemberSpec, TopicSpec, make_group
from assignment.outcome import Assignment


def group_of(
    topics: dict[str, int],
    members: dict[str, str | list[str]],
    owned: dict[str, dict[str, list[int]]] | None = None,
    **specs: Any,
) -> Group:
    """
    Make a group to be read at a glance.

    ``group_of({"t0": 3}, {"c0": "t0", "c1": "t0"}, {"c0": {"t0": [0]}})``; `specs` are
    the other fields of members, by field: ``rack={"c0": "a"}``.
    """
    return make_group(
        [TopicSpec(name=name, num_partitions=n) for name, n in topics.items()],
        [
            MemberSpec(
                member_id=member,
                topics=names.split() if isinstance(names, str) else names,
                owned=(owned or {}).get(member, {}),
                **{key: by[member] for key, by in specs.items() if member in by},
            )
            for member, names in members.items()
        ],
    )


def checked(assignor: Any, group: Group) -> Assignment:
    """Return what an assignor answers, once the checker has nothing against it."""
    assignment: Assignment = assignor.assign(group)
    is_cooperative = assignor.name == "cooperative-sticky"
    findings = check(group, assignment.member_idx, is_cooperative=is_cooperative)
    if "sticky" in assignor.name:
        findings = [f for f in findings if not _is_handed_back(group, f)]
    assert findings == []
    return assignment


def _is_handed_back(group: Group, finding: Finding) -> bool:
    """Tell whether Kafka's sticky assignors are known to do that, wrong as it is."""
    if finding.rule != "not-subscribed":
        return False
    member = group.members.ids.index(finding.member)
    name = f"{finding.topic}-{finding.partition}"
    return group.members.generation[member] < group.members.generation.max() and any(
        group.name_of(row) == name for row in group.owned.of(member).tolist()
    )


TOPICS = ["t0", "t1", "t2", "t3"]
RACKS = ["a", "b", "c"]


@st.composite
def groups(
    draw: st.DrawFn,
    *,
    max_partitions: int = 6,
    max_members: int = 5,
    is_equal: bool = False,
    has_racks: bool = False,
) -> Group:
    """Groups in any state: fresh, after joins and leaves, with double claims."""
    sizes = draw(st.lists(st.integers(1, max_partitions), min_size=1, max_size=4))
    names = TOPICS[: len(sizes)]
    topics = [
        TopicSpec(name=name, num_partitions=size, racks=_racks(draw, size, has_racks))
        for name, size in zip(names, sizes, strict=True)
    ]
    ids = draw(
        st.lists(
            st.sampled_from([f"c{n}" for n in range(12)]),
            min_size=1,
            max_size=max_members,
            unique=True,
        )
    )
    subscriptions = st.lists(st.sampled_from(names), unique=True, min_size=1)
    common = draw(subscriptions)
    members = [
        MemberSpec(
            member_id=member,
            instance_id=draw(st.none() | st.just(f"i-{member}")),
            rack=draw(st.none() | st.sampled_from(RACKS)) if has_racks else None,
            topics=common if is_equal else draw(subscriptions),
            owned=draw(_owned(names, sizes)),
            generation=draw(st.sampled_from([NOT_SENT, 4, 4, 4, 3])),
        )
        for member in ids
    ]
    return make_group(topics, members)


def _racks(draw: st.DrawFn, size: int, has_racks: bool) -> list[list[str]] | None:
    if not has_racks:
        return None
    some = st.lists(st.sampled_from(RACKS), unique=True, max_size=3)
    return [draw(some) for _ in range(size)]


def _owned(
    names: list[str], sizes: list[int]
) -> st.SearchStrategy[dict[str, list[int]]]:
    each = {
        name: st.lists(st.integers(0, size - 1), unique=True, max_size=size)
        for name, size in zip(names, sizes, strict=True)
    }
    return st.just({}) | st.fixed_dictionaries({}, optional=each)


def named(group: Group, assignment: Assignment) -> dict[str, dict[str, list[int]]]:
    """Return an assignment as member -> topic -> partitions, as Kafka names them."""
    found: dict[str, dict[str, list[int]]] = {m: {} for m in group.members.ids}
    for row, member in enumerate(assignment.member_idx.tolist()):
        if member >= 0:
            topic, _, number = group.name_of(row).rpartition("-")
            of_member = found[group.members.ids[member]]
            of_member.setdefault(topic, []).append(int(number))
    return {m: dict(sorted(topics.items())) for m, topics in found.items()}


def client_group(given: dict[str, Any]) -> Group:
    """Make the group of a ``client_*`` vector."""
    topics = [
        TopicSpec(
            name=name,
            num_partitions=what if isinstance(what, int) else len(what),
            racks=None if isinstance(what, int) else what,
        )
        for name, what in given["topics"].items()
    ]
    return make_group(topics, [_member(member) for member in given["members"]])


def _member(given: dict[str, Any]) -> MemberSpec:
    def sent(key: str) -> int:
        return NOT_SENT if given.get(key) is None else int(given[key])

    return MemberSpec(
        member_id=given["id"],
        instance_id=given.get("instance"),
        rack=given.get("rack"),
        topics=given["topics"],
        owned=given.get("owned", {}),
        generation=sent("generation"),
        subscription_generation=sent("subscription_generation"),
    )


def server_group(given: dict[str, Any]) -> Group:
    """Make the group of a ``server_*`` vector; topics as the server walks them."""
    by_name = {topic["name"]: topic for topic in given["topics"]}
    order = [*given.get("topic_order", ()), *by_name]
    missing = {
        name
        for member in given["members"]
        for name in member["topics"]
        if name not in by_name
    }
    specs = [
        TopicSpec(
            name=name,
            num_partitions=by_name[name]["partitions"],
            topic_id=by_name[name]["id"],
        )
        for name in dict.fromkeys(order)
        if name in by_name
    ]
    specs += [
        TopicSpec(name=name, num_partitions=0, topic_id=given.get("missing_topic_id"))
        for name in sorted(missing)
    ]
    return make_group(specs, [_member(member) for member in given["members"]])
