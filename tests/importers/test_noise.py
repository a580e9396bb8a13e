"""Noise around and between the lines of every importer changes nothing but one note."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from importers.test_fuzz import told
from planner.errors import BadInputError
from planner.pasted_text import recognise
from planner.snapshot.importers.file_kinds import kind_of
from planner.snapshot.importers.hardware.broker_table import read_broker_table
from planner.snapshot.importers.hardware.strimzi import read_strimzi
from planner.snapshot.importers.importer_registry import IMPORTERS
from planner.snapshot.importers.kafka_tools.reassignment_json import read_assignment
from planner.snapshot.importers.metrics.rates_table import read_rates
from support.noise import NOISE, WORDS, WRAPPINGS
from support.profile import crossed
from support.samples import READERS, refusal

LONGEST = {
    reader: max(data, key=len).decode().rstrip("\n") + "\n"
    for reader, data in READERS.items()
}
IDS = [pytest.param(reader, id=reader.__name__) for reader in READERS]
EVERY = [
    pytest.param(
        reader, data.decode().rstrip("\n") + "\n", id=f"{reader.__name__}-{number}"
    )
    for reader, inputs in READERS.items()
    for number, data in enumerate(inputs)
]
OWN_FORMATS = {read_broker_table, read_rates, read_strimzi}
PASSED = re.compile(
    r"f: (\d+) lines? that (?:is|are) no data passed over \(first line "
)
SOME = [
    "bash-root",
    "log4j-warn",
    "jvm",
    "slf4j",
    "kafka-note",
    "fence",
    "logged-error",
]


def named(cases):
    """Return cases of a reader and a kind with the names of both."""
    return [pytest.param(one, kind, id=f"{one.__name__}-{kind}") for one, kind in cases]


def passed_over(source):
    """How many lines were passed over, from the one note that says so."""
    found = [
        PASSED.match(note) for note in source.notes if "passed over (first" in note
    ]
    assert len(found) < 2
    return int(found[0][1]) if found else 0


def check(reader, text, noisy, num_lines):
    plain, source = reader(text.encode(), file="f"), reader(noisy.encode(), file="f")

    assert told(source) == told(plain)
    assert passed_over(source) == passed_over(plain) + num_lines
    assert len(source.notes) == len(plain.notes) + (not passed_over(plain))


@pytest.mark.parametrize(("reader", "kind"), named(crossed(READERS, NOISE)))
def test_noise_changes_nothing_but_one_note(reader, kind):
    text, noise = LONGEST[reader], f"{NOISE[kind]}\n"
    lines, num_lines = text.splitlines(keepends=True), noise.count("\n")

    check(reader, text, noise + text, num_lines)
    check(reader, text, text + noise, num_lines)
    for at in {1, len(lines) // 2, len(lines) - 1} - {0, len(lines)}:
        noisy = "".join([noise, *lines[:at], noise, *lines[at:], noise])
        check(reader, text, noisy, 3 * num_lines)


@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.parametrize(
    "reader",
    [one for one in READERS if one not in OWN_FORMATS],
    ids=lambda r: r.__name__,
)
def test_sentences_are_no_data_of_a_tool(reader, kind):
    text, words = LONGEST[reader], f"{WORDS[kind]}\n"

    check(reader, text, words + text + words, 2)


@pytest.mark.parametrize(("reader", "text"), EVERY)
@pytest.mark.parametrize("kind", SOME)
def test_noise_around_every_sample(reader, text, kind):
    noise = f"{NOISE[kind]}\n"

    check(reader, text, noise + text + noise, 2 * noise.count("\n"))


@pytest.mark.parametrize(("reader", "wrapping"), named(crossed(READERS, WRAPPINGS)))
def test_a_wrapping_of_the_whole_file_changes_nothing(reader, wrapping):
    text = LONGEST[reader]
    plain = reader(text.encode(), file="f")

    source = reader(WRAPPINGS[wrapping](text), file="f")

    assert told(source) == told(plain)
    assert source.notes == plain.notes


@pytest.mark.parametrize(("reader", "wrapping"), named(crossed(READERS, WRAPPINGS)))
def test_noise_is_passed_over_in_wrapped_files(reader, wrapping):
    text = f"{NOISE['bash-root']}\n{LONGEST[reader]}{NOISE['log4j']}\n"

    source = reader(WRAPPINGS[wrapping](text), file="f")

    plain = reader(LONGEST[reader].encode(), file="f")
    assert told(source) == told(plain)
    assert passed_over(source) == passed_over(plain) + 2


@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.parametrize("reader", IDS)
def test_sentences_outside_of_fences_are_no_data(reader, kind):
    text, words = LONGEST[reader], f"{WORDS[kind]}\n"

    check(reader, text, f"{words}\n```\n{text}```\n\n{words}", 4)


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda one: one.name)
def test_wrapped_files_are_recognised(importer, wrapping):
    for data in READERS.get(importer.read, ()):
        wrapped = WRAPPINGS[wrapping](data.decode().rstrip("\n") + "\n")

        assert kind_of(wrapped) == importer.name


@pytest.mark.parametrize("before", ["12:", "out.txt:3:", "> ", "pod | "])
@pytest.mark.parametrize("reader", IDS)
def test_what_only_one_line_has_before_it_is_no_wrapping(reader, before):
    lines = LONGEST[reader].splitlines()
    at = max(1, len(lines) // 2)
    if len(lines) < 2 or reader is read_assignment:
        return

    error = refusal(
        reader,
        "\n".join([*lines[:at], before + lines[at], *lines[at + 1 :], ""]).encode(),
    )

    assert error.problems


@given(st.data())
@settings(deadline=None)
def test_any_noise_anywhere_changes_nothing_but_one_note(data):
    reader = data.draw(st.sampled_from(list(READERS)))
    text = LONGEST[reader]
    lines = text.splitlines(keepends=True)
    places = data.draw(st.lists(st.integers(0, len(lines)), min_size=1, max_size=8))
    noisy, num_lines = [], 0
    for at in range(len(lines) + 1):
        for _ in range(places.count(at)):
            noise = NOISE[data.draw(st.sampled_from(list(NOISE)))] + "\n"
            noisy.append(noise)
            num_lines += noise.count("\n")
        noisy += lines[at : at + 1]

    check(reader, text, "".join(noisy), num_lines)


@pytest.mark.parametrize("reader", IDS)
def test_nothing_but_noise_is_refused(reader):
    error = refusal(reader, "".join(f"{one}\n" for one in NOISE.values()).encode())

    assert error.problems
    assert all(problem.rule and problem.remedy for problem in error.problems)


@pytest.mark.parametrize(
    "failure",
    [
        "Error while executing topic command : Timed out waiting for a node",
        'Exception in thread "main" java.lang.NoClassDefFoundError: x',
        "org.apache.kafka.common.errors.TimeoutException: Call(callName=x)",
        "[2024-02-02 10:00:00,123] ERROR Timed out (kafka.admin.TopicCommand$)",
        "command terminated with exit code 1",
        "% ERROR: Failed to acquire metadata: Local: Broker transport failure",
        "error: unable to upgrade connection: container not found",
    ],
)
@pytest.mark.parametrize("reader", IDS)
def test_the_error_of_a_tool_is_no_noise(reader, failure):
    error = refusal(reader, f"{failure}\n{LONGEST[reader]}".encode())

    assert error.problems[0].place.startswith("line 1")


@pytest.mark.parametrize("shortened", ["...", "[...]", "<snip>", "…", "(cut)"])
@pytest.mark.parametrize("reader", IDS)
def test_the_sign_that_lines_were_left_out_is_no_noise(reader, shortened):
    lines = LONGEST[reader].splitlines()
    # Below the current assignment nothing is read.
    at = 1 if reader is read_assignment else max(1, len(lines) // 2)

    error = refusal(
        reader, "\n".join([*lines[:at], shortened, *lines[at:], ""]).encode()
    )

    assert error.problems


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda one: one.name)
def test_every_importer_has_a_recogniser(importer):
    for data in READERS.get(importer.read, ()):
        for text in (data.decode(), f"{NOISE['bash-root']}\n{data.decode()}"):
            found = recognise(text)

            assert found is not None
            assert found.name == importer.name


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda one: one.name)
def test_a_refusal_never_proposes_what_was_given(importer):
    for data in READERS.get(importer.read, ()):
        whole = data.decode()
        own = recognise(whole)
        for at in range(1, len(whole), max(1, len(whole) // 40)):
            try:
                importer.read(f"{whole[:at]}\x00{whole[at:]}".encode(), file="f")
            except BadInputError as error:
                for problem in error.problems:
                    assert own.words not in problem.remedy
