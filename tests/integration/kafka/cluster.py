"""
A real Kafka (KRaft) on loopback: one controller, brokers on racks with log dirs.

A node that a test kills or freezes is a JVM of its own, so that the others go on. The
rest may share a JVM that stays for all clusters of a run, which starts them in a tenth
of the time. The controller is a node by itself (100), so that any broker may die.
"""

import base64
import random
import shutil
import signal
import socket
import string
import subprocess
import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Self

from integration.kafka.jars import java_environment
from integration.kafka.tools import can_stay, run_tool

CONTROLLER = 100
"""Id of the first controller, or of the only one."""
UNKNOWN = "does not exist as expected"
"""What `kafka-topics` says of a topic that the broker it asks has yet to hear of."""
TEMPLATE = Path(__file__).with_name("server.properties")
# A broker says so only after the controller has unfenced it.
STARTED = "[KafkaRaftServer nodeId={}] Kafka Server started"
JVM = (
    "-Xms48m",
    "-Xss512k",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:ReservedCodeCacheSize=128m",
    "-XX:-UsePerfData",
    "-Djava.awt.headless=true",
)
HOST_HEAP_MB = 1024
"""Most heap of the JVM that nodes share."""
TOOLS = "org.apache.kafka.tools"
SHARED = {"shared_cluster", "slow_cluster"}
"""Fixtures of clusters that tests share; other tests start some of their own."""


