"""Outputs of tools that no importer reads: a refusal names them, and what to give."""

import json

import pytest

from planner.snapshot.importers.kafka_tools.kafka_topics import read_topics
from planner.snapshot.importers.kafka_tools.kcat import read_kcat
from planner.snapshot.importers.kafka_tools.reassignment_json import read_assignment
from support.samples import refusal

REPLICA = {"broker": 1, "leader": True, "inSync": True}
OTHERS = [
    pytest.param(text if isinstance(text, str) else json.dumps(text), words, id=name)
    for name, text, words in [
        ("state", {"MonitorState": {}, "version": 1}, "Cruise Control's state"),
        ("proposals", {"summary": {"numReplicaMovements": 1}, "proposals": [
            {"topicPartition": {"topic": "t"}, "newReplicas": [1]}]}, "proposals"),
        ("progress", {"progress": [{"operation": "LOAD", "operationProgress": []}]},
         "Cruise Control's progress"),
        ("confluent", [{"cluster_id": "lkc-1", "id": 0, "leader_id": 2,
                        "topic_name": "t"}], "Confluent's tools"),
        ("rest-v3", {"kind": "KafkaPartitionList", "data": []}, "Confluent's tools"),
        ("msk", {"ClusterInfo": {"ClusterName": "x"}}, "an answer of aws kafka"),
        ("msk-nodes", {"NodeInfoList": [{"BrokerNodeInfo": {}}]}, "instance_type"),
        ("console", {"name": "t", "partitions": [
            {"partition": 0, "leader": 1, "replicas": [REPLICA]}]}, "a console"),
        ("rpk-health", "CLUSTER HEALTH OVERVIEW\n=====\nHealthy:    true\n", "rpk"),
        ("rpk-brokers", "ID    HOST      PORT   RACK  CORES  MEMBERSHIP  IS-ALIVE\n"
         "0     10.0.0.1  33145  a     4      active      true\n", "rpk"),
        ("rpk-info", "BROKERS\n=======\nID    HOST      PORT\n0*    10.0.0.1  9092\n",
         "rpk"),
        ("rpk-partitions", {"partitions": [{"ns": "kafka", "topic": "t",
         "partition_id": 0, "replicas": [{"node_id": 1, "core": 0}]}]}, "rpk"),
        ("jmx", {"beans": [{"name": "kafka.server:type=x", "OneMinuteRate": 1}]},
         "an answer of JMX"),
        ("zookeeper", '[zk: k1:2181(CONNECTED) 0] get /brokers/topics/t\n'
         '{"version":1,"partitions":{"0":[1,2]}}\n', "ZooKeeper"),
        ("metadata", "PartitionRegistration(replicas=[1, 2], isr=[1, 2])\n", "KRaft"),
        ("prometheus-error", {"status": "error", "errorType": "bad_data"},
         "an error of Prometheus"),
        ("prometheus-series", '{"status":"success","data":[{"job":"kafka"}]}',
         "a list of series"),
        ("grafana", {"results": {"A": {"frames": []}}}, "Grafana"),
        ("kafkactl", "name: t\npartitions:\n- id: 0\n  oldestOffset: 0\n",
         "kafkactl"),
    ]
]  # fmt: skip
READERS = [read_topics, read_kcat, read_assignment]


@pytest.mark.parametrize("reader", READERS, ids=lambda one: one.__name__)
@pytest.mark.parametrize(("text", "words"), OTHERS)
def test_an_output_of_another_tool_is_named(reader, text, words):
    problems = refusal(reader, text.encode()).problems

    assert words in problems[0].remedy
    assert problems[0].remedy.startswith("this looks like ")


@pytest.mark.parametrize("reader", READERS[1:], ids=lambda one: one.__name__)
def test_of_a_text_without_data_no_line_is_to_be_removed(reader):
    error = refusal(reader, b'resource "kafka_topic" "t" {\n  partitions = 3\n}\n')

    assert error.problems[0].remedy.startswith("give ")
