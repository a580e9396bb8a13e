import pytest

from support.commands import run

WHERE = ("--bootstrap-server", "k1:1")


@pytest.mark.parametrize(
    ("options", "rules"),
    [
        pytest.param(
            ["preferred"], ["exactly one of these options"], id="no-partition"
        ),
        pytest.param(
            ["preferred", "--all-topic-partitions", "--topic", "t", "--partition", 0],
            ["exactly one of these options"],
            id="two-choices",
        ),
        pytest.param(
            ["preferred", "--topic", "t"], ["must be given together"], id="no-number"
        ),
        pytest.param(
            ["preferred", "--all-topic-partitions", "--partition", 1],
            ["must be given together"],
            id="no-topic",
        ),
        pytest.param(
            ["clean", "--partition", 1],
            ["must be preferred or unclean", "exactly one", "must be given together"],
            id="everything-at-once",
        ),
    ],
)
def test_bad_usage_is_refused_before_anything_is_connected(
    capsys: pytest.CaptureFixture[str], options: list, rules: list[str]
):
    given = ("elect", *WHERE, "--format", "json", "--election-type", *options)
    outcome = run(capsys, *given)

    assert outcome.code == 2
    found = [problem["rule"] for problem in outcome.document["problems"]]
    assert len(found) == len(rules)
    assert all(rule in text for rule, text in zip(rules, found, strict=True))


def test_a_bad_file_and_a_bad_server_are_reported_together(capsys, tmp_path):
    file = tmp_path / "election.json"
    file.write_text('{"partitions":[{"topic":1,"partition":0}]}')

    outcome = run(
        capsys,
        *("elect", "--election-type", "PREFERRED", "--bootstrap-server", "k1:x"),
        *("--path-to-json-file", file, "--format", "json"),
    )

    assert outcome.code == 2
    places = [problem["place"] for problem in outcome.document["problems"]]
    assert places == ["partitions[0].topic", "--bootstrap-server"]


def test_a_cluster_that_is_not_there_is_exit_5(capsys):
    outcome = run(
        capsys,
        *("elect", "--election-type", "preferred", "--all-topic-partitions"),
        *("--bootstrap-server", "127.0.0.1:1", "--timeout", "0.5", "--yes"),
    )

    assert outcome.code == 5
    assert outcome.err == "error: 127.0.0.1:1: connection refused\n"
