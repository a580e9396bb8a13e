"""What holds for all tests."""

import gc

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from integration.kafka.cluster import SHARED
from support.profile import PROFILE

# Examples are judged by what comes out, not by how long a busy machine takes. The same
# ones are drawn each time, so that a change is judged and not the draw, no more than
# `MOST`; more of the same at night: thorough; to look for new ones, and for as many as
# a property asks: explore.
STEADY = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much],
}
settings.register_profile("steady", derandomize=True, **STEADY)
settings.register_profile("quick", derandomize=True, **STEADY)
settings.register_profile("thorough", derandomize=True, **STEADY)
settings.register_profile("explore", **STEADY)
settings.load_profile(PROFILE)
MOST = {"thorough": 40, "steady": 16, "quick": 4}
"""Examples of any property by profile; where there is none, what it asks for itself."""
MOST_SLOW = MOST | {"steady": 6}
"""Examples of a property that is marked `slow`."""
WITH_JVM = ("kafka", "lake", "spark")
"""Marks of tests that need one."""
if PROFILE != "explore":
    # Else numbers and texts are drawn from the source of whatever modules are loaded,
    # so that a test draws other examples alone than together with others.
    providers.is_local_module_file = lambda _path: False


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """
    Keep tests that share a cluster or a session, or a module, in one process each.

    While brokers start, elect and copy, the others have the processor. Tests on a JVM
    come first: nothing would run beside what is left of them in the end. Those in a
    browser and modules with slow tests come next; what is left in the end is short.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(
        key=lambda item: (
            needs_no_jvm(item),
            item.get_closest_marker("browser") is None,
            item.path not in slow,
        )
    )
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(_group_of(item)))
        if PROFILE in MOST:
            is_slow = item.get_closest_marker("slow") is not None
            _draw_at_most(item, (MOST_SLOW if is_slow else MOST)[PROFILE])


def needs_no_jvm(item: pytest.Item) -> bool:
    """Tell tests that need neither Kafka nor Spark."""
    return not any(map(item.get_closest_marker, WITH_JVM))


def _group_of(item: pytest.Item) -> str:
    """Return the group of a test, whose tests run one after the other in a process."""
    if needs_no_jvm(item):
        return str(item.path.relative_to(item.config.rootpath))
    # What is marked lake is marked spark as well.
    name = next(name for name in WITH_JVM if item.get_closest_marker(name))
    is_apart = name == "kafka" and not SHARED & {*getattr(item, "fixturenames", ())}
    if not is_apart:
        return name
    # Runs of `apply` wait as long for brokers and copies as all the others together.
    return "kafka-apply" if item.path.stem.startswith("test_apply") else "kafka-apart"


def _draw_at_most(item: pytest.Item, most: int) -> None:
    """Let a property draw no more than that, whatever it asks for itself."""
    name = "_hypothesis_internal_use_settings"
    asked = getattr(getattr(item, "obj", None), name, None)
    if asked is not None and asked.max_examples > most:
        setattr(item.obj, name, settings(asked, max_examples=most))


# Nothing that is loaded and collected is garbage: see below.
gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """
    Make sure of the groups, and keep what is there out of Python's search for garbage.

    Modules and thousands of tests stay to the end; looking through them again and again
    takes some six hundredths of the processor time of a run.
    """
    _refuse_lost_groups(session)
    gc.collect()
    gc.freeze()
    gc.enable()


def _refuse_lost_groups(session: pytest.Session) -> None:
    """Refuse workers that would each start a Kafka and a Spark of their own."""
    if not getattr(session.config.option, "loadgroup", False):
        return
    for item in session.items:
        if not needs_no_jvm(item) and "@" not in item.nodeid:
            message = (
                "this pytest-xdist knows no groups with this pytest: use pytest<9.2"
            )
            raise pytest.UsageError(message)


@pytest.fixture(autouse=True)
def kernels(request, monkeypatch):
    """
    Search compiled on every cluster, however small: faster, and the answers the same.

    The tests of the core and of the command itself search as users do: small problems
    uncompiled, so that a wrong index raises and what runs is seen. So do those on Kafka
    and Spark, which have processes of their own: compiling takes each half a minute.
    """
    if needs_no_jvm(request.node):
        monkeypatch.setattr("placement.core.search.compilation.PLAIN_ITEMS", -1)


@pytest.fixture(scope="session")
def spark():
    """The one Spark session of a test run."""
    from planner.spark.session import start_session
    from support.spark import JVM

    session = start_session(
        master="local[2]",
        conf={
            "spark.sql.shuffle.partitions": "2",
            "spark.driver.memory": "1g",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.driver.defaultJavaOptions": JVM,
        },
    )
    yield session
    session.stop()
