"""The community's templates go through every offline tool. Skipped where they are not at hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from stoker.authoring.convert.templates import convert, to_yaml
from stoker.authoring.graph import draw, to_dot
from stoker.authoring.layout import layout
from stoker.authoring.rules import ERROR
from stoker.authoring.sources import Sources, find_templates
from stoker.authoring.svg import to_svg
from stoker.authoring.workspace import Workspace
from stoker.base.diagnostics import Diagnostic
from stoker.plugins.registry import Registry
from stoker.template.document import Document
from stoker.template.limits import DEFAULT_LIMITS
from stoker.template.template import Template
from testing import corpus

FOLDER = corpus.folder()
pytestmark = pytest.mark.skipif(FOLDER is None, reason=corpus.ABSENT)


@pytest.fixture(scope="module")
def templates() -> list[str]:
    return list(find_templates([str(FOLDER)]))


@pytest.fixture(scope="module")
def found() -> dict[str, list[Diagnostic]]:
    assert FOLDER is not None
    return corpus.problems(FOLDER)


def test_every_template_is_found(templates: list[str]) -> None:
    assert len(templates) > 100
    assert any(corpus.is_invalid(path) for path in templates)


def test_invalid_corpus_templates_are_refused(found: dict[str, list[Diagnostic]]) -> None:
    invalid = {path: diagnostics for path, diagnostics in found.items() if corpus.is_invalid(path)}
    assert invalid
    for path, diagnostics in invalid.items():
        assert any(item.severity == ERROR and item.rule != corpus.UNKNOWN_TYPE for item in diagnostics), path


def test_expected_diagnostics_of_corpus_templates(found: dict[str, list[Diagnostic]]) -> None:
    assert FOLDER is not None
    reported = corpus.entries(found, FOLDER)
    listed = corpus.listed()
    assert reported - listed == set(), "check these, and write the page again"
    # A type is listed until the page is written again, also when Stoker supports it by now.
    assert {entry for entry in listed - reported if entry.rule != corpus.UNKNOWN_TYPE} == set()


@pytest.mark.slow
def test_formatting_preserves_content(templates: list[str]) -> None:
    for path in templates:
        text = Path(path).read_text("utf-8-sig")
        result = layout(text, path)
        assert "".join(result.split()) == "".join(text.split()), "only space may change"
        assert layout(result) == result, path
        for arranged in (result, layout(text, path, sort=True)):
            assert Document.parse(arranged).data == Document.parse(text).data


def test_every_corpus_template_has_a_graph(templates: list[str]) -> None:
    registry = Registry.from_entry_points()
    for path in templates:
        graph = draw(Workspace(registry).root(path).require_valid(), nested=True)
        assert ("circular" in to_dot(graph)) == corpus.is_invalid(path)
        assert to_svg(graph)


@pytest.mark.slow
def test_lossless_conversions_round_trip(templates: list[str]) -> None:
    sources = Sources(DEFAULT_LIMITS)
    counts: Counter[str] = Counter()
    for path in templates:
        template = sources.template(path)
        own = template.dialect.name
        there = convert(template, "cfn" if own == "hot" else "hot")
        counts[f"{own}, {'in part' if there.problems else 'whole'}"] += 1
        if not there.problems:
            back = convert(Template.load(to_yaml(there.data)), own)
            assert back.problems == [], path
            assert set(Template.load(to_yaml(back.data)).resources) == set(template.resources)
    assert counts["hot, whole"] > 40
    assert counts["cfn, whole"] > 20
