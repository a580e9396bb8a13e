"""
The fields of Kafka's group messages that kafka-python does not know.

By name, as the protocol has them (KIP-848, KIP-932): one JSON file for each, in the
form in which kafka-python reads its own.
"""
