"""Example queries on the tables of fleets, in portable SQL."""

from collections.abc import Mapping, Sequence

QUERIES: Mapping[str, Sequence[str]] = {
    "clusters": (
        "SELECT cluster_id, max(taken_at) AS last FROM clusters GROUP BY cluster_id",
        "SELECT kafka_version, count(DISTINCT cluster_id) AS clusters FROM clusters "
        "GROUP BY kafka_version",
        "SELECT cluster_id, taken_at FROM clusters WHERE rates.source IS NULL",
    ),
    "brokers": (
        "SELECT cluster_id, taken_at, rack, count(*) AS brokers FROM brokers "
        "GROUP BY cluster_id, taken_at, rack",
        "SELECT cluster_id, id FROM brokers WHERE state IN ('dead', 'fenced')",
        "SELECT cluster_id, taken_at, sum(disk_bytes) AS bytes FROM brokers "
        "GROUP BY cluster_id, taken_at",
    ),
    "log_dirs": (
        "SELECT cluster_id, broker_id, path FROM log_dirs WHERE state = 'offline'",
        "SELECT cluster_id, broker_id, path FROM log_dirs "
        "WHERE usable_bytes < 0.1 * size_bytes",
        "SELECT cluster_id, taken_at, sum(usable_bytes) AS free FROM log_dirs "
        "GROUP BY cluster_id, taken_at",
    ),
    "topics": (
        "SELECT cluster_id, taken_at, count(*) AS topics FROM topics "
        "GROUP BY cluster_id, taken_at",
        "SELECT cluster_id, topic FROM topics WHERE storage = 'tiered'",
        "SELECT cluster_id, topic FROM topics WHERE topic LIKE '%-retry'",
    ),
    "partitions": (
        "SELECT cluster_id, topic, sum(size_bytes) AS bytes FROM partitions "
        "WHERE taken_at >= TIMESTAMP '2026-11-21 00:00:00' "
        "GROUP BY cluster_id, topic ORDER BY bytes DESC LIMIT 20",
        "SELECT cluster_id, topic, partition FROM partitions WHERE leader = -1",
        "SELECT leader, sum(in_bytes_per_s) AS written FROM partitions "
        "WHERE cluster_id = 'eu-orders' GROUP BY leader",
    ),
    "commits": (
        "SELECT cluster_id, max(taken_at) AS last FROM commits "
        "WHERE content IS NOT NULL GROUP BY cluster_id",
        "SELECT count(*) AS snapshots FROM commits WHERE content IS NOT NULL",
        "SELECT b.* FROM brokers AS b JOIN commits AS c "
        "ON b.cluster_id = c.cluster_id AND b.taken_at = c.taken_at "
        "WHERE c.content IS NOT NULL",
    ),
    "rejects": (
        "SELECT reason, sum(count) AS times FROM rejects GROUP BY reason",
        "SELECT dump, file, place, reason FROM rejects WHERE scope = 'snapshot'",
        "SELECT cluster_id, count(*) AS kinds FROM rejects GROUP BY cluster_id",
    ),
    "ingested": (
        "SELECT dump FROM ingested WHERE content IS NULL",
        "SELECT cluster_id, count(*) AS dumps FROM ingested GROUP BY cluster_id",
        "SELECT dump, rejects FROM ingested WHERE rejects > 0",
    ),
    "scores": (
        "SELECT cluster_id, taken_at, max_use FROM scores "
        "WHERE level = 'cluster' AND resource = 'disk' ORDER BY max_use DESC",
        "SELECT cluster_id, broker, use FROM scores WHERE level = 'broker' "
        "AND resource = 'disk' AND is_over_threshold",
        "SELECT cluster_id, taken_at, violations.offline_partitions AS offline "
        "FROM scores WHERE level = 'cluster' AND resource = 'disk' "
        "AND violations.offline_partitions > 0",
    ),
    "problems": (
        "SELECT cluster_id, taken_at, place, rule FROM problems "
        "WHERE severity = 'error'",
        "SELECT rule, count(*) AS times FROM problems GROUP BY rule",
        "SELECT DISTINCT cluster_id, taken_at FROM problems WHERE severity = 'warning'",
    ),
    "done": (
        "SELECT cluster_id, max(taken_at) AS scored FROM done "
        "WHERE content IS NOT NULL GROUP BY cluster_id",
        "SELECT c.cluster_id, c.taken_at FROM commits AS c LEFT JOIN done AS d "
        "ON c.cluster_id = d.cluster_id AND c.taken_at = d.taken_at "
        "WHERE d.content IS NULL",
        "SELECT count(*) AS snapshots FROM done WHERE content IS NOT NULL",
    ),
    "trends": (
        "SELECT cluster_id, broker, days_until_full FROM trends "
        "WHERE level = 'broker' AND resource = 'disk' AND days_until_full < 30",
        "SELECT cluster_id, topic, growth_per_day FROM trends "
        "WHERE level = 'topic' AND resource = 'disk' "
        "ORDER BY growth_per_day DESC LIMIT 20",
        "SELECT cluster_id, growth_per_day FROM trends "
        "WHERE level = 'cluster' AND resource = 'disk'",
    ),
    "balance": (
        "SELECT cluster_id, taken_at, max_use_change FROM balance "
        "WHERE resource = 'disk' AND max_use_change > 0.05",
        "SELECT cluster_id, avg(cv) AS cv FROM balance GROUP BY cluster_id",
        "SELECT resource, max(max_deviation_change) AS worse FROM balance "
        "GROUP BY resource",
    ),
    "changes": (
        "SELECT cluster_id, taken_at, bytes FROM changes WHERE topic IS NULL",
        "SELECT topic, sum(copies) AS copies FROM changes WHERE topic IS NOT NULL "
        "GROUP BY topic ORDER BY copies DESC LIMIT 20",
        "SELECT cluster_id, taken_at, leader_changes FROM changes "
        "WHERE topic IS NULL AND copies = 0 AND leader_changes > 0",
    ),
    "drift": (
        "SELECT cluster_id, request, status FROM drift WHERE status = 'differs'",
        "SELECT cluster_id, request, not_started FROM drift WHERE not_started > 0",
        "SELECT status, count(*) AS plans FROM drift GROUP BY status",
    ),
    "overview": (
        "SELECT cluster_id, offline_partitions, under_min_isr FROM overview "
        "WHERE offline_partitions > 0 OR under_min_isr > 0",
        "SELECT owner, sum(cost_total) AS costs FROM overview GROUP BY owner",
        "SELECT cluster_id, max_disk_use, days_until_full FROM overview "
        "ORDER BY days_until_full",
    ),
    "plans": (
        "SELECT cluster_id, request, moved_bytes FROM plans WHERE status = 'optimal'",
        "SELECT cluster_id, status, reason FROM plans WHERE plan IS NULL",
        "SELECT request, sum(moved_bytes) AS bytes FROM plans GROUP BY request",
    ),
    "scenarios": (
        "SELECT cluster_id, request, reason FROM scenarios WHERE NOT holds",
        "SELECT request, count(*) AS clusters FROM scenarios WHERE holds "
        "GROUP BY request",
        "SELECT cluster_id, request, moved_bytes FROM scenarios "
        "WHERE holds ORDER BY moved_bytes DESC",
    ),
}
"""Queries by name of the table."""
