"""
Access to a running cluster through kafka-python 3.

`auth` and `client` connect to a cluster; `read`, `groups`, `actions` and `consumer` use
the connection. `messages` defines Kafka's messages that kafka-python lacks.
"""
