"""How many cases tests draw: by HYPOTHESIS_PROFILE."""

import os

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "steady")
IS_THOROUGH = PROFILE in {"thorough", "explore"}
"""Whether as many cases are drawn as a night allows."""
