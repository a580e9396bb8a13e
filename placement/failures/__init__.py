"""
Elections and failures: what Kafka does when brokers, log dirs and racks are lost.

`partition_change` is the controller's decision for one partition, `controller_events`
the same for columns of partitions. Imports `model` alone.
"""
