"""
Elections and failures: Kafka's reaction to the loss of brokers, log dirs and racks.

`controller_decision` is the decision of Kafka's controller for columns of partitions.
Imports `model` alone.
"""
