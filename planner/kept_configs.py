"""Broker configs that a snapshot keeps; all others may contain secrets."""

# Configs that a plan or a score may depend on and that apply to the whole cluster.
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
# Kept even if it is Kafka's default: every check of an ISR needs it.
ALWAYS_KEPT = "min.insync.replicas"
