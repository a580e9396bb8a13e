"""`keys` on the command line and from Python: screens, documents, refusals."""

import pytest

import planner
from planner.demo import SNAPSHOT_FILE
from planner.keys.growth.growth_document import KeysGrowRecord
from planner.keys.skew_document import KeysSkewRecord
from planner.snapshot import read_snapshot
from support.commands import run


@pytest.fixture
def sample(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "keys.txt"
    path.write_text("".join(f"customer-{n % 37}\n" for n in range(500)))
    return path


def test_skew_prints_shares_hot_keys_a_sweep_and_comparisons(sample, capsys):
    words = ("--partitions", 6, "--sweep", "3-6", "--partitioner", "default")

    outcome = run(
        capsys, "keys", "skew", sample.name, *words, "--partitioner", "sarama"
    )

    assert outcome.code == 0, outcome.err
    assert "500 records, 37 keys" in outcome.out
    assert "PARTITION  RECORDS" in outcome.out
    assert "customer-1 " in outcome.out
    assert "PARTITIONS  MAX/MEAN" in outcome.out
    assert "default with sarama" in outcome.out
    assert all(len(line) <= 80 for line in outcome.out.splitlines())


def test_skew_prints_the_shares_of_bytes_where_the_sample_has_them(
    tmp_path, capsys, sample
):
    path = tmp_path / "k.csv"
    path.write_text('key,bytes\na,100\nb,300\n"",500\n,100\n')
    words = ("--partitions", 4, "--partitioner", "murmur2")

    outcome = run(capsys, "keys", "skew", path, *words)
    document = run(capsys, "keys", "skew", path, *words, "--format", "json").document
    without = run(capsys, "keys", "skew", sample, *words)

    shares = [row["bytes_share"] for row in document["partitions"]]
    assert sum(shares) == pytest.approx(1)
    assert max(shares) * 4 == pytest.approx(document["bytes_max_over_mean"])
    assert f"by bytes {max(shares) * 4:.3f} x" in " ".join(outcome.out.split())
    assert "OF BYTES" in outcome.out
    assert "(empty key)" in outcome.out
    assert "BYTES" in without.out
    assert "OF BYTES" not in without.out


def test_clients_that_agree_on_every_key_are_said_to(sample, capsys):
    names = ("--partitioner", "default", "--partitioner", "kafka-python")

    outcome = run(capsys, "keys", "skew", sample, "--partitions", 6, *names)

    assert "no key: clients of both write each key" in " ".join(outcome.out.split())
    assert "order is lost" not in outcome.out


def test_skew_prints_its_document(sample, capsys):
    outcome = run(capsys, "keys", "skew", sample, "--partitions", 6, "--format", "json")

    found = KeysSkewRecord.model_validate(outcome.document)
    assert found.sample.records == 500
    assert found.partitioner == "default"
    assert sum(each.records for each in found.partitions) == 500
    again = planner.keys_skew(str(sample), partitions=6)
    assert again.document == outcome.document


def test_grow_prints_what_moves(sample, capsys):
    outcome = run(capsys, "keys", "grow", sample.name, "--from", 6, "--to", 8)

    assert outcome.code == 0, outcome.err
    assert "6 to 8 partitions" in outcome.out
    assert "by theory 75 %" in outcome.out
    assert "12 partitions" in outcome.out
    assert all(len(line) <= 80 for line in outcome.out.splitlines())


def test_grow_takes_the_count_and_configs_from_a_snapshot(sample, capsys):
    snapshot = read_snapshot(SNAPSHOT_FILE)
    topics = snapshot.partitions["topic"].to_pylist()
    topic = topics[0]
    where = ("--snapshot", SNAPSHOT_FILE, "--topic", topic, "--format", "json")

    outcome = run(capsys, "keys", "grow", sample, "--to", 10_000, *where)

    found = KeysGrowRecord.model_validate(outcome.document)
    assert found.before == topics.count(topic)
    assert found.compacted.topic is not None


def test_the_api_takes_keys_themselves_and_shows_tables():
    skew = planner.keys_skew([1, 2, 2, None], partitions=3, key_type="long")
    growth = planner.keys_grow([b"a", b"b"], old=2, new=4)

    assert skew.document["hot_keys"][0]["key"] == "2"
    assert skew.table("partitions").arrow.num_rows == 3
    assert "Placed by" in repr(skew)
    assert "Growth" in growth._repr_html_()


def test_the_api_names_arguments():
    with pytest.raises(planner.errors.BadInputError) as caught:
        planner.keys_skew(["a"], partitions=3, partitioner="murmur")
    assert caught.value.problems[0].place == "partitioner"
    with pytest.raises(planner.errors.BadInputError):
        planner.keys_skew(["a", 1], partitions=3)


@pytest.mark.parametrize(
    ("words", "place"),
    [
        pytest.param(("skew", "{}"), "--partitions", id="no-count"),
        pytest.param(("grow", "{}", "--to", "8"), "--from", id="no-count-before"),
        pytest.param(
            ("skew", "--partitions", "3"), "SAMPLE, --bootstrap-server", id="no-sample"
        ),
        pytest.param(
            ("skew", "{}", "--bootstrap-server", "h:1"),
            "SAMPLE, --bootstrap-server",
            id="two-samples",
        ),
        pytest.param(("skew", "--bootstrap-server", "h:1"), "--topic", id="no-topic"),
        pytest.param(
            ("skew", "{}", "--partitions", "3", "--partitioner", "x"),
            "--partitioner",
            id="partitioner",
        ),
        pytest.param(("grow", "{}", "--from", "8", "--to", "6"), "--to", id="shrinks"),
    ],
)
def test_bad_input_is_one_problem_and_exit_2(words, place, sample, capsys):
    words = [str(sample) if word == "{}" else word for word in words]

    outcome = run(capsys, "keys", *words, "--format", "json")

    assert outcome.code == 2
    assert [problem["place"] for problem in outcome.document["problems"]] == [place]


def test_an_unreachable_cluster_is_exit_5(capsys):
    where = ("--bootstrap-server", "127.0.0.1:1", "--topic", "t", "--timeout", "2")

    assert run(capsys, "keys", "skew", *where).code == 5


def test_the_name_of_a_javas_partitioner_is_suggested(capsys, tmp_path):
    (tmp_path / "k.txt").write_text("a\n")
    name = "org.apache.kafka.clients.producer.RoundRobinPartitioner"

    arguments = ("skew", tmp_path / "k.txt", "--partitions", 3, "--partitioner", name)
    outcome = run(capsys, "keys", *arguments)

    assert "did you mean roundrobin?" in outcome.err
