"""
Detection of parts of a cluster that are hidden from the user.

Without a permission, Kafka returns less instead of an error. Differences between
answers show which permission is missing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.errors import ClusterUnavailableError, InputProblem
from planner.kafka.read.cluster_metadata import Look
from planner.kafka.read.topic_metadata import NOT_AUTHORISED
from planner.kept_configs import ALWAYS_KEPT

_NAMES_SHOWN = 5
# A user without restrictions may do all of these, as may all users without authorizer.
_ALL_OPERATIONS = {
    "CREATE",
    "ALTER",
    "DESCRIBE",
    "CLUSTER_ACTION",
    "DESCRIBE_CONFIGS",
    "ALTER_CONFIGS",
}


@dataclass(frozen=True, slots=True)
class Gap:
    """
    Part of the cluster that is hidden from the user.

    Parameters
    ----------
    what
        Description of the hidden part.
    names
        Brokers or topics whose part is hidden.
    needs
        Permission that shows the part.
    option
        Option of `kafka-acls` for the same permission.
    """

    what: str
    names: tuple[str, ...]
    needs: str
    option: str

    def __str__(self) -> str:
        shown = ", ".join(self.names[:_NAMES_SHOWN])
        more = len(self.names) - _NAMES_SHOWN
        rest = f" and {more} more" if more > 0 else ""
        return f"{self.what} {shown}{rest} (needs {self.needs})"


INVISIBLE = "topics that this user may not describe are invisible, if there are any"


def is_bound(cluster: Mapping[str, Any]) -> bool:
    """
    Return whether the user has restricted permissions, which may hide topics.

    Brokers omit such topics from log dirs as well: no answer reveals them.
    """
    operations = cluster.get("authorized_operations")
    return operations is not None and not set(operations) >= _ALL_OPERATIONS


def lacks(cluster: Mapping[str, Any], operation: str) -> bool:
    """
    Return whether the user lacks an operation on the cluster, if brokers report it.

    Permission to alter includes permission to describe, without which brokers report no
    operations at all.
    """
    operations = cluster.get("authorized_operations")
    return operations is not None and operation not in set(operations)


def suspects(look: Look) -> set[str]:
    """Return topics that some answers show and others do not."""
    hosted = {name.topic for one in look.dirs.values() for name in one.current}
    return (hosted - look.topics.keys()) | (look.topics.keys() - look.topic_configs)


def find_gaps(look: Look) -> list[Gap]:
    """Return the parts of the cluster that are hidden from the user."""
    dark = [str(broker_id) for broker_id, one in look.dirs.items() if not one.dirs]
    hosted = {name.topic for one in look.dirs.values() for name in one.current}
    hosted -= look.gone
    refused = {
        name
        for name, topic in look.topics.items()
        if topic["error_code"] == NOT_AUTHORISED
    }
    hidden = sorted((hosted - set(look.topics)) | refused)
    if not look.topics and is_bound(look.cluster):
        hidden = hidden or ["at all"]
    closed = sorted(set(look.topics) - set(look.topic_configs) - refused)
    sees_configs = ALWAYS_KEPT in look.cluster_configs
    gaps = [
        Gap(
            "no log dirs of brokers",
            tuple(dark),
            "Describe on Cluster",
            "--operation Describe --cluster",
        ),
        Gap(
            "no metadata of topics",
            tuple(hidden),
            "Describe on Topic",
            "--operation Describe --topic '*'",
        ),
        Gap(
            "no configs of topics",
            tuple(closed),
            "DescribeConfigs on Topic",
            "--operation DescribeConfigs --topic '*'",
        ),
        Gap(
            "no configs of",
            ("brokers",) if look.dirs and not sees_configs else (),
            "DescribeConfigs on Cluster",
            "--operation DescribeConfigs --cluster",
        ),
        Gap(
            "no",
            tuple(sorted(look.refused)),
            " and ".join(sorted(set(look.refused.values()))),
            "--operation Describe --cluster",
        ),
    ]
    return [gap for gap in gaps if gap.names]


def half_visible_error(servers: str, gaps: Sequence[Gap]) -> ClusterUnavailableError:
    """Return the error for a cluster that is visible in part."""
    listed = "; ".join(map(str, gaps))
    message = f"{servers}: not authorised to see the whole cluster: {listed}"
    problems = [
        InputProblem(
            file=servers,
            place=gap.what,
            value=", ".join(gap.names[:_NAMES_SHOWN]),
            rule=f"the user needs {gap.needs}",
            remedy=f"kafka-acls --add {gap.option} …, or --allow-partial",
        )
        for gap in gaps
    ]
    return ClusterUnavailableError(message, problems if len(problems) > 1 else ())
