"""What kafka-consumer-groups printed, as groups."""

import pytest

from planner.errors import BadInputError
from planner.group.files.describe import import_texts
from support.commands import run
from support.samples import SAMPLES


def sample(*names):
    return {
        name: (SAMPLES / f"{name}.txt").read_text(encoding="utf-8") for name in names
    }


def imported(*names, group_id=None):
    return import_texts(sample(*names), group_id=group_id)


def owned(document):
    return {m.client_id: m.owned for m in document.record.members}


CLASSIC = {
    "c1": {"orders": [3]},
    "c2": {"orders": [0, 5]},
    "c3": {"audit-log-1": [0, 1, 2], "orders": [1, 2, 4]},
}


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["consumer-groups-describe"], id="offsets"),
        pytest.param(["consumer-groups-describe-verbose"], id="offsets-verbose"),
        pytest.param(["consumer-groups-members-verbose"], id="members-verbose"),
        pytest.param(
            ["consumer-groups-members", "consumer-groups-describe"], id="both"
        ),
        pytest.param(["consumer-groups-describe-all"], id="all-groups"),
    ],
)
def test_members_and_what_they_read(names):
    document = imported(*names, group_id="app-classic")

    assert owned(document) == CLASSIC
    assert {t.name: t.partitions for t in document.record.topics} == {
        "audit-log-1": 3,
        "orders": 6,
    }


def test_several_texts_make_one_group():
    document = imported(
        "consumer-groups-describe",
        "consumer-groups-members-verbose",
        "consumer-groups-state",
    )
    record = document.record

    assert (record.type, record.state) == ("classic", "Stable")
    assert (record.assignor, record.coordinator) == ("my-weighted", 5)
    assert {m.client_id: m.group_instance_id for m in record.members} == {
        "c1": None,
        "c2": "static-b",
        "c3": None,
    }
    orders = next(topic for topic in record.topics if topic.name == "orders")
    assert orders.committed_offsets == [2105, 1909, 1954, 2078, 2004, 1950]
    assert orders.log_end_offsets == orders.committed_offsets
    assert document.to_group().num_members == 3


def test_new_protocol_groups_keep_spaces_and_epochs():
    document = imported(
        "consumer-groups-848-describe",
        "consumer-groups-848-members-verbose",
        "consumer-groups-848-state",
    )
    record, (member,) = document.record, document.record.members

    assert (record.type, record.assignor, record.state) == (
        "consumer",
        "uniform",
        "Stable",
    )
    assert (member.client_id, member.generation) == ("app 848", 2)
    assert member.owned == {"orders": [0, 1, 2, 3, 4, 5]}


def test_a_group_without_members_keeps_its_offsets():
    record = imported("consumer-groups-empty", "consumer-groups-empty.stderr").record

    assert not record.members
    assert record.topics[0].committed_offsets == [2105, 1909, 1954, 2078, 2004, 1950]


def test_a_rebalancing_group_is_said_so():
    record = imported("consumer-groups-empty-state").record

    assert (record.state, record.assignor) == ("PreparingRebalance", None)


def test_what_is_assumed_is_noted():
    notes = imported("consumer-groups-describe").notes

    assert any("every member is taken to read audit-log-1, orders" in n for n in notes)
    assert any("--java-order" in note for note in notes)
    assert any("--snapshot" in note for note in notes)


def test_members_without_what_they_read_is_noted():
    notes = imported("consumer-groups-members").notes

    assert any("--members with --verbose" in note for note in notes)


