"""The page of `ui` of a running cluster: read once, and never changed."""

import urllib.parse
import urllib.request

import pytest

from integration.kafka.cluster import Cluster
from integration.steps import create
from support.ui import served

pytestmark = pytest.mark.kafka


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=60) as answer:  # noqa: S310
        text: str = answer.read().decode()
    return text


def test_a_running_cluster_is_read_and_left_as_it_is(new_cluster):
    cluster: Cluster = new_cluster()
    create(cluster, "orders", [[1, 2], [2, 3], [3, 1]])
    before = cluster.topics("--describe")

    with served("--bootstrap-server", cluster.bootstrap) as url:
        today = get(url)
        steps = urllib.parse.quote('[{"change":"lose","brokers":"3"}]')
        lost = get(f"{url}?steps={steps}")

    assert 'id="broker-3"' in today
    assert "lose broker 3" in lost
    assert cluster.topics("--describe") == before
