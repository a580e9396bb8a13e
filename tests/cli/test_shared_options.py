"""Options that several decorators add to one command."""

from dataclasses import dataclass

import pytest
import typer
from typer.testing import CliRunner

from planner.cli.common.shared_options import gathered
from planner.cli.plan.plan_options import RequestOptions, with_request_options


@dataclass(frozen=True, kw_only=True)
class Pair:
    left: int = 1
    right: int = 2


with_pair = gathered(Pair, instead_of="pair")


@pytest.mark.parametrize(
    "decorate",
    [
        pytest.param(
            lambda f: with_request_options(with_pair(f)), id="context-outside"
        ),
        pytest.param(lambda f: with_pair(with_request_options(f)), id="context-inside"),
    ],
)
def test_gathered_options_stack_with_those_that_take_the_context(decorate):
    seen = []

    def command(*, pair: Pair, asked: RequestOptions) -> None:
        seen.append((pair, asked.given["seed"], asked.sources["seed"]))

    app = typer.Typer()
    app.command()(decorate(command))

    done = CliRunner().invoke(app, ["--right", "5", "--seed", "7"])

    assert done.exit_code == 0, done.output
    assert seen == [(Pair(right=5), 7, "COMMANDLINE")]
