"""
Fields of Kafka's group messages that kafka-python lacks.

One JSON file for each message of the protocol (KIP-848, KIP-932), in the form of
kafka-python's own message files.
"""
