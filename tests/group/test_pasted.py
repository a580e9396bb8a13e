"""Tables of groups as operators paste them, of every release of Kafka."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.errors import BadInputError
from planner.group.files.describe import import_texts
from planner.group.files.group_files import read_group
from support.commands import run
from support.noise import NOISE, WORDS, WRAPPINGS
from support.profile import crossed
from support.samples import SAMPLES

CASES = Path(__file__).parents[1] / "data" / "cases"
NAMES = [
    "consumer-groups-describe",
    "consumer-groups-describe-verbose",
    "consumer-groups-members",
    "consumer-groups-members-verbose",
    "consumer-groups-state",
    "consumer-groups-state-verbose",
    "consumer-groups-848-describe",
    "consumer-groups-848-members-verbose",
    "consumer-groups-848-state",
    "consumer-groups-empty",
    "groups-list",
    "consumer-groups-list",
]
TEXTS = {name: (SAMPLES / f"{name}.txt").read_text() for name in NAMES}
GROUPS = {name: "app-848" if "848" in name else None for name in NAMES}
GROUPS |= dict.fromkeys(["groups-list", "consumer-groups-list"], "app-848")
WITH_OFFSETS = TEXTS["consumer-groups-describe"]


def read(text, group_id=None):
    return import_texts({"f": text}, group_id=group_id)


def check(name, noisy, num_lines):
    plain, found = read(TEXTS[name], GROUPS[name]), read(noisy, GROUPS[name])

    assert found.record == plain.record
    expected = f"f: {num_lines} line"
    assert [n for n in found.notes if n not in plain.notes] == [
        note for note in found.notes if note.startswith(expected)
    ]
    assert len(found.notes) == len(plain.notes) + 1


def refusal(text, group_id=None):
    with pytest.raises(BadInputError) as raised:
        read(text, group_id)
    return raised.value


@pytest.mark.parametrize(("name", "kind"), crossed(NAMES, NOISE))
def test_noise_changes_nothing_but_one_note(name, kind):
    text, noise = TEXTS[name], f"{NOISE[kind]}\n"
    lines, num_lines = text.splitlines(keepends=True), noise.count("\n")

    check(name, noise + text, num_lines)
    check(name, text + noise, num_lines)
    for at in range(1, len(lines)):
        noisy = "".join([noise, *lines[:at], noise, *lines[at:]])
        check(name, noisy, 2 * num_lines)


@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.parametrize("name", NAMES)
def test_sentences_outside_of_tables_are_no_data(name, kind):
    words = f"{WORDS[kind]}\n"

    check(name, f"{words}{TEXTS[name]}\n{words}", 2)


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("name", NAMES)
def test_a_wrapping_of_the_whole_file_changes_nothing(tmp_path, name, wrapping):
    path = tmp_path / "f.txt"
    path.write_bytes(WRAPPINGS[wrapping](TEXTS[name]))

    assert read_group(path, group_id=GROUPS[name]).record == (
        read(TEXTS[name], GROUPS[name]).record
    )


@given(st.data())
@settings(deadline=None)
def test_any_noise_anywhere_changes_nothing_but_one_note(data):
    name = data.draw(st.sampled_from(NAMES))
    lines = TEXTS[name].splitlines(keepends=True)
    places = data.draw(st.lists(st.integers(0, len(lines)), min_size=1, max_size=8))
    noisy, num_lines = [], 0
    for at in range(len(lines) + 1):
        for _ in range(places.count(at)):
            noise = NOISE[data.draw(st.sampled_from(list(NOISE)))] + "\n"
            noisy.append(noise)
            num_lines += noise.count("\n")
        noisy += lines[at : at + 1]

    check(name, "".join(noisy), num_lines)


def test_blank_lines_between_rows_and_tabs_for_blanks_change_nothing():
    plain = read(WITH_OFFSETS)
    rows = [line.split() for line in WITH_OFFSETS.splitlines()]

    for text in (
        WITH_OFFSETS.replace("\n", "\n\n"),
        WITH_OFFSETS.replace("\n", "\r\r\n"),
        "".join("\t".join(cells) + "\n" for cells in rows),
        "".join(" ".join(cells) + "\n" for cells in rows),
    ):
        assert read(text).record == plain.record


def test_a_column_of_another_vendor_is_passed_over():
    lines = WITH_OFFSETS.splitlines()
    wider = [f"{line:<200}{'SKEW' if 'GROUP' in line else 7}" for line in lines if line]

    assert read("\n".join([*wider, ""])).record == read(WITH_OFFSETS).record


# The case of a table without its group.

OLD = (CASES / "c02" / "group.txt").read_text()


def test_without_a_column_for_it_the_option_names_the_group(capsys, tmp_path):
    path = CASES / "c02" / "group.txt"

    asked = run(capsys, "group", "show", path)
    shown = run(capsys, "group", "show", path, "--group", "billing")
    output = tmp_path / "g.json"
    taken = run(capsys, "group", "import", path, "--group", "billing", "-o", output)

    assert (asked.code, shown.code, taken.code) == (2, 0, 0)
    assert asked.err.count("\n") == 2
    assert "no column GROUP" in asked.err
    assert "--group NAME" in asked.err
    assert "4, 3 members, 1 member idle" in shown.out
    assert "Lag          12775" in shown.out
    record = read_group(output).record
    assert record.group_id == "billing"
    assert {m.client_id: m.owned for m in record.members} == {
        "etl-1": {"clicks": [0, 1]},
        "etl-2": {"clicks": [2], "orders": [0]},
        "etl-3": {},
    }


@pytest.mark.parametrize(
    "above",
    [
        "$ kafka-consumer-groups --describe --group billing\n",
        "[me@k1 ~]$ bin/kafka-consumer-groups.sh --group=billing --describe\n",
        "PS C:\\kafka> kafka-consumer-groups.bat --group 'billing' --describe\n",
        'kubectl exec k-0 -- kafka-consumer-groups.sh --group "billing" --describe\n',
        "$ kafka-consumer-groups --describe \\\n    --group billing\n",
        "$ kafka-consumer-groups --describe \\\n> --group billing --timeout 9\n",
        "Consumer group 'billing' has no active members.\n",
        "Consumer group `billing` has no active members.\n",
    ],
)
def test_the_command_line_names_the_group(above):
    for text in (above + OLD, f"{above}\n{WORDS['sentence']}\n\n{OLD}"):
        assert read(text).record == read(OLD, "billing").record


def test_the_command_above_each_table_names_its_group():
    text = "".join(f"$ kafka-consumer-groups --group {g}\n{OLD}" for g in ("a", "b"))

    assert read(text, "b").record.group_id == "b"
    assert "the text has: a, b" in refusal(text).problems[0].rule
    assert "the text has: a, b" in refusal(text, "c").problems[0].rule


def test_a_command_without_the_option_names_no_group():
    text = (
        f"$ kafka-consumer-groups --group a\n{OLD}$ kafka-consumer-groups --list\n{OLD}"
    )

    assert read(text, "a").record.group_id == "a"


@pytest.mark.parametrize("name", ["group-indent.txt"])
@pytest.mark.parametrize("is_dedented", [False, True])
def test_a_prompt_above_an_indented_table(capsys, tmp_path, name, is_dedented):
    text = (CASES / "c04" / name).read_text()
    path = tmp_path / "group.txt"
    path.write_text(
        text.replace("\n    ", "\n").removeprefix("    ") if is_dedented else text
    )

    shown = run(capsys, "group", "show", path)

    assert shown.code == 0
    assert "JSON" not in shown.out + shown.err
    assert "Group        billing" in shown.out
    assert "Partitions   2, 2 members" in shown.out
    assert "Lag          1173" in shown.out


UUID = "5b0f0e7c-8a13-4a6a-b6a9-0a1d8f2b3c4d"
OWNED = {"t": [0]}


@pytest.mark.parametrize(
    ("text", "group_id", "client", "host"),
    [
        pytest.param(
            "Group           Topic                          Pid Offset          "
            "logSize         Lag             Owner\n"
            "g               t                              0   10              "
            "12              2               c_h1-1394154511599-60744496-0\n"
            "g               t                              1   unknown         "
            "5               unknown         none\n",
            None,
            None,
            None,
            id="0.8",
        ),
        pytest.param(
            "GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET, LAG, OWNER\n"
            "g, t, 0, 10, 12, 2, c-1_/10.0.0.1\n"
            "g, t, 1, unknown, 5, unknown, none\n",
            None,
            "c-1",
            "/10.0.0.1",
            id="0.9",
        ),
        pytest.param(
            "GROUP                          TOPIC                          PARTITION  "
            "CURRENT-OFFSET  LOG-END-OFFSET  LAG             OWNER\n"
            "g                              t                              0          "
            "10              12              2               c-1_/10.0.0.1\n"
            "g                              t                              1          "
            "unknown         5               unknown         none\n",
            None,
            "c-1",
            "/10.0.0.1",
            id="0.10.1",
        ),
        pytest.param(
            "TOPIC                          PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  "
            "LAG        CONSUMER-ID                                       HOST        "
            "                   CLIENT-ID\n"
            "t                              0          10              12              "
            f"2          a-long-client-id-{UUID}/10.0.0.1                      c-1\n"
            "t                              1          -               5               "
            "-          -                                                 -           "
            "                   -\n",
            "g",
            "c-1",
            "/10.0.0.1",
            id="1.0-id-touches-host",
        ),
    ],
)
def test_tables_of_old_releases(text, group_id, client, host):
    document = read(text, group_id)
    (topic,), (member,) = document.record.topics, document.record.members

    assert (document.record.group_id, topic.name) == ("g", "t")
    assert topic.committed_offsets == [10, None]
    assert topic.log_end_offsets == [12, 5]
    assert (member.client_id, member.host) == (client, host)
    assert member.owned == OWNED


@pytest.mark.parametrize(
    "hostile",
    [
        pytest.param("app-classic orders 7 1 2", id="cells-missing"),
        pytest.param("app-classic     orders          7          1", id="cut"),
        pytest.param("...", id="shortened"),
        pytest.param("app-classic orders x 1 2 1 c /h c", id="no-number"),
        pytest.param("7          12              12              0", id="wrapped"),
        pytest.param("orders", id="one-word"),
    ],
)
@pytest.mark.parametrize("before", ["", "\n"])
def test_what_may_be_a_row_is_refused_with_its_line(hostile, before):
    lines = WITH_OFFSETS.splitlines()
    text = "\n".join([*lines[:4], before + hostile, *lines[4:], ""])

    places = [problem.place for problem in refusal(text).problems]

    assert any(place.startswith(f"line {5 + len(before)}") for place in places)


@pytest.mark.parametrize("group", ["$", "#x", "exit", "Note:", "docker", "[a@b]$"])
def test_data_that_looks_like_noise_is_data(group):
    text = WITH_OFFSETS.replace("app-classic", f"{group:<11}")

    record = read(text).record

    assert record.group_id == group
    assert record.topics == read(WITH_OFFSETS).record.topics


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("topics-describe.txt", "kafka-topics --describe"),
        ("log-dirs-describe.txt", "kafka-log-dirs --describe"),
        ("quorum-status.txt", "kafka-metadata-quorum"),
        ("reassign.json", "reassignment JSON"),
    ],
)
def test_other_outputs_are_named(name, hint):
    with pytest.raises(BadInputError) as raised:
        read_group(SAMPLES / name)

    (problem,) = raised.value.problems
    assert hint in problem.remedy


def test_a_table_without_its_headings_is_not_asked_for_again():
    rows = WITH_OFFSETS.split("\n", 2)[2]

    error = refusal(f"$ kafka-consumer-groups --describe --group g\n{rows}")

    assert "the line of headings is missing or cut" in error.problems[0].remedy


def test_a_group_file_in_a_fence_is_read(tmp_path):
    path = tmp_path / "g.json"
    document = (
        '{"format": "kafka-planner/group", "version": 1, "group_id": "g",\n'
        ' "topics": [{"name": "t", "partitions": 1}],\n'
        ' "members": [{"member_id": "c", "topics": ["t"]}]}\n'
    )
    path.write_text(f"```json\n{document}```\n")

    found = read_group(path)

    assert found.record.group_id == "g"
    assert "2 lines that are no data passed over" in found.notes[0]


# Lags past the end, joined outputs, columns that are not used.

HEADINGS = (
    "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"
)


@pytest.mark.parametrize("lag", ["-18", "0", "-"])
def test_a_lag_past_the_end_is_read_and_named(capsys, tmp_path, lag):
    path = tmp_path / "g.txt"
    path.write_text(f"{HEADINGS}\ng t 0 10 12 2 c-1 /h c\ng t 1 30 12 {lag} c-1 /h c\n")

    outcome = run(capsys, "group", "show", path)

    assert outcome.code == 0, outcome.err
    assert "at least 2; unknown of 1 partition" in outcome.out
    assert "t-1: committed 30, and the log ends at 12" in outcome.out


def test_an_offset_of_minus_one_is_none():
    old = "Group Topic Pid Offset logSize Lag Owner\ng t 0 -1 12 unknown c_h1-1-2-0\n"

    (topic,) = read(old).record.topics

    assert (topic.committed_offsets, topic.log_end_offsets) == ([None], [12])


@pytest.mark.parametrize("cell", ["-x", "1-2", "--5", "-1"])
def test_a_partition_below_zero_or_no_number_is_refused(cell):
    error = refusal(f"{HEADINGS}\ng t 0 1 2 1 c /h c\ng t {cell} 1 2 1 c /h c\n")

    assert error.problems[0].place == "line 3, column PARTITION"


def test_two_outputs_that_differ_are_refused_with_the_line():
    first = f"{HEADINGS}\ng t 0 10 12 2 c-1 /h c\n"
    later = f"{HEADINGS}\ng t 0 11 12 1 c-1 /h c\n"

    assert read(first + first).record == read(first).record
    (problem,) = refusal(f"{first}\n{later}").problems
    assert problem.place == "line 5, column CURRENT-OFFSET"
    assert "two outputs" in problem.rule


def test_columns_that_are_not_used_are_named_once():
    text = "GROUP TOPIC PARTITION NEW-OFFSET SKEW\ng t 0 7 3\ng t 1 8 3\n"

    notes = [note for note in read(text).notes if "not used" in note]

    assert notes == ["f: not used: column NEW-OFFSET, column SKEW"]
    assert not any(
        "not used" in note
        for name in NAMES
        for note in read(TEXTS[name], GROUPS[name]).notes
    )


def test_the_list_of_brokers_below_the_table_of_kafka_0_8_is_passed_over():
    table = "Group Topic Pid Offset logSize Lag Owner\ng t 0 10 12 2 c_h1-1-2-0\n"

    found = read(f"{table}BROKER INFO\n0 -> k1:9092\n1 -> k2:9092\n")

    assert found.record == read(table).record
    assert any("3 lines that are no data" in note for note in found.notes)


@pytest.mark.parametrize(
    "text", ['{"error": false, "status": {"group": "g"}}', '[{"lag": 2}]', "{}", "[]"]
)
def test_json_of_another_tool_is_one_problem(tmp_path, text):
    path = tmp_path / "g.json"
    path.write_text(f"{text}\n")

    with pytest.raises(BadInputError) as raised:
        read_group(path)

    (problem,) = raised.value.problems
    assert "an output of kafka-consumer-groups" in problem.rule
