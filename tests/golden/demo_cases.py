"""Cases on the bundled cluster: every operation and every command."""

from collections.abc import Iterable
from pathlib import Path

from golden.case import CLUSTER, Case, Source, cases_of_table
from planner.demo import SNAPSHOT_FILE

DATA = Path(__file__).parents[1] / "data"
GROUP = DATA / "samples" / "consumer-groups-describe.txt"
SCENARIOS = """\
[[growth]]
per_month = 0.05
[[growth]]
topics = "clickstream.*"
per_month = 0.2
[[types]]
name = "large"
price = 500.0
disk = "4TB"
network_in = "300MB/s"
network_out = "600MB/s"
[prices]
broker = 100.0
currency = "USD"
per = "month"
cross_rack_gb = 0.01
[[scenarios]]
name = "without b"
then = "nothing"
changes = [{change = "traffic", factor = 1.5}, {change = "lose", racks = ["b"]}]
[[scenarios]]
name = "fewer copies"
then = "needed"
changes = [{change = "replication-factor", topics = "logs.*", factor = 2}]
[[scenarios]]
name = "larger"
changes = [{change = "replace-brokers", racks = ["a"], type = "large"}]
[[scenarios]]
name = "then less"
after = "larger"
changes = [{change = "grow", months = 6}, {change = "remove-brokers", brokers = "12"}]
[[scenarios]]
name = "retention"
changes = [{change = "retention", topics = "logs.*", factor = 2.0}]
[[sweeps]]
name = "sweep"
traffic = {from = 1.0, to = 1.5, step = 0.5}
brokers = "11-12"
"""
TYPES = """\
[[types]]
name = "small"
price = 1.23
disk = "1TB"
network_in = "100MB/s"
network_out = "150MB/s"
[[types]]
name = "large"
price = 2.1
disk = "2TB"
network_in = "200MB/s"
network_out = "300MB/s"
available = 4
"""
EVENTS = """\
reads_per_s = 5000
[rates]
orders = 100
[[events]]
at_s = 60
event = "join"
member = "c9"
[[events]]
at_s = 200
event = "stop-heartbeating"
member = "c9"
for_s = 90
[[events]]
at_s = 600
event = "rolling-restart"
down_s = 20
"""
FACTORS = """\
2 = ["logs.access", "logs.app"]
4 = ["orders.paid"]
"""
TOPICS = '{"topics":[{"topic":"orders.paid"},{"topic":"logs.app"}],"version":1}'
ELECTION = '{"partitions":[{"topic":"orders.paid","partition":0}]}'
CONFIG = """\
[plan]
band = { all = 0.10, disk = 0.05 }
effort = "quick"
exclude_topics = ["__.*"]
[rules]
rack = "soft"
[operation.remove-brokers]
rebalance = true
"""
KEYS = "".join(f"customer-{n * n % 61}\n" for n in range(400))
INPUTS: dict[str, Source] = {
    CLUSTER + ".gz": SNAPSHOT_FILE,
    "group.txt": GROUP,
    "scenarios.toml": SCENARIOS.encode,
    "types.toml": TYPES.encode,
    "events.toml": EVENTS.encode,
    "factors.toml": FACTORS.encode,
    "topics.json": TOPICS.encode,
    "election.json": ELECTION.encode,
    "keys.txt": KEYS.encode,
    "own.toml": CONFIG.encode,
}
SCHEMAS = (
    "broker-types", "check", "config", "config-example", "demo", "elect", "error",
    "explain", "failures", "failures-scenario", "generate", "group",
    "group-assignment", "group-events", "group-list", "group-offsets", "group-show",
    "group-what-if", "keys-grow", "keys-skew", "list", "partitions-audit",
    "partitions-size", "plan",
    "preferred-election", "reassignment", "report", "scenarios", "score",
    "score-part", "size", "snapshot", "status", "verify", "waves", "what-if",
)  # fmt: skip


def demo_cases() -> Iterable[Case]:
    """Yield the cases on the bundled cluster, and the schema of each document."""
    yield from cases_of_table("demo", "demo", INPUTS)
    for name in SCHEMAS:
        yield Case(f"schema/{name}", {"": f"schema {name} --format json"})
