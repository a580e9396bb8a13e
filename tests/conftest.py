"""What holds for all tests."""

import os

import pytest
from hypothesis import HealthCheck, settings

# Examples are judged by what comes out, not by how long a busy machine takes. The same
# ones are drawn each time, so that a change is judged and not the draw; to look for
# new ones: HYPOTHESIS_PROFILE=explore.
STEADY = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("steady", derandomize=True, **STEADY)
settings.register_profile("explore", **STEADY)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


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
