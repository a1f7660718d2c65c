"""The check for words that the project does not use."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tools.checks.prose import Term, Vocabulary, check, comments, markdown_prose, python_prose
from tools.checks.source_tree import SourceTree

VOCABULARY = Vocabulary((Term(re.compile(r"\bhither\b", re.IGNORECASE), "again"),), ("docs/pending",))


def test_words_are_found_in_python_comments_and_strings() -> None:
    source = 'hither = 1  # made hither\nx = """\nonce\nHither\n"""\n'

    found = list(VOCABULARY.problems(python_prose(source)))

    assert found == [(1, "hither", "again"), (4, "Hither", "again")]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("def test_come_hither(): ...", [1]),
        ("x = 1\n\n\nclass ComeHither:\n    async def hither_again(self): ...", [4, 5]),
        ("def hitherto(): return 'hither'  # hither", []),
        ("def hitherto(value,\n    hither): return hither", [2]),
        ("x = 1\nself.come_hither = other.come_hither", [2]),
    ],
)
def test_names_are_read_as_words_where_they_are_first(source: str, lines: list[int]) -> None:
    assert [line for line, _, _ in VOCABULARY.wrong_names(source)] == lines


def test_a_term_may_be_allowed_in_names() -> None:
    (term,) = VOCABULARY.terms
    lenient = Vocabulary((replace(term, in_names=False),), ())
    assert [*lenient.wrong_names("def come_hither(): ...")] == []


def test_a_term_may_be_refused_in_names_only() -> None:
    (term,) = VOCABULARY.terms
    strict = Vocabulary((replace(term, in_prose=False),), ())
    assert [*strict.problems(python_prose("x = 1  # made hither"))] == []
    assert [line for line, _, _ in strict.wrong_names("def come_hither(): ...")] == [1]


def test_comments_of_settings_are_prose_and_values_are_not() -> None:
    assert [*comments('hither = 1\nx = "y"  # hither\n')] == [(2, " hither")]


def test_code_in_markdown_is_not_prose_but_a_note_is() -> None:
    page = "`hither`\n\n```python\nhither()\n```\n\n```{note}\nbegin hither\n```\n\nhither\n"

    found = [line for line, _, _ in VOCABULARY.problems(markdown_prose(page))]

    assert found == [8, 11]


@pytest.mark.parametrize(("place", "count"), [("docs/page.md", 1), ("docs/pending/page.md", 0), ("other/page.md", 0)])
def test_only_the_projects_pages_are_read_and_pending_ones_left_out(tmp_path: Path, place: str, count: int) -> None:
    (tmp_path / place).parent.mkdir(parents=True)
    (tmp_path / place).write_text("Made hither.\n")

    assert len(check(SourceTree(tmp_path), VOCABULARY)) == count


def test_every_pending_place_exists_and_has_complaints_left() -> None:
    vocabulary = Vocabulary.load()
    everywhere = check(SourceTree(), Vocabulary(vocabulary.terms, ())) if vocabulary.pending else []

    done = [place for place in vocabulary.pending if not any(line.startswith(place) for line in everywhere)]

    assert done == [], "these can be taken off the list of pending places"
