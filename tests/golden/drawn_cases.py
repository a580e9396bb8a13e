"""Cases on small drawn clusters: each operation under rules that are drawn as well."""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from random import Random
from typing import Any

from golden.case import CLUSTER, Case, Source
from golden.corpus import FOLDER

CLUSTERS = FOLDER / "clusters.jsonl.gz"
Document = dict[str, Any]
RULES = (
    "--rack-rule strict", "--rack-rule off", "--locality-scoped", "--soft rack",
    "--only-over-threshold", "--only-trades", "--host-capacity-threshold disk=0.6",
    "--low-utilization disk=0.5", "--max-replicas-per-broker 9", "--potential-out",
    "--leader-in", "--even-positions", "--topics-apart t0=t1", "--rack-map a=b",
    "--rules cruise-control", "--soft capacity --soft rack", "--hard bands",
    "--hard band-disk --hard band-leaders", "--spread-topics t0",
    "--spread-topic-leaders t.* --spread-gap 1-4", "--min-topic-leaders t1=1",
    "--spread-topics t0 --spread-band 0.1 --hard spread-topics",
    "--max-replicas-per-broker 6 --soft max-replicas", "--keep-topics t1",
    "--keep-leaders t.*", "--potential-out --hard potential-out",
)  # fmt: skip
"""Rules and goals of any plan."""
OPTIONS = (
    "--max-moves 4", "--max-bytes 90", "--max-cross-rack-bytes 30", "--prefer moves",
    "--move-cost-bytes 15", "--transient-disk", "--exclude-topics t1", "--topics t0",
    "--band 0.3", "--band disk=0.02", "--resources replicas,leaders", "--seed 5",
    "--resources disk", "--capacity-threshold disk=0.5", "--topic-slack 0",
    "--soft max-moves --max-moves 2", "--waves --max-moves-in 1 --max-moves-out 2",
    "--waves --order small", "--waves --order under-replicated",
)  # fmt: skip
"""Options of plans that are no rules."""
TO_TEXT, TO_JSON = "", " --format json"
FOLLOWED = 0.4
"""Fraction of the plans that other commands look at."""
LIVE = ("alive", "new", "demoted")
"""States of brokers that may get replicas."""
SCENARIO = 4
"""One cluster in so many is sized and played scenarios on."""
NORMAL = 10
"""One plan in so many is made with normal effort, the others with quick effort."""
SCENARIOS = """\
[[scenarios]]
name = "more"
changes = [{change = "traffic", factor = 1.5}]
[[scenarios]]
name = "copies"
then = "needed"
changes = [{change = "replication-factor", factor = 2}]
[[scenarios]]
name = "fewer"
changes = [{change = "remove-brokers", brokers = "%s"}]
"""


def drawn_cases() -> Iterable[Case]:
    """Yield the cases on all clusters."""
    for number, line in enumerate(cluster_lines()):
        yield from _ClusterCases(number, line).cases()


@cache
def cluster_lines() -> tuple[bytes, ...]:
    """Return the snapshot documents as they are in the file."""
    lines = gzip.decompress(CLUSTERS.read_bytes()) if CLUSTERS.exists() else b""
    return tuple(lines.splitlines())


