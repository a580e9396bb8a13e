"""
Topics of the bundled cluster, an online shop.

Sizes and rates are means of one partition before scaling; the partitions of a topic
scatter around them.
"""

from typing import NamedTuple

COMPACTED = 0
"""Value of retention for a compacted topic."""


class Topic(NamedTuple):
    """A topic: its owner, and the mean load of its partitions."""

    name: str
    owner: str
    num_partitions: int
    size_gb: float
    in_kb_per_s: float
    fan_out: float
    retention_h: int


TOPICS = (
    Topic("__consumer_offsets", "platform", 50, 0.08, 20, 0, COMPACTED),
    Topic("cart.abandoned", "cart", 3, 1.8, 60, 1, 48),
    Topic("cart.events", "cart", 12, 6.2, 640, 2, 12),
    Topic("catalog.images", "catalog", 3, 9.5, 110, 1, 168),
    Topic("catalog.prices", "catalog", 8, 3.1, 330, 5, COMPACTED),
    Topic("catalog.products", "catalog", 6, 4.4, 90, 5, COMPACTED),
    Topic("cdc.customers-db", "data", 3, 5.2, 260, 2, COMPACTED),
    Topic("cdc.orders-db", "data", 6, 8.8, 620, 2, COMPACTED),
    Topic("checkout.sessions", "cart", 8, 3.6, 410, 2, 24),
    Topic("clickstream.raw", "web", 24, 13.6, 1350, 2, 6),
    Topic("clickstream.sessions", "web", 12, 8.4, 720, 3, 12),
    Topic("customers.consents", "customers", 3, 0.7, 15, 1, COMPACTED),
    Topic("customers.logins", "customers", 6, 2.3, 180, 2, 48),
    Topic("customers.profiles", "customers", 6, 5.9, 130, 3, COMPACTED),
    Topic("email.bounces", "marketing", 1, 0.4, 10, 1, 168),
    Topic("email.outbox", "marketing", 3, 1.5, 120, 1, 24),
    Topic("inventory.levels", "inventory", 8, 2.9, 380, 5, COMPACTED),
    Topic("inventory.movements", "inventory", 6, 6.6, 300, 2, 72),
    Topic("inventory.reservations", "inventory", 6, 2.1, 340, 2, 12),
    Topic("logs.access", "platform", 8, 14.5, 1100, 1, 12),
    Topic("logs.app", "platform", 12, 12.8, 980, 1, 12),
    Topic("metrics.host", "platform", 6, 5.1, 560, 1, 6),
    Topic("orders.audit", "orders", 6, 14.0, 120, 1, 720),
    Topic("orders.cancelled", "orders", 4, 1.6, 70, 2, 168),
    Topic("orders.paid", "orders", 10, 5.6, 480, 3, 72),
    Topic("orders.placed", "orders", 12, 8.9, 930, 4, 72),
    Topic("orders.returns", "orders", 4, 1.9, 60, 2, 168),
    Topic("orders.shipped", "orders", 8, 4.7, 420, 3, 72),
    Topic("payments.authorised", "payments", 10, 5.3, 520, 3, 72),
    Topic("payments.captured", "payments", 8, 4.1, 400, 2, 72),
    Topic("payments.fraud-scores", "payments", 6, 3.3, 460, 1, 24),
    Topic("payments.ledger", "payments", 6, 7.7, 150, 2, COMPACTED),
    Topic("payments.refunds", "payments", 3, 1.1, 40, 2, 168),
    Topic("push.outbox", "marketing", 4, 1.4, 210, 1, 12),
    Topic("recommendations.served", "search", 6, 6.0, 690, 1, 12),
    Topic("search.clicks", "search", 6, 4.6, 510, 2, 24),
    Topic("search.queries", "search", 8, 9.2, 1280, 3, 12),
    Topic("shipping.carriers", "shipping", 1, 0.2, 5, 2, COMPACTED),
    Topic("shipping.labels", "shipping", 4, 3.8, 90, 1, 168),
    Topic("shipping.tracking", "shipping", 6, 6.8, 350, 2, 72),
)
