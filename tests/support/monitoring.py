"""What Cruise Control, Prometheus and Strimzi would say of a small cluster."""

import json
from typing import Any

STATE: dict[str, Any] = {
    "KafkaBrokerState": {
        "LeaderCountByBrokerId": {"1": 1, "2": 1},
        "OnlineLogDirsByBrokerId": {
            "1": ["/d1", "/d2"],
            "2": ["/d1"],
            "3": ["broker_dead"],
        },
        "OfflineLogDirsByBrokerId": {"1": [], "2": ["/d2"], "3": ["broker_dead"]},
        "BrokerSetByBrokerId": {"1": "blue", "2": "blue"},
        "Summary": {"Brokers": 3, "Topics": 2, "Replicas": 5},
    },
    "KafkaPartitionState": {
        "offline": [],
        "urp": [
            {
                "topic": "logs.eu",
                "partition": 0,
                "leader": 2,
                "replicas": [3, 2],
                "in-sync": [2],
                "out-of-sync": [3],
                "offline": [3],
                "min-isr": 1,
            }
        ],
        "with-offline-replicas": [
            {
                "topic": "logs.eu",
                "partition": 0,
                "leader": 2,
                "replicas": [3, 2],
                "in-sync": [2],
                "out-of-sync": [3],
                "offline": [3],
                "min-isr": 1,
            }
        ],
        "under-min-isr": [],
        "other": [
            {
                "topic": "orders",
                "partition": 0,
                "leader": 1,
                "replicas": [1, 2],
                "in-sync": [1, 2],
                "out-of-sync": [],
                "offline": [],
                "min-isr": 2,
            },
            {
                "topic": "orders",
                "partition": 1,
                "leader": 2,
                "replicas": [2],
                "in-sync": [2],
                "out-of-sync": [],
                "offline": [],
                "min-isr": 2,
            },
        ],
    },
    "version": 1,
}
LOAD: dict[str, Any] = {
    "version": 1,
    "hosts": [],
    "brokers": [
        {
            "Host": "k1",
            "Broker": 1,
            "Rack": "a",
            "BrokerState": "ALIVE",
            "DiskMB": 1.0,
            "DiskCapacityMB": 200.0,
            "NetworkInCapacity": 1000.0,
            "NetworkOutCapacity": 2000.0,
            "NumCore": 8,
            "DiskState": {"/d1": {"DiskMB": 1.0}, "/d2": {"DiskMB": 0.0}},
        },
        {
            "Host": "k2",
            "Broker": 2,
            # Cruise Control puts the host where there is no rack.
            "Rack": "k2",
            "BrokerState": "DEMOTED",
            "DiskCapacityMB": 100.0,
            "NumCore": 8,
            "DiskState": {"/d1": {"DiskMB": 1.0}, "/d2": {"DiskMB": "DEAD"}},
        },
        {"Host": "k3", "Broker": 3, "Rack": "c", "BrokerState": "DEAD"},
    ],
}
PARTITION_LOAD: dict[str, Any] = {
    "version": 1,
    "records": [
        {
            "topic": "orders",
            "partition": 0,
            "leader": 1,
            "followers": [2],
            "cpu": 50.0,
            "disk": 10.0,
            "networkInbound": 100.0,
            "networkOutbound": 350.0,
            "msg_in": 5.0,
        },
        {
            "topic": "orders",
            "partition": 1,
            "leader": 2,
            "followers": [],
            "cpu": 0.0,
            "disk": 0.5,
            "networkInbound": 8.0,
            # Less than what followers fetch, as averages of windows may be.
            "networkOutbound": 0.0,
            "msg_in": 0.0,
        },
    ],
}
CAPACITY: dict[str, Any] = {
    "brokerCapacities": [
        {
            "brokerId": "-1",
            "capacity": {
                "DISK": "100",
                "CPU": "100",
                "NW_IN": "10",
                "NW_OUT": "20",
            },
            "doc": "default",
        },
        {
            "brokerId": "1",
            "capacity": {
                "DISK": "500000",
                "CPU": "100",
                "NW_IN": "50000",
                "NW_OUT": "50000",
            },
        },
    ]
}
CAPACITY_CORES: dict[str, Any] = {
    "brokerCapacities": [
        {
            "brokerId": "-1",
            "capacity": {
                "DISK": "100",
                "CPU": {"num.cores": "16"},
                "NW_IN": "10",
                "NW_OUT": "20",
            },
        }
    ]
}
CAPACITY_JBOD: dict[str, Any] = {
    "brokerCapacities": [
        {
            "brokerId": "-1",
            "capacity": {
                "DISK": {"/d1": "100", "/d2": "50"},
                "CPU": "100",
                "NW_IN": "10",
                "NW_OUT": "20",
            },
        },
        {
            "brokerId": "2",
            "capacity": {
                "DISK": {"/d1": "70"},
                "CPU": "100",
                "NW_IN": "10",
                "NW_OUT": "20",
            },
        },
    ]
}
BROKER_SETS: dict[str, Any] = {
    "brokerSets": [
        {"brokerSetId": "blue", "brokerIds": [1, 2], "doc": "x"},
        {"brokerSetId": "green", "brokerIds": [3]},
    ]
}


