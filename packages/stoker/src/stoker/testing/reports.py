"""Results of tests for programs: JSON data, JUnit's XML, and annotations of GitHub's workflows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any
from xml.etree import ElementTree

from stoker.base.diagnostics import Diagnostic
from stoker.testing.running import Outcome

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 does not allow, not even as references (section 2.2)."""


def to_data(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return plain JSON data."""
    failed = sum(bool(outcome.failures) for outcome in outcomes)
    tests = [
        {
            "file": outcome.file,
            "name": outcome.title,
            "passed": not outcome.failures,
            "seconds": round(outcome.seconds, 3),
            "failures": [item.to_dict() for item in outcome.failures],
        }
        for outcome in outcomes
    ]
    return {"passed": len(outcomes) - failed, "failed": failed, "tests": tests}


def to_junit(outcomes: Sequence[Outcome]) -> bytes:
    """Return a report in JUnit's XML: a suite for each file."""
    root = ElementTree.Element("testsuites", _totals(outcomes))
    for file, group in groupby(outcomes, key=lambda outcome: outcome.file):
        own = list(group)
        suite = ElementTree.SubElement(root, "testsuite", {"name": _xml(file), **_totals(own)})
        for outcome in own:
            seconds = f"{outcome.seconds:.3f}"
            names = {"classname": _xml(file), "name": _xml(outcome.title), "file": _xml(file), "time": seconds}
            case = ElementTree.SubElement(suite, "testcase", names)
            if outcome.failures:
                texts = [item.text() for item in outcome.failures]
                failure = ElementTree.SubElement(case, "failure", {"message": _xml(texts[0]), "type": "expectation"})
                failure.text = _xml("\n".join(texts))
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))


def _totals(outcomes: Sequence[Outcome]) -> dict[str, str]:
    failed = sum(bool(outcome.failures) for outcome in outcomes)
    seconds = sum(outcome.seconds for outcome in outcomes)
    return {"tests": str(len(outcomes)), "failures": str(failed), "errors": "0", "time": f"{seconds:.3f}"}


def _xml(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)


def github_annotations(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield a workflow command of GitHub for each failure, which is shown next to its line."""
    for outcome in outcomes:
        for item in outcome.failures:
            yield _annotation(outcome.title, item)


def _annotation(title: str, item: Diagnostic) -> str:
    properties = {"file": item.source}
    if item.position is not None:
        properties |= {"line": str(item.position.line), "col": str(item.position.column)}
    named = ",".join(f"{key}={_property(value)}" for key, value in {**properties, "title": title}.items() if value)
    message = f"{item.message}\n{item.hint}" if item.hint else item.message
    return f"::error {named}::{_escaped(message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
