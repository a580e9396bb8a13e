"""Fractions on the command line, as numbers or in percent."""

from collections.abc import Callable

import typer

from planner.text.units import parse_fraction


def fraction(most: float = float("inf")) -> Callable[[object], float]:
    """
    Return what reads a fraction from 0 on: ``0.05`` or ``5%``.

    Parameters
    ----------
    most
        The largest one that is taken.
    """

    def read(value: object) -> float:
        try:
            number = parse_fraction(str(value))
        except ValueError:
            msg = f"{value} is no fraction, as 0.05 or 5%"
            raise typer.BadParameter(msg) from None
        if not 0 <= number <= most:
            msg = f"{value} is not from 0 to {most:g}"
            raise typer.BadParameter(msg)
        return number

    return read
