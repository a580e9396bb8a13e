"""Conditions of a run without a terminal: a previewed plan of a recent snapshot."""

from collections.abc import Iterator
from datetime import datetime

from planner.errors import InputProblem
from planner.execution.run.journal import read_journal
from planner.execution.run.run import Job
from planner.execution.run.run_choices import read_duration
from planner.options.declared.option import Problems
from planner.text.format import duration_text


def unattended_problems(
    job: Job, max_age: str, *, is_attended: bool, now: datetime
) -> list[InputProblem]:
    """
    Return why a run may not begin by itself.

    Parameters
    ----------
    job
        The plan, and how to carry it out.
    max_age
        Oldest snapshot of the plan, as the operator writes it.
    is_attended
        Whether there is a terminal, with an operator at it.
    now
        Time of the clock.
    """
    found = Problems("--max-age")
    most_s = read_duration(max_age, found)
    problems = list(found.found)
    if is_attended or most_s is None:
        return problems
    if job.plan_id is None:
        problems.append(
            InputProblem.of_option(
                "--plan-id",
                "",
                "must be given without a terminal",
                f"{job.command} shows it",
            )
        )
    # A run that goes on was looked at when it began.
    if not any(line.get("event") == "started" for line in read_journal(job.journal)):
        problems += _old(job, most_s, now)
    return problems


def _old(job: Job, most_s: float, now: datetime) -> Iterator[InputProblem]:
    snapshot = job.plan.document.get("snapshot")
    taken = snapshot.get("taken_at") if isinstance(snapshot, dict) else None
    try:
        age_s = (now - datetime.fromisoformat(str(taken))).total_seconds()
    except (TypeError, ValueError):
        yield _problem("unknown", "must have a snapshot with a known time")
        return
    if age_s > most_s:
        rule = f"must be from a snapshot of the last {duration_text(most_s)}"
        yield _problem(f"{duration_text(age_s)} old", rule)


def _problem(value: str, rule: str) -> InputProblem:
    remedy = "plan again from a new snapshot, or raise --max-age"
    return InputProblem.of_option("PLAN", value, rule, remedy)
