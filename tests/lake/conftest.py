"""
The tests on Delta Lake and Iceberg, in a process of their own.

Neither runs on the Spark of the other tests. So pytest runs these tests once more, in a
process that has another PySpark on its path, and here each test reports what came of it
there.
"""

import os
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest

from support.lake.parts import PYSPARK, missing_prerequisite
from support.lake.sessions import FORMATS, INSIDE, lake_conf
from support.other_spark import outcomes_on
from support.profile import IS_THOROUGH

IS_INSIDE = INSIDE in os.environ
OUTCOMES = pytest.StashKey[dict[str, str | None]]()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Report what came of a test inside, instead of running it here."""
    if IS_INSIDE:
        return None
    outcomes = _outcomes(pyfuncitem.session)
    trouble = outcomes.get(_id_of(pyfuncitem), "it was not run")
    if trouble is not None:
        pytest.fail(trouble, pytrace=False)
    return True


def _outcomes(session: pytest.Session) -> dict[str, str | None]:
    """Return by test what failed in it; `None`: nothing did."""
    if OUTCOMES not in session.stash:
        if missing := missing_prerequisite():
            pytest.fail(missing, pytrace=False)
        names = [_id_of(item) for item in session.items if _is_lake(item)]
        session.stash[OUTCOMES] = _run_inside(names, session.config.rootpath)
    return session.stash[OUTCOMES]


def _id_of(item: pytest.Item) -> str:
    """Return the id of a test, without the group that xdist puts behind it."""
    return item.nodeid.partition("@")[0]


def _is_lake(item: pytest.Item) -> bool:
    return item.get_closest_marker("lake") is not None


def _run_inside(names: list[str], root: Path) -> dict[str, str | None]:
    with tempfile.TemporaryDirectory() as warehouse:
        return outcomes_on(PYSPARK, names, root, {INSIDE: warehouse})


@pytest.fixture(scope="session")
def lake():
    """The one session of the tests on Delta Lake and Iceberg; outside there is none."""
    if not IS_INSIDE:
        yield None
        return
    from planner.spark.session import start_session

    session = start_session(master="local[1]", conf=lake_conf(Path(os.environ[INSIDE])))
    yield session
    session.stop()


@pytest.fixture(params=FORMATS)
def schema(request, lake):
    """A schema for the tables of one test, in each of both formats."""
    name = re.sub(r"\W+", "_", request.node.name.removeprefix("test_")).strip("_")
    return _made(lake, request.param, name)


@pytest.fixture(scope="module", params=FORMATS if IS_THOROUGH else ["iceberg"])
def shared_schema(request, lake):
    """A schema for the tables of all tests of a module, at night in both formats."""
    return _made(lake, request.param, request.module.__name__.rpartition(".")[2])


def _made(lake: Any, kind: str, name: str) -> str:
    if lake is None:
        return ""
    schema = f"{FORMATS[kind]}.{name}"
    lake.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    return schema
