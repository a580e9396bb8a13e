"""Plans that are half done on a real cluster: one partition moved, one on its way."""

from dataclasses import dataclass
from pathlib import Path

from kafka import KafkaAdminClient, TopicPartition

from integration.kafka.cluster import Cluster, wait_until
from integration.kafka_tool_output import printed_topics
from integration.messages import Messages
from integration.runs import connected, dirs_of, job_of, plan_folder
from integration.shell import throttles
from integration.steps import create, replicas_of
from planner.execution.run.run import run

BEFORE = [[2, 1], [2, 1], [2, 1]]
LISTS = {0: [1, 3], 1: [1, 3], 2: [1, 2]}
"""
Partition 0 is on its way, 1 has moved, 2 waits: another order, and an election. On the
way back partition 1 is copied, and both get another leader by an election. A cancel
leaves partition 0 in another order.
"""
SLOW = 30_000
"""Bytes per second at which partition 0 is on its way for half a minute."""


@dataclass(frozen=True, slots=True)
class HalfDone:
    """
    A topic with messages, and a plan, of which a run was left or has not begun.

    Parameters
    ----------
    cluster, topic, plan, messages
        Parts of the trial.
    throttles, dirs
        Throttles in force, and log dirs, before the run.
    """

    cluster: Cluster
    topic: str
    plan: Path
    messages: Messages
    throttles: list[str]
    dirs: dict[int, list[str]]

    @property
    def replicas(self) -> list[list[int]]:
        return replicas_of(self.cluster, self.topic)

    def check(self) -> None:
        """Look for messages that are lost, and throttles that are left."""
        self.messages.check()
        assert throttles(self.cluster, until=self.throttles) == self.throttles

    def check_back(self) -> None:
        """Look at lists in order, log dirs, leaders, messages and throttles."""
        printed = printed_topics(
            self.cluster.topics("--describe", "--topic", self.topic)
        )
        found = [one for _, one in sorted(printed.items())]
        assert [one["replicas"] for one in found] == BEFORE
        assert [one["leader"] for one in found] == [row[0] for row in BEFORE]
        assert not any(one["adding_replicas"] for one in found)
        assert dirs_of(self.cluster, self.topic) == self.dirs
        self.check()


def planned(cluster: Cluster, folder: Path, topic: str) -> HalfDone:
    """Return a plan that has not begun."""
    create(cluster, topic, BEFORE)
    messages = Messages(cluster.bootstrap, topic, len(BEFORE))
    messages.write(80, numbers=[0]).write(2)
    plan = plan_folder(cluster, folder, topic, LISTS)
    return HalfDone(
        cluster, topic, plan, messages, throttles(cluster), dirs_of(cluster, topic)
    )


def half_done(cluster: Cluster, folder: Path, topic: str) -> HalfDone:
    """Begin a plan, and leave one partition moved and another on its way."""
    found = planned(cluster, folder, topic)
    _move(cluster, TopicPartition(topic, 1), LISTS[1])
    with connected(cluster.bootstrap) as client:
        for event in run(job_of(found.plan, rate=SLOW), client):
            if event.event == "admitted":
                break
    return found


def _move(cluster: Cluster, name: TopicPartition, replicas: list[int]) -> None:
    """Reassign a small partition at once."""
    with KafkaAdminClient(bootstrap_servers=cluster.bootstrap) as admin:
        admin.alter_partition_reassignments({name: replicas})
        wait_until(lambda: not admin.list_partition_reassignments(), f"{name} to move")
