"""What holds for all tests."""

from hypothesis import HealthCheck, settings

# Examples are judged by what comes out, not by how long a busy machine takes.
settings.register_profile(
    "steady", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")
