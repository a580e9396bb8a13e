"""Commands of Kafka's own tools, as documents and screens print them."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass

ANY_SERVER = "--bootstrap-server HOST:PORT"
"""Connection of a command while no cluster is named."""


def connection_options(servers: str, command_config: str | None = None) -> str:
    """Return the options by which Kafka's tools and this one connect to a cluster."""
    options = f"--bootstrap-server {shlex.quote(servers)}"
    if command_config is None:
        return options
    return f"{options} --command-config {shlex.quote(command_config)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaCommands:
    """
    Command lines for one cluster.

    Parameters
    ----------
    connection
        Options of the connection; see `connection_options`.
    """

    connection: str = ANY_SERVER

    def execute(
        self,
        file: str,
        *,
        throttle: str | None = None,
        log_dir_throttle: str | None = None,
    ) -> str:
        """
        Return the command that starts a reassignment.

        Parameters
        ----------
        file
            The reassignment file.
        throttle, log_dir_throttle
            Bytes/s of copies between brokers, and between log dirs of a broker.
        """
        limits = [
            f" {option} {value}"
            for option, value in (
                ("--throttle", throttle),
                ("--replica-alter-log-dirs-throttle", log_dir_throttle),
            )
            if value is not None
        ]
        return self._reassign(file, f"--execute{''.join(limits)}")

    def verify(self, file: str) -> str:
        """Return the command that shows progress and, at the end, removes throttles."""
        return self._reassign(file, "--verify")

    def cancel(self, file: str, *, keeps_throttles: bool = False) -> str:
        """
        Return the command that cancels the running reassignments of a file.

        Parameters
        ----------
        file
            The reassignment file.
        keeps_throttles
            Whether throttles are kept. Needed while a broker is down: the tool would
            wait for that broker to remove its throttle, and fail.
        """
        keeps = " --preserve-throttles" if keeps_throttles else ""
        return self._reassign(file, f"--cancel{keeps}")

    def list_moves(self) -> str:
        """Return the command that lists every reassignment of the cluster."""
        return f"kafka-reassign-partitions.sh {self.connection} --list"

    def elect(self, file: str) -> str:
        """Return the command that elects the preferred leaders of a file."""
        return (
            f"kafka-leader-election.sh {self.connection} --election-type preferred "
            f"--path-to-json-file {shlex.quote(file)}"
        )

    def create_partitions(self, topic: str, count: int, *, is_new: bool) -> str:
        """
        Return the command that creates a topic, or adds partitions to a topic.

        Parameters
        ----------
        topic
            Name of the topic.
        count
            Number of its partitions afterwards.
        is_new
            Whether the topic is created; else partitions are added.
        """
        name = shlex.quote(topic)
        action = "--create" if is_new else "--alter"
        counted = "" if is_new else f" --partitions {count}"
        return (
            f"kafka-topics.sh {self.connection} {action} --topic {name}{counted} "
            '--replica-assignment "$(cat replica-assignment.txt)"'
        )

    def delete_topic(self, topic: str) -> str:
        """Return the command that deletes a topic with its records."""
        name = shlex.quote(topic)
        return f"kafka-topics.sh {self.connection} --delete --topic {name}"

    def set_configs(self, entity: str, configs: Iterable[str]) -> str:
        """Return the command that sets configs (``KEY=VALUE``) of an entity."""
        return self._configs(entity, f"--add-config {shlex.quote(','.join(configs))}")

    def delete_configs(self, entity: str, keys: Iterable[str]) -> str:
        """Return the command that removes configs of an entity."""
        return self._configs(entity, f"--delete-config {','.join(keys)}")

    def _reassign(self, file: str, action: str) -> str:
        return (
            f"kafka-reassign-partitions.sh {self.connection} "
            f"--reassignment-json-file {shlex.quote(file)} {action}"
        )

    def _configs(self, entity: str, change: str) -> str:
        return f"kafka-configs.sh {self.connection} --alter {entity} {change}"


ALL_BROKERS = "--entity-type brokers --entity-default"


def broker_entity(broker: int | str) -> str:
    """Return the options of `kafka-configs` that name a broker."""
    return f"--entity-type brokers --entity-name {shlex.quote(str(broker))}"


def topic_entity(topic: str) -> str:
    """Return the options of `kafka-configs` that name a topic."""
    return f"--entity-type topics --entity-name {shlex.quote(topic)}"
