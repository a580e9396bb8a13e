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
