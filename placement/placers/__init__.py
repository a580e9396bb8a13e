"""
Placement of new partitions: Kafka's placers bit for bit, and placers by load.

`classic_placer` (up to 4.0), `striped_placer` (KRaft) and `manual_placement` ignore the
present replicas of brokers. Imports `model`, `draft`, `rules` and `kafka_java`.
"""
