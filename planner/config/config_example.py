"""An example `planner.toml` with every option as a comment."""

import textwrap
from collections.abc import Iterator, Mapping

from planner.config.config_file import OPERATION, PLAN, Options
from planner.config.config_option import ConfigOption, Kind

WIDTH = 80
HEAD = """\
# Options of plans for kafka-planner. Read where it is asked for: with
# `--config planner.toml`, or with PLANNER_CONFIG=planner.toml in the environment.
# The command line goes before the environment (PLANNER_MAX_BYTES=2TB), which goes
# before this file. `kafka-planner config show --config planner.toml` says what
# holds, and where it came from.
"""
EXAMPLES: Mapping[str, str] = {
    "band": "{ all = 0.10, disk = 0.05 }",
    "resources": '["disk", "in", "out", "replicas", "leaders"]',
    "capacity_threshold": "{ disk = 0.8, in = 0.8, out = 0.8, cpu = 0.7 }",
    "topic": '["orders", "payments"]',
    "topics": '"(orders|payments)[.].*"',
    "exclude_topics": '["__.*", "dev[.].*"]',
    "max_moves": "500",
    "max_bytes": '"2TB"',
    "max_cross_rack_bytes": '"500GB"',
    "move_cost_bytes": '"1GB"',
    "deadline": "60",
    "max_moves_in": "5",
    "max_moves_out": "5",
    "max_moves_per_broker": "8",
    "max_moves_per_partition": "1",
    "bandwidth": '"50MB/s"',
    "order": '"shortest"',
    "rules": '"cruise-control"',
    "rack_rule": '"strict"',
    "rack_map": '{ "us-east-1a" = "a", "us-east-1b" = "b" }',
    "broker_set": '["orders.*=gold", ".*=silver"]',
    "topics_apart": '["orders.*=payments.*"]',
    "topics_together": '["orders|payments"]',
    "keep_topics": '["__.*"]',
    "keep_leaders": '["payments.*"]',
    "cpu_weight": "{ leader_in = 0.02, leader_out = 0.01, follower_in = 0.01 }",
    "hard": '["band-disk"]',
    "soft": '["max-bytes", "rack", "capacity-disk"]',
    "spread_topics": '"orders[.].*"',
    "spread_topic_leaders": '"orders[.].*"',
    "spread_band": "1.8",
    "spread_gap": '"2-40"',
    "min_topic_leaders": '{ "__consumer_offsets" = 1 }',
    "host_capacity_threshold": "{ in = 0.8, out = 0.8 }",
    "low_utilization": "{ disk = 0.2 }",
    "max_replicas_per_broker": "4000",
    "broker_list": "[4, 5]",
    "broker": "[3]",
    "with_broker": "[9]",
    "log_dirs": '["4:/data/d1"]',
    "empty": '["3:/data/d1"]',
    "new_broker": '["id=7,rack=c,like=3"]',
    "only": '["offline", "racks"]',
    "lost": '"3"',
    "with_log_dirs": "true",
    "replication_factor": "3",
    "replication_factors": '"factors.toml"',
    "destination_broker_list": '"1-6"',
    "exclude_brokers_for_replicas": "[4]",
    "exclude_brokers_for_leaders": "[4]",
}
"""Example values by option; other options show their default."""


def example_config(operations: Mapping[str, Options]) -> str:
    """
    Return the text of the example: each option and its help, as comments.

    Parameters
    ----------
    operations
        The options of each operation, by name.
    """
    return "\n".join([HEAD, *_lines(operations)]) + "\n"


def _lines(operations: Mapping[str, Options]) -> Iterator[str]:
    common = {
        name
        for options in operations.values()
        for name in options
        if all(name in others for others in operations.values())
    }
    first = next(iter(operations.values()))
    yield f"[{PLAN}]"
    yield from _settings({name: first[name] for name in first if name in common})
    for operation, options in operations.items():
        own = {name: options[name] for name in options if name not in common}
        words = " Its own options:" if own else ""
        yield f"# What only `plan {operation}` does, before [{PLAN}].{words}"
        yield f"[{OPERATION}.{operation}]"
        yield from _settings(own)


def _settings(options: Options) -> Iterator[str]:
    for name, option in options.items():
        words = option.help
        if option.choices:
            words += f" One of {', '.join(option.choices)}."
        yield from textwrap.wrap(
            words, WIDTH, initial_indent="# ", subsequent_indent="# "
        )
        value = EXAMPLES.get(name) or _toml(option)
        yield f"# {name} = {value}"
        yield ""
    if not options:
        yield ""


def _toml(option: ConfigOption) -> str:
    """Return the default of an option as TOML, or a value of its kind."""
    value = option.default
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "1" if option.kind is Kind.COUNT else '"…"'
    return f'"{value}"' if isinstance(value, str) else str(value)
