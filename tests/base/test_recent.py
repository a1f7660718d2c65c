"""The cache that is limited by the size of what it holds."""

from __future__ import annotations

import pytest

from stoker_foundation.recent import Recent, memory_of


def test_least_recently_used_values_are_evicted_first() -> None:
    cache: Recent[str] = Recent(10, len, most=10)
    for key in "abc":
        cache.get(key, lambda key=key: key * 3)  # type: ignore[misc]  # mypy does not infer the default's type
    assert cache.find("a") == "aaa"
    cache.get("d", lambda: "dddd")
    assert (cache.find("a"), cache.find("b"), cache.find("c"), cache.find("d")) == ("aaa", None, "ccc", "dddd")
    assert cache.weight == 10


def test_oversized_value_is_not_cached() -> None:
    cache: Recent[str] = Recent(10, len, most=10)
    cache.get("kept", lambda: "kept")
    assert [cache.get("large", lambda: "x" * 11), cache.find("large")] == ["x" * 11, None]
    assert cache.find("kept") == "kept"


def test_many_small_values_are_limited_in_number() -> None:
    cache: Recent[str] = Recent(3, lambda value: 0)
    for number in range(5):
        cache.get(number, lambda: "")
    assert [cache.find(number) for number in range(5)] == [None, None, "", "", ""]


@pytest.mark.parametrize(
    ("data", "values"), [("abc", 1), ({"key": ["ab", {"c": None}]}, 7), (frozenset({"ab", "c"}), 3)]
)
def test_cache_size_counts_keys_strings_and_overhead(data: object, values: int) -> None:
    assert 64 * values < memory_of(data) < 64 * values + 10
