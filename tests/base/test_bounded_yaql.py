"""Evaluation of YAQL expressions: limits on the size of values, also of those that share their items."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yaql.language.exceptions import YaqlException

from stoker_foundation import bounded_yaql
from stoker_foundation.processor_time import processor_time
from stoker_foundation.weights import Weights

DATA = {"text": "a" * 9_500, "words": [str(number) for number in range(150)], "map": {"a": 1}, "name": "banana"}
NESTED = "let(x => [1] * 190) -> " + "let(x => [$x] * 190) -> " * 4
BOMBS = (
    f"{NESTED}str($x)",
    f"{NESTED}$x",
    f"{NESTED}range(190).select($x)",
    f"{NESTED}range(190).select($x).select($).toList()",
    f"{NESTED}($x = $x)",
    f"{NESTED}set($x)",
    f"{NESTED}$x.distinct()",
    f"{NESTED}$x.flatten()",
    f"{NESTED}dict(a => $x)",
    "let(x => [1] * 100) -> " + "let(x => dict(a => $x, b => $x)) -> " * 40 + "str($x)",
    "let(x => [1]) -> " + "let(x => $x.append($x, $x).toList()) -> " * 60 + "str($x)",
    "$.text.replace(a, $.text)",
    "$.text.replace({a => $.text})",
    "let(x => $.text) -> $.text.replace({a => $x, $x => $x})",
    "$.text.replace('', $.text)",
    "let(x => $.text) -> $.words.select($x + $x).join($x)",
    "let(x => $.text) -> regex(a).replaceBy($x, $x)",
    "$.text.replace(regex(a), $.text)",
    "$.text * 10000000",
    "10000000 * $.text",
    "[1] * 10000000",
    "range(1000000000).toList()",
    "let(x => $.text) -> range(190).select($x).aggregate($1 + $2)",
    "sequence().select([$] * 1000).toList()",
    "repeat($.text, 1000000000).toList()",
    "$.words.select($.len()).cycle().toList()",
    "pow(2, 10000000)",
    "shiftBitsLeft(1, 100000000)",
    "'9' * 9000",
)


@pytest.mark.parametrize("expression", BOMBS, ids=lambda text: text[-40:])
@pytest.mark.parametrize(("iterators", "memory"), [(200, 10_000), (10_000, 1_000_000)])
def test_no_expression_fills_memory(expression: str, iterators: int, memory: int) -> None:
    bounded_yaql.evaluate("1 + 1", DATA, seconds=5)
    tracemalloc.start()
    began = processor_time()
    try:
        bounded_yaql.evaluate(expression, DATA, seconds=0.5, iterators=iterators, memory=memory)
    except (MemoryError, TimeoutError, RecursionError, YaqlException, ValueError, KeyError):
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 64 * 1024 * 1024
    assert processor_time() - began < 5, "it stops soon after the limit, also while memory is traced"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("$.name.replace(a, o)", "bonono"),
        ("$.name.replace(a, o, 1)", "bonana"),
        ("$.name.replace(a, b, count => 2)", "bbnbna"),
        ("$.name.replace({a => 1, n => null})", "b1null1null1"),
        ("$.name.replace($.map)", "b1n1n1"),
        ("$.name.replace(regex(a), z)", "bznznz"),
        ("[1, 2, x].join('-')", "1-2-x"),
        ("'-'.join([1, 2, x])", "1-2-x"),
        ("[null, true, 1.5].join(',')", "null,true,1.5"),
        ("[].join(',')", ""),
        ("[1, 2, 3].replace(0, 9)", [9, 2, 3]),
        ("[1, 2].join([1, 2], $1 = $2, [$1, $2])", [[1, 1], [2, 2]]),
    ],
)
def test_limited_functions_equal_the_language_functions(expression: str, value: Any) -> None:
    assert bounded_yaql.evaluate(expression, DATA, seconds=0.5) == value


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(_VALUES)
def test_repeated_items_count_each_time_in_list_weight(value: Any) -> None:
    once = Weights().of(value)
    assert Weights().of([value, value]) == 1 + 2 * once
    assert once >= len(str(value)) / 30