@pytest.mark.parametrize(
    ("names", "group_id", "rule"),
    [
        pytest.param(
            ["consumer-groups-describe-all"],
            None,
            "the text has: app-848, app-classic, w2, weighted",
            id="which-group",
        ),
        pytest.param(
            ["consumer-groups-describe"], "other", "one group must", id="not-there"
        ),
        pytest.param(
            ["consumer-groups-missing"], None, "the tool failed", id="tool-failed"
        ),
        pytest.param(["cluster-id"], None, "must be a group file, or", id="other-tool"),
    ],
)
def test_texts_that_are_refused(names, group_id, rule):
    with pytest.raises(BadInputError) as raised:
        imported(*names, group_id=group_id)

    assert rule in raised.value.problems[0].rule


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param(
            "GROUP  TOPIC  PARTITION  START-OFFSET  LAG\n"
            "g      t      0          12            3\n",
            "share",
            id="share-offsets",
        ),
        pytest.param(
            "GROUP  TOPIC  PARTITION  OFFSET-LAG\ng      t      0          12\n",
            "streams",
            id="streams-offsets",
        ),
        pytest.param(
            "GROUP  TYPE   PROTOCOL\ng      Share  share\n",
            "share",
            id="list-of-groups",
        ),
    ],
)
def test_other_kinds_of_groups_are_recognised(text, kind):
    assert import_texts({"x": text}).record.type == kind


def test_a_share_group_has_its_start_offsets():
    text = (
        "GROUP  TOPIC  PARTITION  START-OFFSET  LAG\n"
        "g      t      0          12            3\n"
        "g      t      1          7             -\n"
        "g      t      2          -             -\n"
    )

    (topic,) = import_texts({"x": text}).record.topics

    assert topic.committed_offsets == [12, 7, None]
    assert topic.log_end_offsets == [15, None, None]


@pytest.mark.parametrize(
    "assignment",
    [
        pytest.param("orders:0,5;audit:1", id="kafka-4"),
        pytest.param("orders(0,5), audit(1)", id="kafka-3"),
    ],
)
def test_both_ways_to_print_assignments(assignment):
    text = (
        "GROUP  CONSUMER-ID  HOST  CLIENT-ID  #PARTITIONS  ASSIGNMENT\n"
        f"g      c-1          /h    c          3            {assignment}\n"
    )

    (member,) = import_texts({"x": text}).record.members

    assert member.owned == {"orders": [0, 5], "audit": [1]}


def test_offsets_wider_than_their_column_are_read():
    head = "GROUP  TOPIC  PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID\n"
    row = f"g      t      0          {10**17}  {10**17 + 5}  5  -\n"

    (topic,) = import_texts({"x": head + row}).record.topics

    assert topic.log_end_offsets == [10**17 + 5]


def test_lines_that_do_not_fit_are_named():
    text = "GROUP  TOPIC  PARTITION  LAG\ng      t      zero       1\nno\twords here\n"

    with pytest.raises(BadInputError) as raised:
        import_texts({"x": text})

    places = [problem.place for problem in raised.value.problems]
    assert places == ["line 2, column PARTITION", "line 3"]


def test_members_whose_partitions_are_only_counted_do_not_idle(capsys):
    file = SAMPLES / "consumer-groups-members.txt"

    shown = run(capsys, "group", "show", file, "--format", "json").document

    assert [one["partitions"] for one in shown["members"]] == [2, 6, 1]
    assert (shown["num_members"], shown["unowned"], shown["idle_members"]) == (
        *(3, None),
        [],
    )
    assert not shown["advice"]["sayings"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("consumer-groups-state", 3, id="stable"),
        pytest.param("consumer-groups-empty-state", 1, id="rebalancing"),
    ],
)
def test_a_state_has_the_number_of_members(name, expected):
    document = imported(name)

    assert document.num_members == expected
    assert any("does not name the members" in note for note in document.notes)


@pytest.mark.parametrize("name", ["consumer-groups-members", "consumer-groups-state"])
@pytest.mark.parametrize("is_imported", [False, True])
def test_nothing_is_assigned_where_ownership_is_unknown(
    capsys, tmp_path, name, is_imported
):
    file = SAMPLES / f"{name}.txt"
    if is_imported:
        run(capsys, "group", "import", file, "-o", tmp_path / "g.json")
        file = tmp_path / "g.json"

    (tmp_path / "e.toml").write_text(
        'reads_per_s = 1\n[[events]]\nat_s = 5\nevent = "join"\nmember = "new"\n'
    )

    assigned = run(capsys, "group", "assign", file)
    played = run(capsys, "group", "what-if", file, tmp_path / "e.toml")

    for outcome in (assigned, played):
        assert outcome.code == 2
        assert "does not say who owns which partitions" in outcome.err


