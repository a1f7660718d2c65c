"""Expressions of workflows: their values, and limits on time and memory."""

from __future__ import annotations

import resource
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from openstack_emulator.workflow.rules.expressions import ExpressionError, Scope, check, evaluate
from openstack_emulator.workflow.rules.jinja_worker import LARGEST
from stoker_foundation.processor_time import processor_time

DATA = {"name": "bob", "keys": 1, "words": ["a", "b"], "big": "a" * 100_000}
SCOPE = Scope({"a": 1}, {"id": "e"}, {"shared": "x"}, lambda name: {"name": name}, lambda: [{"name": "t"}])
JINJA = (
    "{{ 'a'.ljust(300000000) }}",
    "{{ 'a'.center(300000000) }}",
    "{{ 'a'.rjust(300000000) }}",
    "{{ '1'.zfill(300000000) }}",
    "{{ 'a'|center(300000000) }}",
    "{{ 'a'|indent(300000000, true) }}",
    "{{ '%300000000d'|format(1) }}",
    "{{ '%300000000d' % 1 }}",
    "{{ '{:300000000}'.format(1) }}",
    "{{ 'a' * 300000000 }}",
    "{{ [1] * 300000000 }}",
    "{{ (1, 2) * 300000000 }}",
    "{{ _.big.replace('a', _.big) }}",
    "{{ _.big|replace('a', _.big) }}",
    "{{ _.big.join(_.big) }}",
    "{{ _.big|join(_.big) }}",
    "{{ _.big.translate({97: _.big}) }}",
    "{{ _.big.expandtabs(100000000) }}{{ '\t'.expandtabs(300000000) }}",
    "{{ 10 ** 10 ** 10 }}",
    "{{ 1 .__lshift__(3000000000) }}",
    "{{ range(1000000000)|list }}",
    "{{ [1]|batch(300000000, 'x')|list }}",
    "{{ [1]|slice(300000000, 'x')|list }}",
    "{{ lipsum(n=1000000) }}",
    "{{ _.words|tojson(indent=300000000) }}",
    "{% for i in range(100000) %}{{ _.big }}{% endfor %}",
    "{% for i in range(99999) %}{% for j in range(99999) %}x{% endfor %}{% endfor %}",
    "{% set n = namespace(x='a') %}{% for i in range(40) %}{% set n.x = n.x + n.x %}{% endfor %}{{ n.x }}",
    "{% set n = namespace(x='a') %}{% for i in range(40) %}{% set n.x = n.x ~ n.x %}{% endfor %}{{ n.x }}",
    "{% set n = namespace(x=[1]) %}{% for i in range(40) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}",
    "{% macro m(x) %}{{ x }}{{ x }}{% endmacro %}" + "{{ m(" * 40 + "'a'" + ")" * 40 + " }}",
    "{{ _.big|wordwrap(1, wrapstring=_.big) }}",
    "{{ _.big|urlize }}{{ ('<' * 100000)|striptags }}{% for i in range(99999) %}{{ _.big|upper }}{% endfor %}",
)
YAQL = (
    "<% $.big.replace(a, $.big) %>",
    "<% let(x => $.big) -> range(9000).select($x).join($x) %>",
    "<% let(x => [1] * 9000) -> let(x => [$x] * 9000) -> let(x => [$x] * 9000) -> str($x) %>",
    "<% json_pp(let(x => [1] * 9000) -> let(x => [$x] * 9000) -> [$x] * 9000) %>",
)


@pytest.fixture
def unchanged_memory() -> Iterator[None]:
    """The memory of this process does not grow, and its processor does not compute for long."""
    evaluate(["{{ 1 }}", "<% 1 %>"], {}, SCOPE)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = processor_time()
    yield
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024
    assert processor_time() - began < 3


@pytest.mark.slow
@pytest.mark.parametrize("text", [*JINJA, *YAQL], ids=lambda text: text[:50])
def test_no_expression_fills_memory(unchanged_memory: None, text: str) -> None:
    with pytest.raises(ExpressionError, match=r"memory|large|long|costly|iterable|Error|error="):
        assert len(str(evaluate(text, DATA, SCOPE))) < LARGEST
        raise ExpressionError("error=: the result is small")
    assert evaluate("{{ _.name }}", DATA, SCOPE) == "bob", "the next expression is evaluated"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{{ _.name }}", "bob"),
        (" {{ _.words|length }} ", 2),
        ("{{ _.keys }}", 1),
        ("{{ _.words }}", ["a", "b"]),
        ("hello {{ _.name }}{% if _.keys == 1 %}!{% endif %}", "hello bob!"),
        ("{{ env().a }}", 1),
        ("{{ task('t').name }}", "t"),
        ("{{ task().name }}", None),
        ("{{ tasks()[0].name }}", "t"),
        ("{{ global('shared') }}", "x"),
        ("{{ json_parse('[1]') }}", [1]),
        ("{{ json_dump(_.words) }}", '["a", "b"]'),
        ("{{ base64_decode(base64_encode('x')) }}", "x"),
        ("<% $.name %>", "bob"),
        (" <% $.words.len() %> ", 2),
        ("<% $.name %> and <% $.keys %>", "bob and 1"),
        ("<% $.name", "<% $.name"),
        ("%> {{ x", "%> {{ x"),
    ],
)
def test_expression_values(text: str, value: Any) -> None:
    assert evaluate(text, DATA, SCOPE) == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{{ _.unknown }}", "undefined"),
        ("{{ json_parse('[') }}", "Expecting value"),
        ("{{ _.name.__class__.__mro__ }}", "unsafe"),
        ("{{ env }}", "not JSON data"),
        ("{{ 1 / 0 }}", "division by zero"),
        ("{{ _.words.append('c') }}", "unsafe"),
        ("<% $.unknown %>", "unknown"),
    ],
)
def test_expression_errors(text: str, problem: str) -> None:
    with pytest.raises(ExpressionError, match=problem):
        evaluate(text, DATA, SCOPE)


@pytest.mark.parametrize("text", ["{{" * 500_000, "%}" + "{{" * 500_000, "<%" * 500_000, "%>" + "<% " * 300_000])
def test_unclosed_expressions_are_read_in_linear_time(text: str) -> None:
    began = processor_time()
    check(text)
    assert evaluate(text, DATA, SCOPE) == text
    assert processor_time() - began < 2


@pytest.mark.parametrize("text", ["{{ " + "(" * 5_000 + ")" * 5_000 + " }}", "{{ " + "[" * 50_000 + " }}"])
def test_expressions_that_are_nested_too_deep_are_refused(text: str) -> None:
    with pytest.raises(ExpressionError, match="Parse error"):
        check(text)


def test_the_memory_of_a_yaql_expression_is_bounded() -> None:
    tracemalloc.start()
    with pytest.raises(ExpressionError):
        evaluate("<% let(x => $.big) -> range(9000).select($x).join('') %>", DATA, SCOPE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * 1024 * 1024
