"""First answers of the page that take as long as a test wants."""

import threading

from planner.ui.ui_answer import Answerer


class Gated:
    """
    Answerer whose figures wait at a gate, where they can be stopped.

    Parameters
    ----------
    snapshot
        Today's cluster.
    """

    def __init__(self, snapshot):
        self._real = Answerer(snapshot, snapshot.to_state())
        self.gate = threading.Event()
        self.begun, self.finished, self.checked = [], [], []

    def check(self, play):
        self.checked.append(play)
        self._real.check(play)

    def first(self, play, heard=lambda _: None):
        self.begun.append(play)
        heard("at the gate")
        while not self.gate.wait(0.01):
            heard("at the gate")
        found = self._real.first(play, heard)
        self.finished.append(play)
        return found
