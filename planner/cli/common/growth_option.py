"""Growth that all topics share, as an option gives it."""

from typing import TYPE_CHECKING

from planner.cli.common.input_problems import refuse_option

if TYPE_CHECKING:
    from planner.what_if.topic_growth import Rates


def read_growth_option(text: str | None) -> "Rates | None":
    """
    Return growth that all topics share.

    Raises
    ------
    BadInputError
        If the text says none.
    """
    from planner.what_if.topic_growth import parse_growth

    if text is None:
        return None
    try:
        return parse_growth(text)
    except ValueError as error:
        refuse_option("--growth", text, str(error))
