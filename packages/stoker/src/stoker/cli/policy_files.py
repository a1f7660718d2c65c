"""Policies on plans that the option `--policy` names."""

from __future__ import annotations

from collections.abc import Iterable

from stoker.base.errors import Invalid, TemplateInvalid
from stoker.cli.terminal.errors import CommandFailed, PoliciesRefused
from stoker.engine.plan_policies.policy import Policy, Source
from stoker.engine.plan_policies.policy_files import read_policies, texts_of


def read_policy_files(paths: Iterable[str]) -> tuple[Policy, ...]:
    """Return the policies of files. Raises PoliciesRefused, and CommandFailed for a file that cannot be read."""
    return _checked(_read(paths))


def policy_texts(paths: Iterable[str]) -> dict[str, str]:
    """Return the contents of files with policies, by name, after a check. Raises as `read_policy_files`."""
    texts = _read(paths)
    _checked(texts)
    return texts


def _read(paths: Iterable[str]) -> dict[str, str]:
    try:
        return texts_of(paths)
    except Invalid as error:
        raise CommandFailed(error.message) from error


def _checked(texts: dict[str, str]) -> tuple[Policy, ...]:
    try:
        return read_policies(texts.items(), Source.COMMAND)
    except TemplateInvalid as error:
        raise PoliciesRefused(error.diagnostics, texts.get) from error
