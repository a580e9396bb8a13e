"""
Panels of the help: groups of commands, and groups of the options of large commands.

A command names its panel where it is registered. An option is in the panel of its
declaration, or else in the one that lists its name here.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

START = "Start here"
TAKE = "Take"
STORE = "Store"
LOOK = "Look"
PLAN = "Plan"
RUN = "Run"
GROUPS = "Groups"
KEYS = "Keys"
FLEETS = "Fleets"
COMMAND_PANELS = (START, TAKE, STORE, PLAN, LOOK, RUN, GROUPS, KEYS, FLEETS)
"""Panels of commands in the order of the help; others follow as registered."""
MANY_COMMANDS = 5
"""Commands above which each command of a group names a panel."""

MANY_OPTIONS = 12
"""Options above which the options of a command are divided into panels."""

OPTION_PANELS = {
    "Input": ("--snapshot", "--group", "--weights", "--config"),
    "Sample": (
        *("--sample-format", "--key-column", "--key-type", "--key-encoding"),
        *("--schema-id", "--max-message-bytes", "--record-bytes", "--max-messages"),
    ),
    "Connection": (
        *("--bootstrap-server", "--command-config", "--resolve", "--timeout"),
        *("--sample-seconds", "--allow-partial"),
    ),
    "Snapshots": ("--all", "--since", "--until", "--cluster"),
    "Topics": ("--topic",),
    "Brokers": (),
    "Balance": ("--band", "--capacity-threshold"),
    "Rules": (),
    "Goals": (),
    "Copies": (),
    "Waves": ("--bandwidth",),
    "Search": ("--effort", "--seed", "--trade-off", "--jobs"),
    "Spark": ("--spark", "--master", "--conf"),
    "Output": ("--output", "--metrics", "--format", "--quiet", "--verbose", "--help"),
}
"""Options that declare no panel, by the panel; panels in the order of the help."""

_PANEL_OF = {
    option: panel for panel, options in OPTION_PANELS.items() for option in options
}


def options_by_panel(options: Iterable[Any], default: str) -> dict[str, list[Any]]:
    """
    Return the options of a command by panel, in the order of the help.

    Parameters
    ----------
    options
        Options of Typer.
    default
        Panel of options that no other panel lists, and of those that would be alone
        in theirs. The only panel if the options are few and none declares its own.
    """
    listed = list(options)
    declared = [getattr(each, "rich_help_panel", None) for each in listed]
    if len(listed) <= MANY_OPTIONS and not any(declared):
        return {default: listed}
    names = [own or _panel_of(each) for each, own in zip(listed, declared, strict=True)]
    sizes = Counter(names)
    panels: dict[str, list[Any]] = {default: []}
    for option, name in zip(listed, names, strict=True):
        panel = name if sizes[name] > 1 else default
        panels.setdefault(panel or default, []).append(option)
    ranks = {name: rank for rank, name in enumerate(OPTION_PANELS)}
    return dict(sorted(panels.items(), key=lambda item: ranks.get(item[0], -1)))


def _panel_of(option: Any) -> str:  # noqa: ANN401 - a Click option
    """Return the panel that lists an option; nothing if none does."""
    return next((_PANEL_OF[name] for name in option.opts if name in _PANEL_OF), "")
