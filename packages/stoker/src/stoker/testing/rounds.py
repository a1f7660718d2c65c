"""A round of tests: their files are read, they are run, and the outcomes are printed as they come."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import click

from stoker.base.errors import TemplateInvalid
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.paint import echo, show
from stoker.testing.cases import Case, read_cases
from stoker.testing.running import Outcome, run, unusable
from stoker.testing.workers import outcomes


def read(files: Sequence[str], part: str, cloud: str | None) -> tuple[list[Case], list[Outcome]]:
    """Return the cases whose names contain `part`, and failures for files that cannot be used.

    `cloud` is the path of a file with what the cloud has. Raises CommandFailed for a file that cannot be read.
    """
    cases, failed = [], []
    for file in files:
        try:
            cases += [case for case in read_cases(file, cloud) if part in case.title]
        except TemplateInvalid as error:
            failed.append(unusable(file, error.diagnostics))
        except (OSError, UnicodeDecodeError) as error:
            raise CommandFailed(
                f"{error.filename if isinstance(error, OSError) else file} cannot be read: {error}"
            ) from error
    return cases, failed


def outcomes_of(cases: Sequence[Case], update: bool, jobs: int) -> Iterator[Outcome]:
    """Run cases, with several processes if there are several jobs; yield their outcomes in the order of the cases."""
    processes = min(jobs, len(cases))
    return map(partial(run, update=update), cases) if processes < 2 else outcomes(cases, update, processes)


def shown(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """Print outcomes, each as soon as it is there."""
    file = ""
    for outcome in outcomes:
        if outcome.file != file:
            file = outcome.file
            echo([(f"{file}\n", "bold")])
        sign, style = ("✗", "bold red") if outcome.failures else ("✓", "bold green")
        written = "; the golden plan was written" if outcome.written else ""
        echo([("  ", ""), (sign, style), (f" {outcome.title}  ({outcome.seconds:.1f} s{written})\n", "")])
        sys.stdout.flush()
        if outcome.failures:
            click.echo()
            show(outcome.failures, _text)
        yield outcome


def _text(source: str) -> str | None:
    try:
        return Path(source).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def summary(outcomes: Collection[Outcome]) -> str:
    """Return how many tests have passed and failed, in words."""
    failed = sum(bool(outcome.failures) for outcome in outcomes)
    return f"{len(outcomes) - failed} passed, {failed} failed" if failed else f"{len(outcomes)} passed"
