"""
The live cluster, through kafka-python 3.

`auth` and `client` reach it, `read`, `groups`, `actions` and `consumer` use it;
`messages` has the fields of Kafka's messages that kafka-python does not know.
"""
