"""What holds for all tests."""

import os

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

# Examples are judged by what comes out, not by how long a busy machine takes. The same
# ones are drawn each time, so that a change is judged and not the draw; to look for
# new ones: HYPOTHESIS_PROFILE=explore.
STEADY = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.filter_too_much],
}
settings.register_profile("steady", derandomize=True, **STEADY)
settings.register_profile("explore", **STEADY)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
if "HYPOTHESIS_PROFILE" not in os.environ:
    # Else numbers and texts are drawn from the source of whatever modules are loaded,
    # so that a test draws other examples alone than together with others.
    providers.is_local_module_file = lambda _path: False


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """
    Keep the tests on Kafka in one process and those on Spark in another.

    While brokers start and elect, Spark has the processor; and each has its cluster, or
    its session, once.
    """
    for item in items:
        for name in ("kafka", "spark"):
            if item.get_closest_marker(name):
                item.add_marker(pytest.mark.xdist_group(name))


@pytest.fixture(autouse=True)
def kernels(monkeypatch):
    """
    Search compiled on every cluster, however small: faster, and the answers the same.

    The tests of the core and of the command itself search as users do: small problems
    uncompiled, so that a wrong index raises and what runs is seen.
    """
    monkeypatch.setattr("placement.core.search.PLAIN_ITEMS", -1)


@pytest.fixture(scope="session")
def spark():
    """The one Spark session of a test run."""
    from planner.spark.session import start_session

    session = start_session(
        master="local[2]",
        conf={"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g"},
    )
    yield session
    session.stop()
