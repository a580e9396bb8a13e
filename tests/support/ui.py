"""States of the page, and a page that is served."""

from planner.ui.ui_play import Play, play_of
from planner.ui.ui_state import UiState


def traffic(factor: float) -> Play:
    """Return the scenarios of today's cluster with other traffic."""
    return play_of(UiState().with_setting("traffic", f"{factor:g}"))
