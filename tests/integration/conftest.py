"""A real Kafka for the tests marked `kafka`: shared by most, apart for failures."""

import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from kafka import KafkaAdminClient

from integration.certificates import write_stores
from integration.kafka.cluster import SHARED, Cluster, write_archive
from integration.kafka.jars import kafka_jars, missing_prerequisite
from integration.readers import Reader
from support.made_once import made_once

ClusterFactory = Callable[..., Cluster]
STAYING = pytest.StashKey[list[Cluster]]()
"""The ones that have been started."""
SLOW_COPIES = {"replica.quota.window.num": "2", "replica.fetch.max.bytes": "65536"}
"""Settings of brokers: by default ten seconds' worth is copied at once."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Without Java or Maven one test is left, to fail with the one line that counts."""
    needy = [item for item in items if item.get_closest_marker("kafka")]
    if needy and missing_prerequisite():
        dropped = needy[1:]
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if item not in dropped]


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Stop clusters after the last test on any: idle, each takes a tenth of a core."""
    session = item.session
    if STAYING in session.stash and item is _last_on_shared(session.items):
        for cluster in session.stash[STAYING]:
            cluster.stop(is_hard=True)


def _last_on_shared(items: Sequence[pytest.Item]) -> pytest.Item | None:
    for item in reversed(items):
        if SHARED & {*getattr(item, "fixturenames", ())}:
            return item
    return None


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """A shell in the background ignores Ctrl-C, and what it starts inherits that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def libs() -> Path:
    """Kafka's jars."""
    if problem := missing_prerequisite():
        pytest.fail(problem, pytrace=False)
    return kafka_jars()


@pytest.fixture(scope="session")
def archive(libs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """AppCDS archive: halves the start of a broker."""
    base = tmp_path_factory.mktemp("archive") / "kafka"
    return made_once(
        libs.parent / "kafka.jsa", lambda path: write_archive(libs, path, base)
    )


@pytest.fixture(scope="session")
def stores(libs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of key and trust stores of one self-signed certificate."""
    return write_stores(tmp_path_factory.mktemp("stores"))


@pytest.fixture(scope="session")
def shared_cluster(staying: ClusterFactory) -> Cluster:
    """Three brokers on three racks with two log dirs each; tests add topics only."""
    return staying("shared")


@pytest.fixture(scope="session")
def slow_cluster(staying: ClusterFactory) -> Cluster:
    """Brokers that copy in small pieces, and as slowly as a throttle says at once."""
    return staying("slow", config=SLOW_COPIES)


@pytest.fixture(scope="session")
def staying(
    request: pytest.FixtureRequest,
    libs: Path,
    archive: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ClusterFactory]:
    """Start a cluster that stays until the last test on such a cluster has ended."""
    started = request.session.stash.setdefault(STAYING, [])

    def start(name: str, **options: object) -> Cluster:
        base = tmp_path_factory.mktemp(name) / "kafka"
        started.append(Cluster(libs, base, archive=archive, apart=(), **options))
        return started[-1].start()

    yield start
    for cluster in started:
        cluster.stop(is_hard=True)


@pytest.fixture
def new_cluster(libs: Path, archive: Path, tmp_path: Path) -> Iterator[ClusterFactory]:
    """
    Start a cluster of the test's own, to be changed or broken.

    The nodes that the test kills or freezes are named as `apart`.
    """
    started: list[Cluster] = []

    def start(*, apart: Sequence[int] = (), **options: object) -> Cluster:
        base = tmp_path / "kafka"
        cluster = Cluster(libs, base, archive=archive, apart=apart, **options)
        started.append(cluster)
        return cluster.start()

    yield start
    for cluster in started:
        cluster.stop(is_hard=True)


@pytest.fixture
def admin(shared_cluster: Cluster) -> Iterator[KafkaAdminClient]:
    """Admin client of the shared cluster, for what a test prepares."""
    with KafkaAdminClient(bootstrap_servers=shared_cluster.bootstrap) as client:
        yield client


@pytest.fixture
def start_reader(
    shared_cluster: Cluster, tmp_path: Path
) -> Iterator[Callable[[str, str, str], Reader]]:
    """Start consumers, and end those that a test leaves behind."""
    readers: list[Reader] = []

    def started(group: str, pattern: str, kind: str) -> Reader:
        path = tmp_path / f"reader-{len(readers)}.jsonl"
        reader = Reader(path, shared_cluster.bootstrap, group, pattern, kind)
        readers.append(reader)
        return reader

    yield started
    for reader in readers:
        reader.crash()
