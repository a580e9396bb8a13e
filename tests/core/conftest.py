"""What holds for the tests of the core."""

import pytest


@pytest.fixture(autouse=True)
def kernels():
    """Search as users do: small problems uncompiled."""