class _ClusterCases:
    """Cases on one cluster; each operation draws its options from its own name."""

    def __init__(self, number: int, line: bytes) -> None:
        self.number, self.line = number, line
        self.document: Document = json.loads(line)
        self.brokers: list[Document] = self.document["brokers"]
        self.ids = [broker["id"] for broker in self.brokers]
        self.topics: list[Document] = self.document["topics"]
        self.held = sorted(
            {broker for lists in self._lists() for broker in lists} & set(self.ids)
        )

    def _lists(self) -> Iterator[list[int]]:
        for topic in self.topics:
            yield from (each["replicas"] for each in topic["partitions"])

    def cases(self) -> Iterator[Case]:
        """Yield the cases: plans with what follows them, and other commands."""
        for name, words in self._plans():
            yield self._case(name, self._planned(name, words))
        yield from (self._case(name, {"": words}) for name, words in self._others())

    def _case(self, name: str, steps: dict[str, str]) -> Case:
        brokers = SCENARIOS % self.held[-1]
        names = [{"topic": topic["name"]} for topic in self.topics]
        topics = json.dumps({"topics": names, "version": 1})
        inputs: dict[str, Source] = {
            CLUSTER: partial(bytes, self.line),
            "scenarios.toml": brokers.encode,
            "topics.json": topics.encode,
        }
        return Case(f"drawn/{self.number:02}/{name}", steps, inputs)

    def _random(self, name: str) -> Random:
        return Random(f"{self.number} {name}")

    def _planned(self, name: str, words: str) -> dict[str, str]:
        """Return a plan under drawn options, and now and then what is done with it."""
        draws = self._random(name)
        is_new = words.startswith(("new-topic", "add-partitions"))
        effort = "normal" if draws.randrange(NORMAL) == 0 else "quick"
        rules = draws.sample(RULES, draws.choice([0, 0, 1, 1, 2]))
        options = draws.sample(OPTIONS, draws.choice([0, 0, 1, 1, 2]))
        command = [
            f"plan {words} {CLUSTER} -o plan --effort {effort}",
            *rules,
            *options,
        ]
        steps = {"": " ".join(command)}
        follow = FOLLOWING[draws.choice(["check"] if is_new else list(FOLLOWING))]
        return steps | (follow if draws.random() < FOLLOWED else {})

    def _plans(self) -> Iterator[tuple[str, str]]:
        for operations in OPERATIONS:
            yield from operations(self)

    def _others(self) -> Iterator[tuple[str, str]]:
        draws = self._random("others")
        form = partial(draws.choice, [TO_TEXT, TO_JSON])
        broker = draws.choice(self.held)
        yield "show", f"snapshot show {CLUSTER}{form()}"
        yield "status", f"status {CLUSTER}{form()}"
        yield "score", f"score {CLUSTER}{form()}"
        yield "failures", f"failures {CLUSTER}{form()}"
        yield "failure", f"failures {CLUSTER} --broker {broker} --unclean{form()}"
        if self.number % SCENARIO == 0:
            yield "size", f"size {CLUSTER} --effort quick{form()}"
            yield "what-if", f"what-if {CLUSTER} scenarios.toml --effort quick{form()}"
        ids = ",".join(map(str, self.ids))
        moved = f"generate --topics-to-move-json-file topics.json --broker-list {ids}"
        yield "generate", f"{moved} --snapshot {CLUSTER}{form()}"

    def rebalances(self) -> Iterator[tuple[str, str]]:
        """Yield three rebalances."""
        yield "rebalance", "rebalance"
        yield "rebalance-2", "rebalance"
        yield "rebalance-dirs", "rebalance --with-log-dirs"

    def brokers_added(self) -> Iterator[tuple[str, str]]:
        """Yield new brokers that the snapshot has, or one that it does not have."""
        new = [each["id"] for each in self.brokers if each.get("state") == "new"]
        if new:
            yield "add-brokers", "add-brokers"
        else:
            last = max(self.ids) + 1
            spec = f"--new-broker id={last},like={self.ids[0]} --broker-list {last}"
            yield "add-brokers", f"add-brokers {spec}"

    def brokers_removed(self) -> Iterator[tuple[str, str]]:
        """Yield the removal, the replacement and the demotion of a broker."""
        draws = self._random("brokers")
        old = draws.choice(self.held)
        live = [b["id"] for b in self.brokers if b.get("state", "alive") in LIVE]
        other = draws.choice([each for each in live if each != old] or self.ids)
        yield "remove-brokers", f"remove-brokers --broker-list {old}"
        yield "remove-brokers-also", f"remove-brokers --broker-list {old} --rebalance"
        yield "replace-broker", f"replace-broker --broker {old} --with {other}"
        yield "demote", f"demote --broker-list {old}"

    def log_dirs(self) -> Iterator[tuple[str, str]]:
        """Yield plans of leaders, and of log dirs where any are known."""
        yield "leaders", "leaders"
        yield "leaders-followers", "leaders --order-followers"
        paths = [
            f"{broker['id']}:{each['path']}"
            for broker in self.brokers
            for each in broker.get("log_dirs") or []
            if each.get("state") in {None, "online"}
        ]
        if paths:
            path = self._random("log dirs").choice(paths)
            yield "log-dirs", "log-dirs"
            yield "log-dirs-empty", f"log-dirs --empty {path}"
            yield "demote-dir", f"demote --log-dirs {path}"

    def factors(self) -> Iterator[tuple[str, str]]:
        """Yield repairs, and replication factors that are lower and higher."""
        yield "fix", "fix"
        yield "fix-also", "fix --rebalance"
        yield "factor-2", "set-replication-factor --replication-factor 2"
        yield "factor-3", "set-replication-factor --replication-factor 3 --rebalance"

    def new_partitions(self) -> Iterator[tuple[str, str]]:
        """Yield a new topic, and more partitions of the last one."""
        topic = self.topics[-1]
        count = len(topic["partitions"]) + 4
        size = "--partitions 5 --replication-factor 2 --in-bytes-per-s 20"
        yield "new-topic", f"new-topic --topic fresh {size}"
        more = f"--topic {topic['name']} --partitions {count}"
        yield "add-partitions", f"add-partitions {more}"


Operations = Callable[[_ClusterCases], Iterator[tuple[str, str]]]
OPERATIONS: tuple[Operations, ...] = (
    _ClusterCases.rebalances,
    _ClusterCases.brokers_added,
    _ClusterCases.brokers_removed,
    _ClusterCases.log_dirs,
    _ClusterCases.factors,
    _ClusterCases.new_partitions,
)
FOLLOWING = {
    "check": {"check": f"check plan --snapshot {CLUSTER}{TO_JSON}"},
    "explain": {"explain": f"explain plan{TO_JSON}"},
    "screens": {
        "check": f"check plan --snapshot {CLUSTER}",
        "explain": "explain plan",
        "verify": f"verify plan --snapshot {CLUSTER}",
    },
    "apply": {
        "apply": f"snapshot apply plan {CLUSTER} -o after.json",
        "verify": f"verify plan --snapshot after.json{TO_JSON}",
    },
}
"""Commands that follow a plan, one of these now and then."""
