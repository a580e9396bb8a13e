"""
Kafka's own placers, bit for bit: `classic` (up to 4.0), `striped` (KRaft), `manual`.

They place new partitions and know nothing of what brokers hold already.
"""