class Cluster:
    """
    A cluster of brokers 1…N, or from another id on, and its controllers.

    Parameters
    ----------
    libs
        Folder with Kafka's jars.
    base
        Folder for everything the nodes write; made anew.
    num_brokers, num_racks, num_dirs
        Brokers, racks ``r1``… dealt in turn, log dirs per broker.
    first_broker
        Id of the first broker.
    num_controllers
        Controllers, of which one is active. Three, so that one may be killed.
    config
        Settings of every broker, over those of the template; ``{node}`` and ``{port}``
        stand for the broker's own.
    controller_config
        Settings of the controller, likewise.
    heap_mb
        Most heap of a node; 256 hold some thousand replicas.
    archive
        AppCDS archive that quickens the start, if there is one.
    apart
        Nodes in a process each, which `kill`, `pause` and `bytes_written` need; the
        others share one, which needs the controller in it if any broker is. `None`:
        every node. Without Java's compiler all nodes are apart.
    """

    def __init__(
        self,
        libs: Path,
        base: Path,
        *,
        num_brokers: int = 3,
        num_racks: int = 3,
        num_dirs: int = 2,
        first_broker: int = 1,
        num_controllers: int = 1,
        config: Mapping[str, str] | None = None,
        controller_config: Mapping[str, str] | None = None,
        heap_mb: int = 256,
        archive: Path | None = None,
        apart: Collection[int] | None = None,
    ) -> None:
        self.libs = libs
        self.heap_mb = heap_mb
        self.base = base
        self.archive = archive
        self.brokers = list(range(first_broker, first_broker + num_brokers))
        self.racks = {b: f"r{n % num_racks + 1}" for n, b in enumerate(self.brokers)}
        self.num_dirs = num_dirs
        self.config = dict(config or {})
        self.controller_config = dict(controller_config or {})
        self.cluster_id = random_uuid()
        self.controllers = [CONTROLLER + n for n in range(num_controllers)]
        ports = free_ports(num_controllers + num_brokers)
        self.controller_ports = dict(zip(self.controllers, ports, strict=False))
        self.ports = dict(zip(self.brokers, ports[num_controllers:], strict=True))
        self.tool_options: tuple[str, ...] = ()
        is_shared = apart is not None and can_stay()
        self._shared = {*self.nodes} - {*(apart or ())} if is_shared else set()
        self._hosted: set[int] = set()
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    @property
    def nodes(self) -> list[int]:
        """The controllers, then the brokers."""
        return [*self.controllers, *self.brokers]

    @property
    def controller_port(self) -> int:
        """Port of the first controller."""
        return self.controller_ports[CONTROLLER]

    @property
    def bootstrap(self) -> str:
        """Every broker, as `--bootstrap-server` takes them."""
        return ",".join(f"127.0.0.1:{port}" for port in self.ports.values())

    def home(self, node: int) -> Path:
        """Return the folder of a node."""
        if node == CONTROLLER:
            return self.base / "c"
        return self.base / f"{'c' if node in self.controllers else 'b'}{node}"

    def log_dirs(self, broker: int) -> list[Path]:
        """Return the log dirs of a broker."""
        return [self.home(broker) / f"d{i + 1}" for i in range(self.num_dirs)]

    def log(self, node: int) -> str:
        """Return what a node has logged since its last start."""
        path = self.home(node) / "log"
        return path.read_text(errors="replace") if path.exists() else ""

    # -- life and death ------------------------------------------------------

    def start(self) -> Self:
        """Format the storage, start every node and wait until all serve."""
        shutil.rmtree(self.base, ignore_errors=True)
        self._format()
        try:
            self._begin(self.nodes)
        except BaseException:
            self.stop(is_hard=True)
            raise
        return self

    def start_node(self, node: int) -> None:
        """Start one node again and wait until it serves."""
        self._begin([node])

    def stop_node(self, node: int) -> None:
        """Shut one node down in order: leaders move away first."""
        if node in self._hosted:
            self._host("stop", [node])
        else:
            self._end([node], signal.SIGTERM)

    def kill(self, node: int) -> None:
        """End one node at once; the controller fences it some seconds later."""
        self._end([node], signal.SIGKILL)

    def wait_ended(self, node: int) -> None:
        """Wait until one node has ended by itself."""
        process = self._processes[node]
        wait_until(lambda: process.poll() is not None, f"node {node} to end")
        del self._processes[node]

    def bytes_written(self, node: int) -> int:
        """
        Return the bytes that a node has written so far: to its logs and to the network.

        The kernel counts write and sendfile, which brokers answer fetches with.
        """
        counters = Path(f"/proc/{self._processes[node].pid}/io").read_text("ascii")
        return int(dict(line.split(": ") for line in counters.splitlines())["wchar"])

    def pause(self, node: int) -> None:
        """Freeze one node: its port stays open, and nothing answers."""
        self._processes[node].send_signal(signal.SIGSTOP)

    def resume(self, node: int) -> None:
        """Let a frozen node go on."""
        self._processes[node].send_signal(signal.SIGCONT)

    def stop(self, *, is_hard: bool = False) -> None:
        """End every node, the controllers last."""
        sign = signal.SIGKILL if is_hard else signal.SIGTERM
        self._end([node for node in self._processes if node in self.brokers], sign)
        self._end(list(self._processes), sign)
        if self._hosted:
            self._host("leave", [node for node in self.nodes if node in self._hosted])

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop(is_hard=True)

    def _begin(self, nodes: Sequence[int]) -> None:
        """Start nodes and wait until they serve."""
        apart = [node for node in nodes if node not in self._shared]
        for node in apart:
            self._spawn(node)
        if shared := [node for node in nodes if node in self._shared]:
            self._host("start", shared)
        for node in apart:
            self._wait_started(node)

    def _host(self, step: str, nodes: Sequence[int]) -> None:
        """Start or stop nodes in the JVM that they share."""
        # Before it is known to succeed: what has half started is to be stopped, too.
        if step == "start":
            self._hosted |= {*nodes}
        else:
            self._hosted -= {*nodes}
        files = [str(self.home(node) / "server.properties") for node in nodes]
        self.run("Nodes", step, *files, heap_mb=HOST_HEAP_MB)

    def _spawn(self, node: int, *options: str) -> None:
        config = str(self.home(node) / "server.properties")
        command = [*self._java(*options), "kafka.Kafka", config]
        with (self.home(node) / "log").open("wb") as log:
            self._processes[node] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=java_environment(),
            )

    def _wait_started(self, node: int) -> None:
        def is_started() -> bool:
            if self._processes[node].poll() is not None:
                msg = f"node {node} ended:\n{self.log(node)[-3000:]}"
                raise RuntimeError(msg)
            return STARTED.format(node) in self.log(node)

        wait_until(is_started, f"node {node} to start")

    def _end(self, nodes: Sequence[int], sign: signal.Signals) -> None:
        for node in nodes:
            if self._processes[node].poll() is None:
                self._processes[node].send_signal(sign)
        for node in nodes:
            process = self._processes.pop(node)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    # -- files ---------------------------------------------------------------

    def _format(self) -> None:
        """
        Format the storage: the controllers by Kafka's tool, the brokers by hand.

        The tool writes the feature levels, which only controllers need; a
        broker needs just `meta.properties`, and a JVM for each costs a second.
        """
        for node in self.nodes:
            self._write_properties(node)
        for node in self.controllers:
            config = str(self.home(node) / "server.properties")
            options = ["format", "--cluster-id", self.cluster_id, "--config", config]
            self.run("kafka.tools.StorageTool", *options)
        for node in self.brokers:
            for folder in (*self.log_dirs(node), self.home(node) / "meta"):
                folder.mkdir(parents=True)
                (folder / "meta.properties").write_text(
                    f"version=1\ncluster.id={self.cluster_id}\nnode.id={node}\n"
                    f"directory.id={random_uuid()}\n"
                )

    def _write_properties(self, node: int) -> None:
        is_controller = node in self.controllers
        own = {"node": node, "port": self.ports.get(node, 0)}
        text = string.Template(TEMPLATE.read_text()).substitute(
            roles="controller" if is_controller else "broker",
            node=node,
            rack=self.racks.get(node, ""),
            voters=",".join(
                f"{voter}@127.0.0.1:{port}"
                for voter, port in self.controller_ports.items()
            ),
            port=self.ports.get(node, 0),
            internal_rf=min(3, len(self.brokers)),
            log_dirs=",".join(map(str, self.log_dirs(node))),
            metadata_dir=self.home(node) / "meta",
        )
        lines = [line for line in text.splitlines() if "=" in line and line[0] != "#"]
        values = dict(line.split("=", 1) for line in lines)
        if is_controller:
            port = self.controller_ports[node]
            values["listeners"] = f"CONTROLLER://127.0.0.1:{port}"
            values["log.dirs"] = str(self.home(node) / "meta")
            for key in ("advertised.listeners", "inter.broker.listener.name"):
                del values[key]
            del values["broker.rack"]
            values |= self.controller_config
        if not is_controller:
            values |= {key: value.format(**own) for key, value in self.config.items()}
        path = self.home(node) / "server.properties"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{key}={value}\n" for key, value in values.items()))

    # -- Kafka's own tools ---------------------------------------------------

    def _java(self, *options: str, heap_mb: int | None = None) -> list[str]:
        # One fixed order of jars: the archive holds only for the very same class path.
        jars = ":".join(str(jar) for jar in sorted(self.libs.glob("*.jar")))
        sharing = []
        if self.archive is not None and self.archive.exists():
            sharing = [f"-XX:SharedArchiveFile={self.archive}", "-Xshare:auto"]
        heap = f"-Xmx{heap_mb or self.heap_mb}m"
        return ["java", *options, heap, *JVM, *sharing, "-cp", jars]

    def run(
        self,
        main: str,
        *args: str,
        is_checked: bool = True,
        heap_mb: int | None = None,
    ) -> str:
        """
        Run a Java main class to its end, in a JVM with so much heap.

        Returns
        -------
        str
            What it wrote to stdout.

        Raises
        ------
        RuntimeError
            If it failed and `is_checked`.
        """
        # What the JVM itself has to say, it says on stdout, among the answers.
        quiet = ("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Xlog:disable")
        done = run_tool(tuple(self._java(*quiet, heap_mb=heap_mb)), main, args)
        if is_checked and done.returncode:
            msg = f"{main} {args}: {done.returncode}\n{done.stdout}{done.stderr}"
            raise RuntimeError(msg)
        return done.stdout

    def _tool(self, main: str, args: Sequence[str], *, is_checked: bool = True) -> str:
        servers = ("--bootstrap-server", self.bootstrap)
        return self.run(
            main, *servers, *self.tool_options, *args, is_checked=is_checked
        )

    def topics(self, *args: str) -> str:
        """Run `kafka-topics`; where it describes a topic, once its broker knows it."""
        main = f"{TOOLS}.TopicCommand"
        if {"--describe", "--topic"} <= set(args):
            wait_until(
                lambda: UNKNOWN not in self._tool(main, args, is_checked=False),
                f"the brokers to know what {args} name",
                timeout_s=20,
            )
        return self._tool(main, args)

    def reassign(self, *args: str, is_checked: bool = True) -> str:
        """Run `kafka-reassign-partitions`."""
        main = f"{TOOLS}.reassign.ReassignPartitionsCommand"
        return self._tool(main, args, is_checked=is_checked)

    def elect(self, *args: str) -> str:
        """Run `kafka-leader-election`."""
        return self._tool(f"{TOOLS}.LeaderElectionCommand", args)

    def describe_log_dirs(self, *args: str) -> str:
        """Run `kafka-log-dirs --describe`."""
        return self._tool(f"{TOOLS}.LogDirsCommand", ["--describe", *args])

    def configs(self, *args: str) -> str:
        """Run `kafka-configs`."""
        return self._tool("kafka.admin.ConfigCommand", args)

    def endpoints(self) -> str:
        """Run `kafka-cluster list-endpoints`: brokers, racks, fenced or not."""
        args = ["list-endpoints", "--bootstrap-server", self.bootstrap]
        args.append("--include-fenced-brokers")
        return self.run(f"{TOOLS}.ClusterTool", *args)

    def groups(self, *args: str) -> str:
        """Run `kafka-consumer-groups`."""
        return self._tool(f"{TOOLS}.consumer.group.ConsumerGroupCommand", args)

    def consume(self, tool: str, *args: str) -> subprocess.Popen[bytes]:
        """Start one of Kafka's console consumers; what it reads is thrown away."""
        main = f"{TOOLS}.consumer.{tool}"
        servers = ("--bootstrap-server", self.bootstrap)
        return subprocess.Popen(
            [*self._java(), main, *servers, *self.tool_options, *args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=java_environment(),
        )

    def quorum(self, which: str) -> str:
        """Run `kafka-metadata-quorum describe`: ``--status`` or ``--replication``."""
        main = f"{TOOLS}.MetadataQuorumCommand"
        return self._tool(main, ["describe", which])

    def features(self) -> str:
        """Run `kafka-features describe`."""
        return self._tool(f"{TOOLS}.FeatureCommand", ["describe"])

    def produce(self, topic: str, *, num_records: int, record_bytes: int) -> None:
        """Write records to a topic, spread over its partitions."""
        sizes = ("--num-records", str(num_records), "--record-size", str(record_bytes))
        # Small batches, or the sticky partitioner fills few partitions only.
        batches = ("--command-property", "batch.size=1024")
        pace = ("--throughput", "-1")
        main = f"{TOOLS}.ProducerPerformance"
        self._tool(main, ["--topic", topic, *sizes, *pace, *batches])


def random_uuid() -> str:
    """Return a Kafka Uuid: 16 bytes as base64 for URLs, without a leading dash."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def free_ports(count: int) -> list[int]:
    """
    Return free ports below the ephemeral range.

    From within it an outgoing connection may take the port while its broker is down.
    """
    found: list[int] = []
    while len(found) < count:
        port = random.randrange(20000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in found:
            found.append(port)
    return found


def wait_until(
    is_true: Callable[[], bool], what: str, *, timeout_s: float = 60
) -> None:
    """
    Ask again and again until something outside this process is so.

    Raises
    ------
    TimeoutError
        If it is not so within `timeout_s` seconds.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        asked = time.monotonic()
        if is_true():
            return
        now = time.monotonic()
        if now > deadline:
            msg = f"waited {timeout_s:g} s for {what}"
            raise TimeoutError(msg)
        # Asking takes the processor from the brokers.
        time.sleep(max(0.05, now - asked))


def write_archive(libs: Path, archive: Path, base: Path) -> None:
    """Write an AppCDS archive of what a broker loads: one short run of a cluster."""
    cluster = Cluster(libs, base, num_brokers=1, num_dirs=1)
    shutil.rmtree(base, ignore_errors=True)
    cluster._format()
    try:
        cluster._spawn(CONTROLLER)
        cluster._spawn(1, f"-XX:ArchiveClassesAtExit={archive}")
        cluster._wait_started(1)
    finally:
        cluster.stop()
    # A JVM that writes none ignores an empty one.
    archive.touch()
