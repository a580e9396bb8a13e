"""Comparison of outputs with the corpus, and of the report of a difference."""

from pathlib import Path

import pytest

from golden.all_cases import all_cases, sample
from golden.case import Case
from golden.corpus import REMEDY, differences, read_corpus, write_corpus
from golden.digest import (
    json_text,
    numbers_of,
    runbook_text,
    toml_text,
    without_prose,
)
from golden.run import commands_of, records_of
from golden.sandbox import observe


@pytest.mark.slow
@pytest.mark.parametrize("case", sample(), ids=lambda case: case.name)
def test_outputs_of_a_case_are_those_of_the_corpus(case: Case):
    changed = differences(read_corpus(), records_of([case]), commands_of([case]))

    assert not changed, "\n".join([*changed, REMEDY])


def test_the_corpus_has_every_case_once_and_no_other():
    commands = commands_of(all_cases())

    assert len(commands) == sum(len(case.steps) for case in all_cases())
    assert list(read_corpus()) == list(commands)


def case_named(name: str) -> Case:
    return next(case for case in all_cases() if case.name == name)


@pytest.fixture
def altered(tmp_path: Path):
    """The corpus with one number and one digest of a plan changed."""
    records = read_corpus()
    plan = records["field/c18/remove"]
    plan["key"] |= {"copies": 1}
    plan["files"] |= {"plan/reassignment.json": "0" * 12}
    write_corpus(records.values(), tmp_path / "corpus.jsonl")
    return read_corpus(tmp_path / "corpus.jsonl")


def test_a_changed_line_fails_and_the_message_names_case_document_and_numbers(altered):
    case = case_named("field/c18/remove")
    found = records_of([case])
    (message,) = differences(altered, found, commands_of([case]))

    copies = found["field/c18/remove"]["key"]["copies"]
    digest = found["field/c18/remove"]["files"]["plan/reassignment.json"]
    assert message.splitlines() == [
        f"field/c18/remove: kafka-planner {case.steps['']}",
        f"  plan/reassignment.json: {'0' * 12} became {digest}",
        f"  copies: 1 -> {copies}",
    ]
    assert "make golden WRITE=1" in REMEDY


def test_a_case_that_the_corpus_does_not_have_is_a_difference():
    (message,) = differences({}, {"new": {"case": "new", "code": 0}})

    assert "not in the corpus" in message


def test_a_changed_exit_code_is_a_difference_without_key_numbers():
    old, new = ({"case": "c", "code": code} for code in (0, 3))

    (message,) = differences({"c": old}, {"c": new})

    assert "exit code: 0 became 3" in message
    assert "key numbers unchanged" in message


def test_numbers_of_a_screen_have_units_and_no_words():
    text = "disk 5.4\n   TB of 12 brokers, b4 81 %; 2 h 15 min at 50 MB/s, 1.2e-3"

    numbers = ["5.4TB", "12", "4", "81%", "2h", "15min", "50MB/s", "1.2e-3"]
    assert numbers_of(text) == numbers


def test_a_reworded_sentence_is_the_same_document_and_a_changed_value_is_not():
    old = '{"note": "broker 4 is over 80 %", "to": "b4", "run": "kafka-x --a 1"}'
    reworded = old.replace("is over", "exceeds")

    assert without_prose(reworded) == without_prose(old)
    for one, other in (("80", "81"), ("b4", "b5"), ("--a", "--b"), ('"to"', '"at"')):
        assert without_prose(old.replace(one, other)) != without_prose(old)


def test_a_schema_is_the_same_whatever_its_definitions_are_called():
    old = '{"properties":{"a":{"$ref":"#/$defs/B"}},"$defs":{"B":{"type":"string"}}}'

    assert json_text(old.replace("B", "Named")) == json_text(old)
    assert json_text(old.replace("string", "integer")) != json_text(old)


def test_commands_of_a_runbook_stay_and_its_prose_may_be_reworded():
    old = "Wait 5 min.\n```sh\nkafka-x --all\n```\n"

    assert runbook_text(old.replace("Wait", "Pause for")) == runbook_text(old)
    assert runbook_text(old.replace("--all", "--any")) != runbook_text(old)


def test_settings_of_a_toml_file_stay_and_its_comments_may_be_reworded():
    old = '# Copy at most 2TB.\n# max_bytes = "2TB"\n[plan]\n'

    assert toml_text(old.replace("Copy at", "Move at")) == toml_text(old)
    assert toml_text(old.replace("max_bytes", "max_moves")) != toml_text(old)
    assert toml_text(old.replace("[plan]", "[rules]")) != toml_text(old)


def test_the_memory_of_the_process_is_no_part_of_a_document():
    old = '{"peak_memory_bytes": 12, "moves": 3}'

    assert json_text(old.replace("12", "13")) == json_text(old)
    assert json_text(old.replace("3}", "4}")) != json_text(old)


def test_the_clock_and_the_folder_leave_no_trace():
    case = case_named("demo/failures-broker-json")

    (first,), (second,) = (list(observe(case)) for _ in range(2))

    assert first == second
    assert '"data_age_s": 532800' in first[1].out
