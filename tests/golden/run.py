"""
Compare the outputs of all cases with the corpus, or rewrite the corpus.

``PYTHONPATH=tests python -m golden.run [--write] [--only TEXT] [--show CASE]``

The exit code is 1 where any output differs and the corpus was not rewritten.
"""

import argparse
import sys
import time
from collections.abc import Iterable

from golden.all_cases import all_cases
from golden.case import Case
from golden.corpus import REMEDY, differences, read_corpus, write_corpus
from golden.record import Record, to_record
from golden.sandbox import observe
from placement.core.search import compilation


def records_of(cases: Iterable[Case]) -> dict[str, Record]:
    """Run cases; return the records by their names."""
    steps = (step for case in cases for step in observe(case))
    return {name: to_record(name, found) for name, found in steps}


def commands_of(cases: Iterable[Case]) -> dict[str, str]:
    """Return the command of each record."""
    return {
        case.record_name(step): words
        for case in cases
        for step, words in case.steps.items()
    }


def show(case: Case) -> None:
    """Print every output of a case."""
    for name, found in observe(case):
        print(f"=== {name}: exit code {found.code}")  # noqa: T201 - output
        print(found.out, found.err, sep="\n--- stderr\n")  # noqa: T201 - output
        for path, content in found.files.items():
            text = content.decode("utf-8", "backslashreplace")
            print(f"--- {path}\n{text}")  # noqa: T201 - output


def main() -> int:
    """Parse the command line, and compare, rewrite or print."""
    parser = argparse.ArgumentParser(description="Compare outputs with the corpus.")
    parser.add_argument("--write", action="store_true", help="rewrite the corpus")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--show", default="", help="print the outputs of this case")
    given = parser.parse_args()
    # Compiled kernels return the same results in two thirds of the time.
    compilation.PLAIN_ITEMS = -1
    every = all_cases()
    if given.show:
        for case in every:
            if given.show.split(": ")[0] == case.name:
                show(case)
        return 0
    return compare([case for case in every if given.only in case.name], given.write)


def compare(cases: list[Case], is_rewritten: bool) -> int:
    """Compare cases with the corpus, print what differs, and rewrite it on request."""
    began = time.process_time()
    expected, found = read_corpus(), records_of(cases)
    different = differences(expected, found, commands_of(cases))
    commands = commands_of(all_cases())
    gone = [name for name in expected if name not in commands]
    print(*different, *(f"{name}: no such case" for name in gone), sep="\n")  # noqa: T201 - output
    spent = time.process_time() - began
    print(f"{len(found)} commands, {len(different)} differ, {spent:.0f} s")  # noqa: T201 - output
    if is_rewritten:
        merged = expected | found
        write_corpus(merged[name] for name in commands if name in merged)
        return 0
    if different or gone:
        print(REMEDY)  # noqa: T201 - output
    return int(bool(different or gone))


if __name__ == "__main__":
    sys.exit(main())
