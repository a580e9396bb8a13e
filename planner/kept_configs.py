"""Which settings of brokers a snapshot keeps: the rest may hold secrets."""

# What a plan or a score may depend on and that holds for the whole cluster.
CLUSTER_CONFIGS = (
    "min.insync.replicas",
    "default.replication.factor",
    "unclean.leader.election.enable",
    "auto.leader.rebalance.enable",
    "leader.imbalance.per.broker.percentage",
    "log.retention.bytes",
    "log.retention.ms",
    "log.retention.hours",
    "log.local.retention.bytes",
    "log.local.retention.ms",
    "remote.log.storage.system.enable",
    "follower.fetch.last.tiered.offset.enable",
    "replica.selector.class",
)
# Written down even where it is Kafka's default: every verdict on an ISR needs it.
ALWAYS_KEPT = "min.insync.replicas"
