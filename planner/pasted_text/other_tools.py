"""Outputs of other tools that no importer reads, and what to give in their place."""

_REPLICAS = "take kcat -L -J for --kcat, or kafka-topics --describe for --topics"
_STATE = "kafka_cluster_state?verbose=true and load for --cruise-control"

OTHER_TOOLS = (
    (
        r'"(?:MonitorState|ExecutorState|AnalyzerState|AnomalyDetectorState)"\s*:',
        f"Cruise Control's state, which names no replicas: take {_STATE}",
    ),
    (
        r'"(?:proposals|goalSummary|numReplicaMovements)"\s*:',
        f"Cruise Control's proposals, which say what it would change: take {_STATE}",
    ),
    (
        r'"(?:operationProgress|userTasks)"\s*:',
        "Cruise Control's progress: ask again once the operation has ended",
    ),
    (
        r'"kind"\s*:\s*"Kafka(?:Partition|Replica|Topic|Broker)(?:List)?"'
        r'|"topic_name"\s*:',
        f"an answer of Confluent's tools, which is not read: {_REPLICAS}",
    ),
    (
        r'"(?:ClusterInfo|ClusterInfoList|NodeInfoList|BrokerNodeInfo)"\s*:',
        f"an answer of aws kafka, which names no replicas: {_REPLICAS}; types of "
        "instances go into the column instance_type of a table for --brokers",
    ),
    (
        r'"(?:inSync|inSyncs|inSyncReplicas|underReplicatedPartitions)"\s*:',
        f"an export of a console for Kafka, which is not read: {_REPLICAS}",
    ),
    (
        r"^CLUSTER HEALTH OVERVIEW|^[ \t]*BROKER\s+DIR\s+TOPIC\s+PARTITION\s+SIZE"
        r"|^[ \t]*NAME\s+PARTITIONS\s+REPLICAS|^[ \t]*(?:NODE-ID|ID)\s+.*\bIS-ALIVE\b"
        r'|^[ \t]*ID\s+HOST\s+PORT(?:\s+RACK)?[ \t\r]*$|"ns"\s*:\s*"kafka"',
        f"an output of rpk, which is not read: {_REPLICAS}",
    ),
    (
        r'"beans"\s*:|"mbean"\s*:|"OneMinuteRate"\s*:',
        "an answer of JMX, which is not read: ask Prometheus by --print-queries jmx, "
        "or put rates into a table for --rates",
    ),
    (
        r'^\[zk: |"removing_replicas"\s*:|"partitions"\s*:\s*\{\s*"[0-9]+"\s*:\s*\[',
        f"a node of ZooKeeper, which is not read: {_REPLICAS}",
    ),
    (
        r"\bPartitionRegistration\(|\"type\"\s*:\s*\"PARTITION_RECORD\"",
        f"metadata of KRaft, which is not read: {_REPLICAS}",
    ),
    (
        r'"errorType"\s*:|"status"\s*:\s*"error"',
        "an error of Prometheus: correct the query, see --print-queries",
    ),
    (
        r'"status"\s*:\s*"success"\s*,\s*"data"\s*:\s*\[',
        "a list of series or labels of Prometheus: ask /api/v1/query, see "
        "--print-queries",
    ),
    (
        r'"frames"\s*:\s*\[|"panels"\s*:\s*\[',
        "a document of Grafana: ask Prometheus' /api/v1/query, see --print-queries",
    ),
    (
        r"^[ \t]*(?:oldestOffset|newestOffset|inSyncReplicas):",
        f"an output of kafkactl, which is not read: {_REPLICAS}",
    ),
)
"""Pattern of each output, and words that end the sentence ``this looks like …``."""
