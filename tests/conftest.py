"""What holds for all tests."""

import os

from hypothesis import HealthCheck, settings

# Examples are judged by what comes out, not by how long a busy machine takes. The same
# ones are drawn each time, so that a change is judged and not the draw; to look for
# new ones: HYPOTHESIS_PROFILE=explore.
STEADY = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("steady", derandomize=True, **STEADY)
settings.register_profile("explore", **STEADY)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
