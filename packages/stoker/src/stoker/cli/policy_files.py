"""Policies on plans that the option `--policy` names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from stoker.base.errors import Invalid, TemplateInvalid
from stoker.cli.terminal.errors import CommandFailed, PoliciesRefused
from stoker.engine.plan_policies.policy import Policy, Source
from stoker.engine.plan_policies.reading import read_files


def read_policy_files(paths: Sequence[str]) -> tuple[Policy, ...]:
    """Return the policies of files. Raises PoliciesRefused, and CommandFailed for a file that cannot be read."""
    try:
        return read_files(paths, Source.COMMAND)
    except TemplateInvalid as error:
        raise PoliciesRefused(error.diagnostics, _text) from error
    except Invalid as error:
        raise CommandFailed(error.message) from error


def policy_texts(paths: Iterable[str]) -> dict[str, str]:
    """Return the contents of files with policies, by name, after a check. Raises as `read_policy_files`."""
    names = [*paths]
    read_policy_files(names)
    return {name: Path(name).read_text(encoding="utf-8") for name in names}


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