def cut(name, width):
    (text,) = sample(name).values()
    return {name: "".join(f"{line[:width]}\n" for line in text.splitlines())}


@pytest.mark.parametrize(
    ("width", "heading"),
    [
        pytest.param(100, "CONSUMER-", id="in-a-heading"),
        pytest.param(120, "CONSUMER-ID", id="in-the-ids"),
        pytest.param(140, "HOS", id="in-the-hosts"),
    ],
)
def test_lines_that_a_terminal_cut_are_refused(width, heading):
    with pytest.raises(BadInputError) as raised:
        import_texts(cut("consumer-groups-describe", width))

    assert raised.value.problems[0].rule == "the lines are cut behind this heading"
    assert raised.value.problems[0].value == f'"{heading}"'


def test_offsets_without_a_column_of_members_leave_them_unknown(capsys, tmp_path):
    (tmp_path / "g.txt").write_text(cut("consumer-groups-describe", 90).popitem()[1])

    shown = run(capsys, "group", "show", tmp_path / "g.txt")

    assert "9, members unknown; who owns which partitions is unknown" in shown.out


def test_an_assignment_that_is_cut_is_refused():
    text = sample("consumer-groups-members-verbose")["consumer-groups-members-verbose"]

    with pytest.raises(BadInputError) as raised:
        import_texts(
            {"m": text.replace("1:0,1,2;orders:1,2,4", "1:0,1,2             ")}
        )

    assert "as #PARTITIONS says" in raised.value.problems[0].rule


def test_outputs_between_which_the_group_changed_are_noted():
    texts = sample("consumer-groups-describe", "consumer-groups-members")
    name = "consumer-groups-members"
    lines = [line for line in texts[name].splitlines() if " c1 " not in line]
    texts[name] = "\n".join(lines).replace(" 6  ", " 4  ")
    texts |= sample("consumer-groups-state")
    texts["consumer-groups-state"] = texts["consumer-groups-state"].replace(
        "  3", "  2"
    )

    notes = import_texts(texts).notes

    assert any("the state has 2 members, and the other outputs" in n for n in notes)
    assert any("4 partitions by --members, and 6 by the offsets" in n for n in notes)


@pytest.mark.parametrize("group_id", [None, "app-848"])
def test_messages_without_a_table_are_not_a_choice_of_groups(group_id):
    with pytest.raises(BadInputError) as raised:
        imported("consumer-groups-empty.stderr", group_id=group_id)

    assert raised.value.problems[0].rule == (
        "the text has messages of the tool, and no table"
    )


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        pytest.param(
            "Error: Executing consumer group command failed due to "
            "org.apache.kafka.common.errors.GroupIdNotFoundException: Group g1 not "
            "found.",
            "--list",
            id="no-such-group",
        ),
        pytest.param(
            "Error: Consumer group 'g1' does not exist.", "--list", id="older-release"
        ),
        pytest.param(
            "Error: org.apache.kafka.common.errors.GroupAuthorizationException: Not "
            "authorized to access group: g1",
            "Describe on the group",
            id="no-rights",
        ),
        pytest.param(
            "Error: org.apache.kafka.common.errors.TimeoutException: Timed out "
            "waiting for a node assignment.",
            "--bootstrap-server",
            id="no-answer",
        ),
        pytest.param(
            "Error: java.io.EOFException: end", "run it again", id="anything-else"
        ),
    ],
)
def test_a_failure_of_the_tool_has_a_remedy_that_helps(line, remedy):
    with pytest.raises(BadInputError) as raised:
        import_texts({"x": f"{line}\n"})

    assert remedy in raised.value.problems[0].remedy


def test_two_states_of_a_group_are_refused():
    name = "consumer-groups-state"
    text = sample(name)[name]

    with pytest.raises(BadInputError) as raised:
        import_texts({"s": text + text.replace("Stable", "Empty ")})

    assert raised.value.problems[0].rule == (
        "must be Stable as in a line above: two outputs are mixed"
    )
