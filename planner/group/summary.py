"""What `group show` says of a group."""

from typing import Any

import numpy as np

from planner.group.document import GroupDocument, lags_of


def summarize(document: GroupDocument) -> dict[str, Any]:
    """Return what there is to say of a group, as it stands in `--format json`."""
    record = document.record
    group = document.to_group()
    claims = np.bincount(group.owned.idx, minlength=group.num_partitions)
    members = [
        {
            "member_id": member.member_id,
            "group_instance_id": member.group_instance_id,
            "client_id": member.client_id,
            "host": member.host,
            "rack": member.rack,
            "topics": [group.topics.names[t] for t in group.subscribed.of(row)],
            "partitions": len(group.owned.of(row)),
            "load": float(group.partitions.weight[group.owned.of(row)].sum()),
            "lag": _sum_lags(document, row),
        }
        for row, member in enumerate(record.members)
    ]
    return {
        "group_id": record.group_id,
        "type": record.type,
        "state": record.state,
        "assignor": record.assignor,
        "coordinator": record.coordinator,
        "num_members": len(members),
        "num_partitions": group.num_partitions,
        "unowned": int(np.count_nonzero(np.equal(claims, 0))),
        "claimed_twice": int(np.count_nonzero(claims > 1)),
        "idle_members": [m["member_id"] for m in members if not m["partitions"]],
        "lag": _total([lag for topic in record.topics for lag in lags_of(topic)]),
        "topics": [
            {
                "name": topic.name,
                "partitions": topic.partitions,
                "committed": sum(
                    offset is not None for offset in topic.committed_offsets or ()
                ),
                "lag": _total(lags_of(topic)),
                "largest_lag": max(
                    (lag for lag in lags_of(topic) if lag is not None), default=None
                ),
            }
            for topic in record.topics
        ],
        "members": members,
        "notes": list(document.notes),
    }


def _sum_lags(document: GroupDocument, member: int) -> int | None:
    lags = {topic.name: lags_of(topic) for topic in document.record.topics}
    owned = document.record.members[member].owned or {}
    return _total(
        [
            lags[name][number]
            for name, numbers in owned.items()
            if name in lags
            for number in numbers
            if number < len(lags[name])
        ]
    )


def _total(lags: list[int | None]) -> int | None:
    """Return the sum of what is known; `None` if nothing is."""
    known = [lag for lag in lags if lag is not None]
    return sum(known) if known else None
