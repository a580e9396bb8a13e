import threading

import pytest

from planner.kafka.client.background_tasks import OverdueError, Task, each_at_once
from planner.kafka.client.client_pool import Share

WAIT_S = 30  # for what happens at once; only a failing test waits so long


class StuckError(Exception):
    """What a client raises that may be stuck."""


class Admin:
    """A client that only knows whether it was closed."""

    def __init__(self) -> None:
        self.closed = threading.Event()

    def close(self) -> None:
        self.closed.set()


class Factory:
    def __init__(self) -> None:
        self.made: list[Admin] = []

    def __call__(self, _: float) -> Admin:
        self.made.append(Admin())
        return self.made[-1]


@pytest.fixture
def factory() -> Factory:
    return Factory()


@pytest.fixture
def share(factory: Factory) -> Share:
    return Share(factory, (StuckError,))


def raise_stuck(_: object) -> None:
    raise StuckError


def test_what_is_not_done_in_time_is_overdue():
    is_over = threading.Event()
    task = Task(lambda: is_over.wait(WAIT_S))

    with pytest.raises(OverdueError):
        task.result(0)
    is_over.set()

    assert task.result() is True


@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_results_come_in_the_order_of_the_items(count: int):
    assert each_at_once(lambda n: -n, range(count)) == [-n for n in range(count)]


def test_items_are_worked_on_at_the_same_time():
    meeting = threading.Barrier(3, timeout=WAIT_S)

    each_at_once(lambda _: meeting.wait(), range(3), at_once=3)


def test_no_more_than_so_many_are_worked_on_at_a_time():
    lock = threading.Lock()
    under_way, most = 0, 0

    def work(_: int) -> None:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        with lock:
            under_way -= 1

    each_at_once(work, range(200), at_once=3)

    assert 1 <= most <= 3


def test_of_several_errors_the_first_items_is_raised():
    meeting = threading.Barrier(2, timeout=WAIT_S)

    def work(number: int) -> None:
        meeting.wait()
        raise KeyError(number)

    with pytest.raises(KeyError, match="0"):
        each_at_once(work, [0, 1], at_once=2)


def test_nothing_is_begun_after_an_error():
    begun = []

    def work(number: int) -> None:
        begun.append(number)
        raise StuckError

    with pytest.raises(StuckError):
        each_at_once(work, range(100), at_once=1)
    assert begun == [0]


def test_one_client_answers_every_question(share: Share, factory: Factory):
    asked = {id(share.ask(lambda admin: admin, WAIT_S)) for _ in range(3)}

    assert asked == {id(factory.made[0])}


def test_threads_that_begin_together_share_one_client(share: Share, factory: Factory):
    meeting = threading.Barrier(8, timeout=WAIT_S)

    def ask(_: int) -> object:
        meeting.wait()
        return share.ask(id, WAIT_S)

    assert len(set(each_at_once(ask, range(8), at_once=8))) == 1
    assert len(factory.made) == 1


def test_a_client_in_doubt_is_replaced_and_closed(share: Share, factory: Factory):
    with pytest.raises(StuckError):
        share.ask(raise_stuck, WAIT_S)
    share.ask(id, WAIT_S)

    assert [admin.closed.is_set() for admin in factory.made] == [True, False]


def test_an_answer_that_only_says_no_keeps_the_client(share: Share, factory: Factory):
    with pytest.raises(ZeroDivisionError):
        share.ask(lambda _: 1 / 0, WAIT_S)
    share.ask(id, WAIT_S)

    assert len(factory.made) == 1


def test_who_is_still_being_answered_is_not_cut_off(share: Share, factory: Factory):
    begun, go_on = threading.Event(), threading.Event()

    def slow(admin: Admin) -> bool:
        begun.set()
        go_on.wait(WAIT_S)
        return admin.closed.is_set()

    other = Task(lambda: share.ask(slow, WAIT_S))
    begun.wait(WAIT_S)
    with pytest.raises(StuckError):
        share.ask(raise_stuck, WAIT_S)
    was_closed = factory.made[0].closed.is_set()
    go_on.set()

    assert other.result(WAIT_S) is False
    assert not was_closed
    assert factory.made[0].closed.is_set()


def test_a_client_that_never_answers_is_closed_under_its_users(
    share: Share, factory: Factory
):
    begun = threading.Event()

    def ask(admin: Admin) -> None:
        # As kafka-python: waits for ever, and then says that it is closed.
        begun.set()
        admin.closed.wait(WAIT_S)
        message = "closed"
        raise RuntimeError(message)

    other = Task(lambda: share.ask(ask, WAIT_S))
    begun.wait(WAIT_S)
    with pytest.raises(OverdueError):
        share.ask(ask, 0.05)

    with pytest.raises(OverdueError):
        other.result(WAIT_S)


def test_closing_leaves_no_client_open(share: Share, factory: Factory):
    share.ask(id, WAIT_S)
    share.close()
    share.ask(id, WAIT_S)
    share.close()

    assert [admin.closed.is_set() for admin in factory.made] == [True, True]
