"""Types of the values of options."""

from typing import Annotated, Literal

BrokerId = Annotated[int, "32 bits"]
"""Id of a broker."""
ResourceName = Literal["disk", "in", "out", "cpu", "replicas", "leaders"]
Fractions = dict[ResourceName, float]
"""Fractions by resource."""
Prefer = Literal["bytes", "moves"]
Effort = Literal["quick", "normal", "thorough", "exact"]
CopyOrder = Literal["shortest", "under-replicated", "small", "large", "topic"]
RackRule = Literal["distribution", "strict", "off"]
Preset = Literal["cruise-control"]
