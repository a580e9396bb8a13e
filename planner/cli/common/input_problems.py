"""Refusal of an option of the command line."""

from typing import NoReturn

from planner.errors import BadInputError, InputProblem


def refuse_option(
    option: str, value: str, rule: str, remedy: str = "correct the value"
) -> NoReturn:
    """
    Refuse an option.

    Raises
    ------
    BadInputError
        Always.
    """
    problem = InputProblem.of_option(option, value, rule, remedy)
    msg = "bad options"
    raise BadInputError(msg, [problem])
