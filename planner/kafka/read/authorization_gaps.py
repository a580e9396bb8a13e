"""
Whether a user saw the whole cluster.

Where a right is missing Kafka answers with less, not with an error. What one answer
shows and another hides tells which right it is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planner.errors import ClusterUnavailableError, InputProblem
from planner.kafka.read.cluster_metadata import Look
from planner.kafka.read.topic_metadata import NOT_AUTHORISED
from planner.kept_configs import ALWAYS_KEPT

_NAMES_SHOWN = 5
# Whom no rule binds may do all of these; so may everybody where there is no authorizer.
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
    Something that the user may not see.

    Parameters
    ----------
    what
        What is hidden.
    names
        Brokers or topics it is hidden of.
    needs
        The right that would show it.
    option
        The same right as `kafka-acls` is told of it.
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
    Return whether rules bind the user, so that some topics may be invisible.

    Brokers leave such topics out of log dirs as well: no answer betrays them.
    """
    operations = cluster.get("authorized_operations")
    return operations is not None and not set(operations) >= _ALL_OPERATIONS


def lacks(cluster: Mapping[str, Any], operation: str) -> bool:
    """
    Return whether the user may not do something on the cluster, as far as brokers tell.

    Every right to change includes the right to describe, without which brokers name no
    right at all.
    """
    operations = cluster.get("authorized_operations")
    return operations is not None and operation not in set(operations)


def suspects(look: Look) -> set[str]:
    """Return topics that one answer shows and another does not."""
    hosted = {name.topic for one in look.dirs.values() for name in one.current}
    return (hosted - look.topics.keys()) | (look.topics.keys() - look.topic_configs)


def find_gaps(look: Look) -> list[Gap]:
    """Return what was hidden from the user, if anything."""
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
    """Return the refusal of a cluster that is seen in part."""
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
