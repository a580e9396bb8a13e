"""
Errors of `placement`.

::

    PlacementError
    ├── InvalidClusterError (ValueError)   a description that contradicts itself
    ├── ProofError                         a plan below its own bound: a bug here
    └── KafkaRefusalError (ValueError)     Kafka would refuse it, in Kafka's words
        ├── InvalidPartitionsError
        ├── InvalidReplicationFactorError
        ├── InvalidReplicaAssignmentError
        ├── AdminOperationError
        ├── AdminCommandFailedError
        └── UnknownTopicOrPartitionError
"""

from collections.abc import Sequence


class PlacementError(Exception):
    """Base of every error that `placement` raises on purpose."""


class InvalidClusterError(PlacementError, ValueError):
    """
    The description of a cluster contradicts itself.

    Parameters
    ----------
    problems
        One sentence per problem, each naming the thing, its value and the rule. All
        problems are reported at once.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        listed = "\n".join(f"  - {problem}" for problem in self.problems)
        super().__init__(f"{len(self.problems)} problem(s) in the cluster:\n{listed}")


class ProofError(PlacementError):
    """A plan's value contradicts a proven bound: the plan or the bound is wrong."""


class KafkaRefusalError(PlacementError, ValueError):
    """
    An input that Kafka or its own tool would refuse; the message is Kafka's.

    Each subclass has the name of the exception that Kafka throws.
    """


class InvalidPartitionsError(KafkaRefusalError):
    """The number of partitions is invalid."""


class InvalidReplicationFactorError(KafkaRefusalError):
    """The replication factor cannot be reached."""


class InvalidReplicaAssignmentError(KafkaRefusalError):
    """A given list of replicas is invalid."""


class AdminOperationError(KafkaRefusalError):
    """The operation contradicts the state of the cluster."""


class AdminCommandFailedError(KafkaRefusalError):
    """The arguments of a command contradict each other."""


class UnknownTopicOrPartitionError(KafkaRefusalError):
    """The topic or partition does not exist."""
