"""What the checks of a plan have found."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from stoker.base.diagnostics import Diagnostic
from stoker.base.redaction import Redactor
from stoker.plugins.preflight import CHECKS, Code, Planned, Verdict


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: about a resource and a place in its properties if there is one, with what to do."""

    code: Code
    message: str
    planned: Planned | None = None
    at: tuple[str | int, ...] = ()
    hint: str = ""


SEVERITIES: Mapping[Verdict, str] = {Verdict.FAIL: "error", Verdict.WARN: "warning"}


@dataclass(frozen=True, slots=True)
class Result:
    """A finding with its place in the template, and the path of the resource; "" for none."""

    code: Code
    path: str
    diagnostic: Diagnostic

    def to_data(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            "code": self.code.value,
            "verdict": CHECKS[self.code].verdict.value,
            "path": self.path,
            "diagnostic": self.diagnostic.to_dict(),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """The results of all checks, failures first. `requests` is the number of questions to services."""

    results: tuple[Result, ...] = ()
    requests: int = 0

    @property
    def failures(self) -> tuple[Result, ...]:
        """Return the results that refuse the change."""
        return tuple(result for result in self.results if CHECKS[result.code].verdict is Verdict.FAIL)

    def text(self) -> str:
        """Return the failures, one per line, with their places."""
        return "\n".join(result.diagnostic.text() for result in self.failures)

    def to_data(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {"results": [result.to_data() for result in self.results], "requests": self.requests}


def diagnostic_of(finding: Finding, secrets: Collection[str]) -> Diagnostic:
    """Return the diagnostic of a finding, without a place and without secrets."""
    redactor = Redactor(secrets)
    return Diagnostic(
        finding.code.value,
        str(redactor.redact(finding.message)),
        hint=str(redactor.redact(finding.hint)),
        severity=SEVERITIES[CHECKS[finding.code].verdict],
    )
