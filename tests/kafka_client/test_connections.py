"""Which of its failures an address is said to have."""

import pytest

from planner.kafka.client.addresses import Address
from planner.kafka.client.connection_failures import TIMED_OUT, Failure, Failures

BROKER = Address("127.0.0.1", 9092)
REFUSED = Failure("connection refused")
LATE = Failure(TIMED_OUT)


@pytest.mark.parametrize(
    ("came", "told"),
    [([LATE], LATE), ([LATE, REFUSED], REFUSED), ([REFUSED, LATE], REFUSED)],
)
def test_no_answer_in_time_hides_no_answer(came: list[Failure], told: Failure):
    failures = Failures()
    for one in came:
        failures.keep(BROKER, one)

    assert failures.by_address == {BROKER: told}
