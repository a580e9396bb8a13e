"""What a real controller cannot be made to answer, by a stand-in for it."""

import json
from types import SimpleNamespace

import pytest

from planner.errors import AnswerUnknownError
from planner.kafka.actions import elect_leaders as elect
from planner.kafka.actions.elect_leaders import hold, preview
from planner.kafka.actions.elections import ElectionType, ElectRecord, Outcome
from planner.kafka.client.addresses import parse_bootstrap
from planner.kafka.client.admin_client import ClusterClient
from planner.kafka.client.client_pool import Share
from planner.kafka.client.cluster_errors import NotAuthorisedError
from planner.kafka.read.log_dirs import Partition
from planner.schema import json_schema

PREFERRED, UNCLEAN = ElectionType.PREFERRED, ElectionType.UNCLEAN


class Controller:
    """Topic `t`, every partition led by 2 and preferring 1, and what is answered."""

    def __init__(self, num_partitions: int = 1, codes: tuple[int, ...] = ()) -> None:
        self.leaders = [2] * num_partitions
        self.codes = codes  # one for each election; then 0
        self.asked: list[list[int]] = []
        self.operations = ["ALTER", "DESCRIBE"]
        self.topics = ["t"]

    def close(self) -> None:
        """Nothing is open."""

    def describe_cluster(self) -> dict:
        return {"brokers": [], "authorized_operations": self.operations}

    def describe_metadata_quorum(self) -> dict:
        return {}

    def describe_topic_partitions(self, names, limit, cursor) -> dict:
        partitions = [
            {
                "partition_index": number,
                "leader_id": leader,
                "replica_nodes": [1, 2],
                "isr_nodes": [1, 2],
            }
            for number, leader in enumerate(self.leaders)
        ]
        topic = {"name": "t", "error_code": 0, "partitions": partitions}
        hidden = {"name": "hidden", "error_code": 29, "partitions": []}
        found = [topic] if "t" in self.topics else []
        found += [hidden] if "hidden" in names else []
        return {"topics": found, "next_cursor": None}

    def elect_leaders(self, kind, chosen, timeout_ms, raise_errors):
        self.asked.append(chosen["t"])
        results = []
        for number in chosen["t"]:
            code = self.codes[number] if number < len(self.codes) else 0
            if code in {0, 84}:
                self.leaders[number] = 1
            result = {"partition_id": number, "error_code": code, "error_message": None}
            results.append(SimpleNamespace(**result))
        topic = SimpleNamespace(topic="t", partition_result=results)
        return SimpleNamespace(error_code=0, replica_election_results=[topic])


@pytest.fixture
def at_once(monkeypatch):
    """Let nobody wait for leaders that never come."""
    monkeypatch.setattr(elect, "_SEEN_WITHIN_S", 0.0)


def client_of(controller: Controller) -> ClusterClient:
    client = ClusterClient(parse_bootstrap("k1:1"), timeout_s=5)
    client._share = Share(lambda _: controller)
    return client


def held(controller: Controller) -> elect.ElectRecord:
    client = client_of(controller)
    return hold(client, preview(client, None, PREFERRED))


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        pytest.param(0, Outcome.ELECTED, id="elected"),
        pytest.param(84, Outcome.ELECTED, id="asked-twice-for-the-answer-was-lost"),
        pytest.param(80, Outcome.PREFERRED_NOT_AVAILABLE, id="died-meanwhile"),
        pytest.param(3, Outcome.UNKNOWN_PARTITION, id="deleted-meanwhile"),
        pytest.param(-1, Outcome.FAILED, id="controller-fails"),
    ],
)
def test_the_controllers_answer_decides(code: int, outcome: Outcome):
    found = held(Controller(codes=(code,)))

    (one,) = found.partitions
    assert one.outcome is outcome
    assert (one.leader, one.new_leader) == (2, 1 if outcome.is_fine else 2)
    assert found.done
    assert found.is_fine is outcome.is_fine


def test_a_leader_that_was_lost_again_is_reported(at_once):
    controller = Controller()
    controller.elect_leaders = _answer_only(controller.elect_leaders, controller)

    (one,) = held(controller).partitions

    assert (one.outcome, one.new_leader) == (Outcome.ELECTED, 2)
    assert one.message == "1 was elected, and lost it"


def _answer_only(elect_leaders, controller):
    def answer(*args, **options):
        found = elect_leaders(*args, **options)
        controller.leaders = [2]
        return found

    return answer


def test_a_user_without_the_right_sees_which():
    with pytest.raises(NotAuthorisedError, match="needs Alter on Cluster"):
        held(Controller(codes=(31,)))


@pytest.mark.parametrize(
    ("operations", "topics", "names", "needs"),
    [
        pytest.param(["DESCRIBE"], ["t"], None, "Alter on Cluster", id="elect"),
        pytest.param([], ["t"], None, "Alter on Cluster", id="nothing"),
        pytest.param(["ALTER"], [], None, "Describe on Topic '*'", id="see-any"),
        pytest.param(
            ["ALTER"],
            ["t"],
            [Partition("hidden", 0)],
            "Describe on Topic hidden",
            id="see-one",
        ),
    ],
)
def test_a_missing_right_is_no_election_without_partitions(
    operations, topics, names, needs
):
    controller = Controller()
    controller.operations, controller.topics = operations, topics

    with pytest.raises(NotAuthorisedError) as refused:
        preview(client_of(controller), names, PREFERRED)

    assert needs in refused.value.message


def test_no_request_is_larger_than_a_pass_of_the_controller(monkeypatch):
    monkeypatch.setattr(elect, "PARTITIONS_PER_REQUEST", 4)
    controller = Controller(num_partitions=10)
    steps = []
    client = client_of(controller)

    found = hold(
        client, preview(client, None, PREFERRED), done=lambda *step: steps.append(step)
    )

    assert controller.asked == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert steps == [(4, 10), (8, 10), (10, 10)]
    assert found.counts == {Outcome.ELECTED: 10}


def test_an_interrupted_user_sees_what_was_done(monkeypatch):
    monkeypatch.setattr(elect, "PARTITIONS_PER_REQUEST", 2)
    controller = Controller(num_partitions=4, codes=(0, 0, 31, 0))

    with pytest.raises(AnswerUnknownError, match="2 of 4 partitions were done") as end:
        held(controller)
    assert end.value.look.startswith("kafka-planner elect --election-type preferred")
    assert controller.leaders == [1, 1, 2, 1]


def test_no_question_is_asked_for_partitions_that_the_preview_does_not_elect():
    controller = Controller(num_partitions=2)
    controller.leaders = [1, 2]

    found = held(controller)

    assert controller.asked == [[1]]
    outcomes = [one.outcome for one in found.partitions]
    assert outcomes == [Outcome.ALREADY_PREFERRED, Outcome.ELECTED]


def test_a_user_with_limited_rights_sees_that_topics_may_be_missing():
    client = client_of(Controller())

    assert "invisible" in preview(client, None, PREFERRED).notes[0]
    assert preview(client, [Partition("t", 0)], PREFERRED).notes == []


def test_the_document_is_as_its_schema_says():
    document = held(Controller(num_partitions=2, codes=(80,))).model_dump(mode="json")

    assert ElectRecord.model_validate_json(json.dumps(document))
    assert set(json_schema("elect")["required"]) == set(document)
