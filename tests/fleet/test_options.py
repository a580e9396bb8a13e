"""Whoever plans a fleet has the options of who plans one cluster."""

from planner.cli.main import build_command

OF_ONE_CLUSTER = {"config", "plot", "snapshot", "trade_off"}
"""What `fleet plan` lacks: a sweep is its file, and one row has no second plan."""


def options_of(*path):
    command = build_command()
    for name in path:
        command = command.commands[name]
    return {parameter.name for parameter in command.params}


def test_fleets_have_the_options_of_a_rebalance():
    single, fleet = options_of("plan", "rebalance"), options_of("fleet", "plan")

    assert single - fleet == OF_ONE_CLUSTER
