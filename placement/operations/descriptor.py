"""Descriptors of all operations: effect on the draft, own options, wording."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from placement.operations.operation import Operation


_COPIES = ("with_log_dirs",)
"""Options of operations that copy replicas."""
_REPAIRS = ("rebalance", *_COPIES)
"""Options of operations that may also move replicas that they need not move."""
_EXPECTED = (
    *("partitions", "in_bytes_per_s", "out_bytes_per_s", "size_bytes"),
    "replica_assignment",
)
"""Options of partitions that do not exist yet."""
_KEYS = (
    *("keys", "partitioner", "sample_format"),
    *("key_column", "key_type", "schema_id"),
)
"""Options of a sample of keys, of a topic that grows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationDescriptor:
    """
    Facts of an operation that other code asks for, in place of its name.

    Parameters
    ----------
    name
        Name on the command line and in plan.json.
    class_path
        Module below this package, and class in it that fills the draft.
    panel, help
        Title of the group of the command, and its help: a sentence, then paragraphs.
    moves
        Replicas, leaders or log dirs that may move, for the docs.
    options
        Declared names of the options that not all operations have.
    subject
        Settings of plan.json or masks of brokers in the draft that the first line of
        the screen names.
    joint
        Text between two of them.
    empties
        Option of the brokers that must hold nothing afterwards.
    demotes
        Option of the brokers that must lead nothing afterwards; no other leader
        changes.
    fills_new
        Whether copies go to new brokers only, so that others may stay below their band.
    changes_factors
        Whether lists of existing partitions may become longer or shorter.
    holds_bands
        Whether brokers are brought into their bands.
    is_order_only
        Whether only the order of lists changes.
    is_inside
        Whether replicas only change their log dir inside their broker.
    is_minimal
        Whether only what must change changes, not other leaders either.
    creates_partitions, creates_topic
        Whether the plan places partitions that do not exist yet, of a new topic.
    """

    name: str
    class_path: str
    panel: str
    help: str
    moves: str = ""
    options: tuple[str, ...] = ()
    subject: tuple[str, ...] = ()
    joint: str = ", "
    empties: str | None = None
    demotes: str | None = None
    fills_new: bool = False
    changes_factors: bool = False
    holds_bands: bool = True
    is_order_only: bool = False
    is_inside: bool = False
    is_minimal: bool = False
    creates_partitions: bool = False
    creates_topic: bool = False

    @property
    def operation(self) -> "type[Operation]":
        """Class that fills the draft, loaded on first use: help needs no numpy."""
        module, _, name = self.class_path.partition(".")
        found: type[Operation] = getattr(import_module(f"{__package__}.{module}"), name)
        return found

    @property
    def purpose(self) -> str:
        """First sentence of the help, as a phrase."""
        first = self.help.strip().partition(".\n")[0]
        return first[0].lower() + first[1:]


