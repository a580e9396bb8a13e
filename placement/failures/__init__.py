"""
Elections and failures: Kafka's reaction to the loss of brokers, log dirs and racks.

`partition_change` is the controller's decision for one partition, `controller_events`
the same for columns of partitions. Imports `model` alone.
"""
