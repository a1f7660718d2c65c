"""Patterns have the semantics of Python's `re`, whichever engine matches them."""

from __future__ import annotations

import re
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import assume, example, given, reject, settings
from hypothesis import strategies as st

from stoker_foundation.patterns import Pattern, PatternError, PatternTooCostly, compiled

_ALPHABET = "aAbBkKsSzZ019_- .\t\n\x1c\x7féÉß\u017f\u212a٣²  "
_ATOMS = st.one_of(
    st.sampled_from(list("abBkKsSz09_-é\u017f\u212aß")),
    st.sampled_from([r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", ".", r"\.", r"\n", r"\x1c", r"\t", r"\-"]),
    st.sampled_from(["[a-z]", "[^a-z]", r"[\w-]", r"[^\d]", "[A-Z0-9]", r"[\s\S]", "[K-Z]", "[a-é]", "[^k]", "[]a]"]),
    st.sampled_from(["^", "$", r"\A", r"\Z", r"\b", r"\B"]),
)
_REPEATS = st.sampled_from(["", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,3}?", "{1,}"])


@st.composite
def _nested(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    parts = draw(st.lists(inner, min_size=1, max_size=3))
    separator = draw(st.sampled_from(["", "", "|"]))
    group = draw(st.sampled_from(["({})", "(?:{})", "(?i:{})", "(?-i:{})", "(?s:{})", "(?m:{})", "(?={})", "(?!{})"]))
    return group.format(separator.join(parts)) + draw(_REPEATS)


_PIECES = st.recursive(st.builds(str.__add__, _ATOMS, _REPEATS), _nested, max_leaves=8)
PATTERNS = st.builds(
    lambda flags, parts, separator: flags + separator.join(parts),
    st.sampled_from(["", "", "", "(?i)", "(?m)", "(?s)", "(?a)", "(?x)", "(?im)"]),
    st.lists(_PIECES, min_size=1, max_size=4),
    st.sampled_from(["", "", "|"]),
)
TEXTS = st.one_of(st.text(_ALPHABET, max_size=8), st.text("aAbkKs09_- \n", max_size=8))


def _of_python(pattern: str) -> re.Pattern[str] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(pattern)
        except re.error:
            return None


_MOST_SECONDS = 0.5
"""Processor time that `re` may take for one example: with nested repetitions, its time can grow exponentially."""


class _TooSlow(Exception):
    """`re` has not ended in time."""


@contextmanager
def results_of_re() -> Iterator[None]:
    """Reject the example if what is asked of `re` here takes too long; `re` looks for signals while it searches."""

    def expire(*_: object) -> None:
        raise _TooSlow

    former = signal.signal(signal.SIGVTALRM, expire)
    signal.setitimer(signal.ITIMER_VIRTUAL, _MOST_SECONDS)
    try:
        yield
    except _TooSlow:
        reject()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former)


@settings(max_examples=400)
@given(PATTERNS, st.lists(TEXTS, min_size=1, max_size=6))
@example("a|ab", ["ab"])
@example("abc$", ["abc", "abc\n"])
@example("(?i)[^k]", ["k", "K", "\u212a"])
@example(r"\B", [""])
@example("(a|b*)*c?", ["abc", "aabb"])
def test_results_equal_those_of_re(pattern: str, texts: list[str]) -> None:
    """`fits` and `found_in` give the results of `re`."""
    expected = _of_python(pattern)
    if expected is None:
        with pytest.raises(PatternError):
            compiled(pattern)
        return
    found = compiled(pattern)
    for text in texts:
        with results_of_re():
            match, somewhere = expected.match(text), expected.search(text)
        assert found.fits(text) == (match is not None and match.end() == len(text)), (pattern, text)
        assert found.found_in(text) == (somewhere is not None), (pattern, text)


@settings(max_examples=60)
@given(PATTERNS, TEXTS)
def test_matches_equal_those_of_re(pattern: str, text: str) -> None:
    """Matches, their groups and positions equal those of `re`."""
    expected = _of_python(pattern)
    assume(expected is not None)
    assert expected is not None
    with results_of_re():
        theirs = list(expected.finditer(text))
    assert [(one.group(), one.groups(), one.start(), one.end()) for one in compiled(pattern).matches(text)] == [
        (one.group(), one.groups(), one.start(), one.end()) for one in theirs
    ]


_ORDINARY = [
    r"^[a-zA-Z][a-zA-Z0-9-]{0,62}$",
    r"\d{4}-\d{2}-\d{2}\s\d{2}:\d{2}",
    r"^([0-9a-fA-F]){8}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){12}$",
    r"^([0-9]+(-[0-9]+)?)(,([0-9]+(-[0-9]+)?))*$",
    r"[a-zA-Z0-9_\-]+[a-zA-Z0-9_@?#\s\-]*[a-zA-Z0-9_\-]+",
    r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})/(\d{1,2})",
    r"(?i)(true|false)",
]


@pytest.mark.parametrize("pattern", _ORDINARY)
def test_ordinary_patterns_need_no_other_process(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Typical patterns of templates are matched without the helper process for ASCII strings."""
    monkeypatch.setattr(Pattern, "_ask", None)
    assert not compiled(pattern).fits("?")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(?=a)(a+)+$", "a" * 40 + "b"),
        (r"(a*)*\1b", "a" * 40),
        ("(?=x)((((a{1000}){1000}){1000}){1000})", "x"),
        ("(?:a|a)*?é", "a" * 60 + "é"[:0] + "ü"),
    ],
)
def test_catastrophic_backtracking_is_interrupted(pattern: str, text: str) -> None:
    """Catastrophic backtracking raises an error, and the next request is answered."""
    try:
        compiled(pattern).fits(text)
    except PatternTooCostly:
        pass
    else:
        assert "1000" in pattern
    assert compiled("(?=é)é").fits("é")


def test_long_patterns_are_refused() -> None:
    """The size of patterns is limited."""
    with pytest.raises(PatternError, match="10000"):
        compiled("a" * 10_001)
    with pytest.raises(PatternError):
        compiled("(" * 9_999)
