"""Commands of the documentation and of runbooks, run on a real cluster as they are."""

import re
import shlex
import subprocess
import time
from pathlib import Path

from integration.kafka.cluster import TOOLS, Cluster, wait_until
from integration.planner import Outcome, run_here

MAINS = {
    "kafka-reassign-partitions.sh": f"{TOOLS}.reassign.ReassignPartitionsCommand",
    "kafka-leader-election.sh": f"{TOOLS}.LeaderElectionCommand",
    "kafka-configs.sh": "kafka.admin.ConfigCommand",
    "kafka-topics.sh": f"{TOOLS}.TopicCommand",
}
SERVERS = re.compile(r"(HOST:PORT|(?:k|kafka-)1:9092)")
# Clusters on loopback share the disk of the machine, which may be rather full.
ROOMY = ("--capacity-threshold", "disk=1")
BUSY = "is still in progress"


def commands_of(text: str) -> list[str]:
    """Return the commands of the code blocks of a page, one line each."""
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    joined = "".join(blocks).replace("\\\n", " ")
    return [line for line in joined.splitlines() if line and line[0] != "#"]


def section(text: str, heading: str) -> str:
    """Return a page's part under a heading, up to the next of its kind."""
    body = rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)"
    found = re.search(body, text, re.MULTILINE | re.DOTALL)
    assert found, heading
    return found[1]


def throttles(cluster: Cluster, until: list[str] | None = None) -> list[str]:
    """
    Return the throttles of brokers, of their default and of topics.

    Any broker answers, also one that has not seen the last change yet: a test that
    knows which ones have to be there waits ten seconds for them.
    """
    deadline = time.monotonic() + 10
    while True:
        found = _throttles(cluster)
        if until is None or found == until or time.monotonic() > deadline:
            return found


def _throttles(cluster: Cluster) -> list[str]:
    texts = [
        cluster.configs("--describe", "--entity-type", kind)
        for kind in ("brokers", "topics")
    ]
    lines = "\n".join(texts).splitlines()
    return [line for line in lines if "throttled" in line or "io.max.bytes" in line]


class Shell:
    """
    A shell in a folder, with Kafka's tools and ours.

    Parameters
    ----------
    cluster
        Takes the place of the server that the commands name.
    folder
        Where they run.
    """

    def __init__(self, cluster: Cluster, folder: Path, monkeypatch) -> None:
        self.cluster = cluster
        self.folder = folder
        self._monkeypatch = monkeypatch

    def run(self, line: str) -> str:
        """Run a command that has to succeed; `--verify` until nothing is under way."""
        command, _, target = line.partition(" > ")
        words = self.words(command)
        if words[0] == "sed":
            done = subprocess.run(
                words, cwd=self.folder, check=True, capture_output=True, text=True
            )
            return self._written(done.stdout, target)
        if words[0] == "kafka-planner":
            found = self.planner(*words[1:])
            assert found.code == 0, (line, found.out, found.err)
            return self._written(found.out, target)
        return self._until_over(words) if "--verify" in words else self.kafka(*words)

    def all_of(self, text: str) -> list[str]:
        """Run every command of a text, in order."""
        return [self.run(line) for line in commands_of(text)]

    def planner(self, *words: str) -> Outcome:
        """Run our command, whatever its exit code."""
        options = ROOMY if words[0] in {"plan", "check"} else ()
        self._monkeypatch.chdir(self.folder)
        if words[0] == "apply" and "--yes" in words:
            # There is no terminal here, at which an operator has seen the preview.
            seen = [word for word in words if word != "--yes"]
            preview = run_here(*seen, "--format", "json")
            options = ("--plan-id", preview.document["plan_id"])
        return run_here(*words, *options)

    def kafka(self, name: str, *words: str) -> str:
        """Run a tool of Kafka; raises `RuntimeError` where it fails."""
        return self.cluster.run(MAINS[name], *words, *self.cluster.tool_options)

    def verify(self, plan: str = ".") -> Outcome:
        """Run `kafka-planner verify` on the cluster."""
        where = ("--bootstrap-server", self.cluster.bootstrap, "--format", "json")
        found = self.planner("verify", plan, *where)
        assert found.code in {0, 3}, found.err
        return found

    def run_left(self, what: str) -> None:
        """Run the commands of the steps that `verify` names, with a word in them."""
        steps = self.verify().document["left"]
        chosen = [step for step in steps if what in step["message"]]
        lines = [line for step in chosen for line in step["commands"]]
        assert lines, steps
        for line in lines:
            self.run(line)

    def words(self, line: str) -> list[str]:
        """Return the words of a command, with the cluster and the files as they are."""
        found: list[str] = []
        for word in shlex.split(line, comments=True):
            if SERVERS.fullmatch(word):
                found.append(self.cluster.bootstrap)
            elif word.startswith("$(cat "):
                name = word.removeprefix("$(cat ").removesuffix(")")
                found.append((self.folder / name).read_text().strip())
            elif word.endswith(".json") and found[0] in MAINS:
                # Kafka's tools run in a JVM that stays where it was started.
                found.append(str(self.folder / word))
            else:
                found.append(word)
        return found

    def _until_over(self, words: list[str]) -> str:
        told = ""

        def is_over() -> bool:
            nonlocal told
            told = self.kafka(*words)
            return BUSY not in told

        wait_until(is_over, f"{' '.join(words)} to end")
        return told

    def _written(self, text: str, target: str) -> str:
        """Write what a command printed to the file that it names, if any."""
        if name := target.partition("#")[0].strip():
            (self.folder / name).write_text(text)
        return text
