"""
Main functions of processes that plan, for tests of the work in the background.

A process that is started anew imports its main function by the name of its module, so
that it must be where the path of the tests leads.
"""

import os
import time

from planner.ui.ui_worker import Order, Refused, Stop, Written

AGES_S = 1_200


def patient(link, _):
    """Report progress until a stop arrives; folders are written at once."""
    while True:
        order = link.recv()
        while isinstance(order, Order) and order.folder is None:
            link.send("still at it")
            if link.poll(0.05) and isinstance(link.recv(), Stop):
                link.send(Refused("stopped"))
                break
        if isinstance(order, Order) and order.folder is not None:
            link.send(Written())


def deaf(link, _):
    """Take an order, and neither end nor read on."""
    link.recv()
    link.send("deaf")
    time.sleep(AGES_S)


def mortal(link, _):
    """End in the middle of an order, after a word of progress."""
    link.recv()
    link.send("at it")
    os._exit(3)
