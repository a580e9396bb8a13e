"""The page of `ui` of a running cluster: read once, and never changed."""

import time
import urllib.parse
import urllib.request

import pytest

from integration.kafka.cluster import Cluster
from integration.steps import create
from support.ui import served

LONG_S = 60
pytestmark = pytest.mark.kafka


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310
        text: str = answer.read().decode()
    return text


def shown(url: str, text: str) -> str:
    """Return the page once it shows a text; figures may take a while to be there."""
    ends = time.monotonic() + LONG_S
    while text not in (page := get(url)):
        assert time.monotonic() < ends, page
        time.sleep(0.1)
    return page


def test_a_running_cluster_is_read_and_left_as_it_is(new_cluster):
    cluster: Cluster = new_cluster()
    create(cluster, "orders", [[1, 2], [2, 3], [3, 1]])
    before = cluster.topics("--describe")

    with served("--bootstrap-server", cluster.bootstrap) as url:
        shown(url, 'id="broker-3"')
        steps = urllib.parse.quote('[{"change":"lose","brokers":"3"}]')
        shown(f"{url}?steps={steps}", "lose broker 3")

    assert cluster.topics("--describe") == before
