"""Wildcards and expressions of callers: what they match, and that no pattern takes long."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stoker_foundation.patterns import PatternError, PatternTooCostly
from stoker_foundation.patterns.linear import covers_path, expression, fits_like, fits_shell, fits_wildcards
from stoker_foundation.processor_time import processor_time


@given(st.text("ab*?[]!-^\\é\n", max_size=8), st.text("ab!-]^\\é\n[", max_size=6))
@example("[!]a]*[", "b[")
@example("[z-a]", "z")
def test_shell_patterns_match_as_fnmatch(pattern: str, text: str) -> None:
    assert fits_shell(pattern, text) == fnmatch.fnmatchcase(text, pattern)


@pytest.mark.parametrize(
    ("rule", "path", "covered"),
    [
        ("/v1/*/stacks", "/v1/p/stacks", True),
        ("/v1/*/stacks", "/v1/p/q/stacks", False),
        ("/v1/*/stacks", "/v1//stacks", False),
        ("/v1/{project_id}/stacks/s-*", "/v1/p/stacks/s-1", True),
        ("/v1/{project_id}/stacks/s-*", "/v1/p/stacks/s-", False),
        ("/v1/**", "/v1/", True),
        ("/v1/**", "/v2/", False),
        ("/**/stacks", "/v1/p/stacks", True),
        ("/v1/***", "/v1/", False),
        ("/v1/***", "/v1/a/b", True),
        ("/v1/a.b", "/v1/axb", False),
        ("/v1/(a+)+$", "/v1/(a+)+$", True),
        ("/v1/(a+)+$", "/v1/aa", False),
        ("/v1/**", "/v1/a\n", False),
        ("/v1/{a", "/v1/a", True),
        ("/v1/a}", "/v1/a", True),
        ("/v1/**" + "*" * 10_000, "/v1/a", False),
    ],
)
def test_paths_of_access_rules(rule: str, path: str, covered: bool) -> None:
    assert covers_path(rule, path) is covered


def test_wildcards_stand_for_any_characters() -> None:
    assert fits_wildcards("a?c*", "a\nc") and fits_wildcards("*", "") and fits_wildcards("[a]", "[a]")
    assert not fits_wildcards("a?c*", "ac") and not fits_wildcards("[a]", "a")
    assert fits_like("a%c", "a*\nc") and fits_like("100%", "100%") and not fits_like("a_c", "abc")
    assert fits_shell("\ud800", "?"), "lone surrogates, which no service has in its names"


def test_expressions_match_as_re2() -> None:
    assert expression("^web[0-9]+$").fits("web1") and expression("b").found_in("abc") and expression("a").begins("ab")
    assert not expression("b").begins("abc") and not expression("a").fits("ab")
    for invalid in ("(", "(?=a)", r"(a)\1", "a" * 2_000, "((a{100}){100}){100}"):
        with pytest.raises(PatternError):
            expression(invalid)


@pytest.mark.parametrize(
    ("matches", "pattern", "text"),
    [
        (covers_path, "/v1/**" + "a**" * 80 + "c", "/v1/" + "a" * 8_000 + "b"),
        (covers_path, "/v1/" + "*a" * 120 + "c", "/v1/" + "a" * 8_000 + "b"),
        (covers_path, "/" + "{" * 9_999, "/a"),
        (fits_shell, "*a" * 120 + "c", "a" * 8_000),
        (fits_shell, "[" * 200_000, "a" * 250),
        (fits_like, "%a" * 2_000 + "c", "a" * 20_000),
        (fits_wildcards, "*?" * 120 + "c", "a" * 8_000),
        (lambda pattern, text: expression(pattern).found_in(text), "(a+)+$", "a" * 60_000 + "b"),
        (lambda pattern, text: expression(pattern).found_in(text), "(a|aa)+(b?c?)*$", "a" * 60_000 + "d"),
    ],
)
def test_patterns_take_linear_time(matches: Callable[[str, str], bool], pattern: str, text: str) -> None:
    began = processor_time()
    assert not matches(pattern, text)
    assert processor_time() - began < 2.0


def test_two_very_long_strings_are_refused() -> None:
    with pytest.raises(PatternTooCostly):
        fits_shell("?" * 3_000_000 + "*", "a" * 3_000_000)


def test_a_pattern_without_wildcards_is_compared() -> None:
    assert all(fits_wildcards(re.sub(r"[*?]", "", text), text) for text in ("", "a", "(a", "\\", "é"))
