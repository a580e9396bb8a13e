"""Words of the steps of the page."""

from planner.ui.ui_state import AFTERWARDS, CAPS, DEFAULTS, Step

SETTINGS = {
    "traffic": "traffic {} times today's",
    "growth": "growth {} % per month",
    "months": "{} months from now",
    "band": "band {}",
    **{name: f"at most {{}} of {name}" for name in CAPS},
    "bandwidth": "copies at {} per broker",
    "effort": "effort {}",
}
"""Words of each setting with its value."""
THEN = dict(
    zip(
        AFTERWARDS,
        ("rebalance all brokers", "move only what must move", "no plan"),
        strict=True,
    )
)
"""Words of the plans that may follow the changes."""
LOST = {"brokers": "broker", "racks": "rack", "log_dirs": "log dir"}


def step_text(step: Step) -> str:
    """
    Return a step in words.

    Examples
    --------
    >>> step_text({"change": "lose", "racks": ["a"]})
    'lose rack a'
    >>> step_text({"set": "traffic", "to": "2.5"})
    "traffic 2.5 times today's"
    >>> step_text({"change": "retention", "topics": "log.*", "keep": "2d"})
    'retention: topics log.*, keep 2d'
    """
    if "set" in step:
        return _setting_text(str(step["set"]), str(step["to"]))
    fields = {key: value for key, value in step.items() if key != "change"}
    if step["change"] == "lose":
        parts = [f"{LOST.get(k, k)} {_value_text(v)}" for k, v in fields.items()]
        return f"lose {', '.join(parts)}"
    listed = ", ".join(f"{key} {_value_text(value)}" for key, value in fields.items())
    name = str(step["change"]).replace("-", " ")
    return f"{name}: {listed}" if listed else name


def _setting_text(name: str, value: str) -> str:
    if name == "then":
        return THEN.get(value, value)
    if value == DEFAULTS[name] == "":
        return f"{name}: the usual"
    return SETTINGS[name].format(value)


def _value_text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
