"""Fractions on the command line, as numbers or in percent."""

from collections.abc import Callable

import typer

from planner.text.units import parse_fraction


def fraction(most: float = float("inf")) -> Callable[[object], float]:
    """
    Return a parser of fractions from 0 on: ``0.05`` or ``5%``.

    Parameters
    ----------
    most
        Largest fraction that is accepted.
    """

    def read(value: object) -> float:
        try:
            number = parse_fraction(str(value))
        except ValueError:
            msg = f"{value} is not a fraction; write 0.05 or 5%"
            raise typer.BadParameter(msg) from None
        if not 0 <= number <= most:
            msg = f"{value} is out of range: from 0 to {most:g}"
            raise typer.BadParameter(msg)
        return number

    return read