_DESCRIPTORS = (
    OperationDescriptor(
        name="rebalance",
        class_path="rebalance.Rebalance",
        panel="Balance",
        moves="anything that is not excluded; dead brokers are emptied",
        options=_COPIES,
        help="""
        Balance all brokers by the fewest bytes.

        Every broker is brought into its band, and dead brokers are emptied. Exits 0 if
        all hard rules hold afterwards, 4 if not (the best plan is given).

        Example: kafka-planner plan rebalance prod.json --band 0.05 -o plan
        """,
    ),
    OperationDescriptor(
        name="add-brokers",
        class_path="add_brokers.AddBrokers",
        panel="Change brokers",
        moves="copies only onto the new brokers, leadership anywhere",
        options=("broker_list", "new_broker", *_REPAIRS),
        subject=("is_new",),
        fills_new=True,
        help="""
        Move replicas to new brokers.

        New brokers are those of state `new`, or those of --broker-list. Replicas are
        copied to new brokers only; leadership may change anywhere. Brokers that do not
        exist yet: --new-broker id=7,rack=c,like=3.

        Example: kafka-planner plan add-brokers prod.json --broker-list 10-12 -o plan
        """,
    ),
    OperationDescriptor(
        name="remove-brokers",
        class_path="remove_brokers.RemoveBrokers",
        panel="Change brokers",
        moves="only the replicas of these brokers; leadership anywhere",
        options=("broker_list", *_REPAIRS),
        subject=("leaves",),
        empties="broker_list",
        help="""
        Empty brokers; only their replicas move.

        Exits 4 where a replica has no legal place, and prints what is missing.

        Example: kafka-planner plan remove-brokers prod.json --broker-list 4 -o plan
        """,
    ),
    OperationDescriptor(
        name="leaders",
        class_path="leaders.Leaders",
        panel="Balance",
        moves="the order of lists",
        options=("order_followers",),
        is_order_only=True,
        help="""
        Balance leaders by reordering replica lists.

        Nothing is copied. Numbers of leaders are as even as possible by the fewest
        changes, which is proven; then bytes out are brought into their bands.

        Example: kafka-planner plan leaders prod.json --order-followers -o plan
        """,
    ),
    OperationDescriptor(
        name="replace-broker",
        class_path="replace_broker.ReplaceBroker",
        panel="Change brokers",
        moves="only the replicas of the old broker, to the new one",
        options=("broker", "with_broker", "new_broker", *_REPAIRS),
        subject=("broker", "with_broker"),
        joint=" by ",
        empties="broker",
        is_minimal=True,
        help="""
        Replace a broker by another.

        The other broker gets the same replicas, in the same positions. A replica that
        cannot go there is listed, and stays: exit code 4.

        Example: kafka-planner plan replace-broker prod.json --broker 3 --with 9 -o plan
        """,
    ),
    OperationDescriptor(
        name="swap",
        class_path="swap.Swap",
        panel="Change brokers",
        moves="only the replicas of the two brokers, each to the other; all or none",
        options=("brokers", *_COPIES),
        subject=("brokers",),
        is_minimal=True,
        help="""
        Exchange the roles of two brokers.

        Each gets the replicas of the other, in the same positions; lists with both
        exchange their positions. If a rule or a capacity stands in the way of one of
        them, nothing moves, and what stands in the way is listed: exit code 4.

        Example: kafka-planner plan swap prod.json --brokers 3,7 -o plan
        """,
    ),
    OperationDescriptor(
        name="demote",
        class_path="demote.Demote",
        panel="Change brokers",
        moves="the order of lists",
        options=("broker_list", "log_dirs"),
        subject=("broker_list", "log_dirs"),
        demotes="broker_list",
        holds_bands=False,
        help="""
        Take leadership off brokers or log dirs.

        Their replicas become the last in the lists; nothing is copied. Partitions that
        no other live in-sync replica can lead are listed: exit code 4.

        Example: kafka-planner plan demote prod.json --broker-list 4 -o plan
        """,
    ),
    OperationDescriptor(
        name="set-replication-factor",
        class_path="set_replication_factor.SetReplicationFactor",
        panel="Change topics",
        moves="nothing that exists; copies come, or copies go",
        options=("replication_factor", "replication_factors", *_REPAIRS),
        subject=("replication_factor",),
        changes_factors=True,
        help="""
        Add or remove replicas; those kept stay in place.

        Added replicas follow bands and racks. The last in-sync replica of a partition
        is never removed.

        Example: kafka-planner plan set-replication-factor prod.json --topics
        "orders[.].*" --replication-factor 3 -o plan
        """,
    ),
    OperationDescriptor(
        name="fix",
        class_path="fix.Fix",
        panel="Repair",
        moves="only what is broken",
        options=("only", "lost", *_REPAIRS),
        subject=("only",),
        changes_factors=True,
        is_minimal=True,
        help="""
        Repair replicas, log dirs, racks and factors.

        Offline replicas, failed log dirs, crowded racks and wrong replication factors
        are repaired by the fewest copies. Exits 4 where a repair is impossible, and
        prints what is missing; 3 where replicas stay on fenced brokers, which may come
        back.

        Example: kafka-planner plan fix prod.json --only offline -o plan
        """,
    ),
    OperationDescriptor(
        name="new-topic",
        class_path="new_partitions.NewPartitions",
        panel="Change topics",
        moves="new replicas only",
        options=("replication_factor", "topic_config", *_EXPECTED),
        holds_bands=False,
        creates_partitions=True,
        creates_topic=True,
        help="""
        Place a new topic by load, capacity and racks.

        --topic is its name. Nothing else moves. Writes the replica assignment for
        kafka-topics --create, or creates the topic with --apply --yes.

        Example: kafka-planner plan new-topic prod.json --topic orders --partitions 24
        --replication-factor 3 --in-bytes-per-s 20MB/s -o plan
        """,
    ),
    OperationDescriptor(
        name="add-partitions",
        class_path="new_partitions.NewPartitions",
        panel="Change topics",
        moves="new replicas only",
        options=(*_EXPECTED, *_KEYS),
        holds_bands=False,
        creates_partitions=True,
        help="""
        Place additional partitions of a topic.

        --topic is its name, --partitions its number of partitions afterwards. Existing
        partitions stay, but keys may map to others; --keys counts those of a sample. A
        new partition is assumed to carry the mean of the existing ones, unless options
        give its load.

        Example: kafka-planner plan add-partitions prod.json --topic orders --partitions
        48 -o plan
        """,
    ),
    OperationDescriptor(
        name="log-dirs",
        class_path="log_dirs.LogDirs",
        panel="Balance",
        moves="log dirs inside brokers",
        options=("empty",),
        is_inside=True,
        help="""
        Balance log dirs inside their brokers.

        Log dirs of --empty are emptied. No replica changes its broker. Exits 4 where a
        log dir cannot be emptied.

        Example: kafka-planner plan log-dirs prod.json --empty 3:/data/d1 -o plan
        """,
    ),
)
OPERATIONS: Mapping[str, OperationDescriptor] = {
    each.name: each for each in _DESCRIPTORS
}
"""All operations by name, in the order of the commands."""
_NONE = OperationDescriptor(
    name="", class_path="rebalance.Rebalance", panel="", help=""
)
"""Facts of a plan.json that names no operation."""


def describe(name: str | None) -> OperationDescriptor:
    """Return the descriptor of an operation; one without special facts by default."""
    return OPERATIONS.get(name or "", _NONE)


def name_of(operation: "Operation") -> str:
    """Return the name of an operation on the command line."""
    return next(
        name
        for name, each in OPERATIONS.items()
        if isinstance(operation, each.operation)
    )