def encoded(document: object) -> bytes:
    """The JSON of a document, in several lines."""
    return (json.dumps(document, indent=1) + "\n").encode()


def vector(*series: tuple[dict[str, str], float]) -> bytes:
    """Prometheus' answer to an instant query."""
    return _answer(
        "vector", [{"metric": m, "value": [1700000000.5, str(v)]} for m, v in series]
    )


def matrix(*series: tuple[dict[str, str], list[tuple[float, str]]]) -> bytes:
    """Prometheus' answer to a range query."""
    return _answer(
        "matrix", [{"metric": m, "values": [list(v) for v in vs]} for m, vs in series]
    )


def _answer(kind: str, result: list[dict[str, Any]]) -> bytes:
    data = {"resultType": kind, "result": result}
    return json.dumps({"status": "success", "data": data}).encode()


POOLS = b"""apiVersion: v1
kind: List
items:
- apiVersion: kafka.strimzi.io/v1beta2
  kind: KafkaNodePool
  metadata:
    name: brokers
    labels:
      strimzi.io/cluster: prod
    creationTimestamp: 2026-11-21T08:00:00Z
  spec:
    replicas: 3
    roles: [broker]
    resources:
      limits:
        cpu: 1500m
        memory: 8Gi
    storage:
      type: jbod
      volumes:
      - id: 0
        type: persistent-claim
        size: 100Gi
      - id: 1
        type: persistent-claim
        size: 1Ti
  status:
    clusterId: abc
    nodeIds: [1, 2, 3]
- apiVersion: kafka.strimzi.io/v1beta2
  kind: KafkaNodePool
  metadata:
    name: controllers
    labels:
      strimzi.io/cluster: prod
  spec:
    replicas: 1
    roles: [controller]
    storage:
      type: persistent-claim
      size: 10Gi
  status:
    nodeIds: [100]
- apiVersion: v1
  kind: Secret
  metadata:
    name: password
  data:
    password: hunter2
---
apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata:
  name: prod
spec:
  kafka:
    version: 4.1.0
    config:
      min.insync.replicas: 2
  cruiseControl:
    brokerCapacity:
      inboundNetwork: 10000KB/s
      outboundNetwork: 10000KiB/s
      overrides:
      - brokers: [3]
        cpu: "4"
        inboundNetwork: 1GiB/s
status:
  clusterId: abc
"""
KAFKA_TOPICS = b"""apiVersion: v1
items:
- apiVersion: kafka.strimzi.io/v1beta2
  kind: KafkaTopic
  metadata:
    annotations:
      kubectl.kubernetes.io/last-applied-configuration: |
        {"apiVersion":"kafka.strimzi.io/v1beta2","kind":"KafkaTopic","spec":{}}
    creationTimestamp: "2026-10-01T07:30:12Z"
    finalizers:
    - strimzi.io/topic-operator
    generation: 2
    labels:
      strimzi.io/cluster: prod
    managedFields:
    - apiVersion: kafka.strimzi.io/v1beta2
      fieldsType: FieldsV1
      fieldsV1:
        f:spec:
          .: {}
          f:partitions: {}
      manager: kubectl-client-side-apply
      operation: Update
    name: a
    namespace: kafka
    resourceVersion: "48210"
    uid: 1c0e6e2a-6a0c-4b52-9a3e-3f6b4c1f2d10
  spec:
    config:
      cleanup.policy: compact,delete
      min.insync.replicas: 2
      retention.ms: 7200000
    partitions: 1
    replicas: 2
  status:
    conditions:
    - lastTransitionTime: "2026-10-01T07:30:13.456789Z"
      status: "True"
      type: Ready
    observedGeneration: 2
    topicId: 5Ff0cW2bTxqyGfWkQzAbCd
    topicName: a
- apiVersion: kafka.strimzi.io/v1
  kind: KafkaTopic
  metadata:
    annotations:
      strimzi.io/pause-reconciliation: "true"
    labels:
      strimzi.io/cluster: prod
    name: consumer-offsets---84e7a678d08f4bd226872e5cdd4eb527fadc1c6a
    namespace: kafka
  spec:
    partitions: 50
    replicas: 3
    topicName: __consumer_offsets
  status:
    conditions:
    - lastTransitionTime: "2026-10-02T09:00:00.000000Z"
      status: "True"
      type: ReconciliationPaused
- apiVersion: kafka.strimzi.io/v1beta2
  kind: KafkaTopic
  metadata:
    annotations:
      strimzi.io/managed: "false"
    labels:
      strimzi.io/cluster: prod
    name: left
    namespace: kafka
  spec:
    config:
      retention.ms: 1
    partitions: 9
    replicas: 9
kind: List
metadata:
  resourceVersion: ""
"""
