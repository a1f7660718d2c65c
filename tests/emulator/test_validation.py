"""Validation of request bodies: problems as data, and the dialects of services."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.validation import fields, sentences
from openstack_emulator.core.validation.objects import NOVA, Dialect, Step, invalid, value_at
from openstack_emulator.core.validation.problems import Check, Problem, Reason

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
CHECKS: dict[str, Check] = {
    "text": fields.text(1, 3, "[a-z]+"),
    "name": fields.name(),
    "integer": fields.integer(0, 9),
    "exact integer": fields.exact_integer(0, 9),
    "number": fields.number(0),
    "exact number": fields.exact_number(0, 9),
    "boolean": fields.boolean,
    "exact boolean": fields.exact_boolean,
    "identifier": fields.identifier,
    "address": fields.address(4),
    "choice": fields.nullable(fields.one_of("a", 1)),
    "list": fields.items(fields.nullable(fields.text(1)), 2, unique=True),
    "values": fields.values(fields.items(fields.integer())),
    "text map": fields.text_map(3, "[a-z]", null_values=True),
    "properties": fields.properties(fields.integer(), "[a-z]"),
    "schema": fields.one_schema_of(fields.either(fields.integer(), fields.identifier)),
    "form": fields.form({"a": fields.integer(), "b": fields.form({"c": fields.text()}, ("c",))}, ("a",)),
}
OF_THE_WHOLE = frozenset({Reason.KEY, Reason.PATTERN, Reason.TYPE, Reason.LONG, Reason.SHORT})
"""The reasons that a key of an object can have, whose problem is one of the object."""


@pytest.mark.parametrize("table", [sentences.JSON_SCHEMA, sentences.WSME, sentences.VOLUPTUOUS])
def test_every_reason_has_a_sentence_in_each_table(table: sentences.Sentences) -> None:
    assert set(table) == set(Reason)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(CHECKS)), JSON)
def test_problem_has_its_path_and_a_sentence(name: str, value: Any) -> None:
    problem = CHECKS[name](value)
    if problem is None:
        return
    part = value_at(value, problem.path)
    assert part == problem.value or (isinstance(part, dict) and problem.reason in OF_THE_WHOLE)
    for table in (sentences.JSON_SCHEMA, sentences.WSME, sentences.VOLUPTUOUS):
        assert sentences.sentence(problem, table)


def _refusal(where: str, body: Any, problem: Problem, words: str) -> ApiError:
    return invalid(where, ".".join(map(str, problem.path)), words)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ((Step.MISSING, Step.FIELDS), "'b' is a required property"),
        ((Step.FIELDS, Step.MISSING), "Additional properties are not allowed ('x' was unexpected)"),
        ((Step.UNKNOWN, Step.VALUES), "Additional properties are not allowed ('x', 'y' were unexpected)"),
        ((Step.VALUES, Step.UNKNOWN), "'one' does not match '^[0-9]+$'"),
    ],
)
def test_dialect_order_selects_the_reported_problem(order: tuple[Step, ...], message: str) -> None:
    dialect = Dialect(order, _refusal, sentences.JSON_SCHEMA)
    with pytest.raises(ApiError) as refused:
        dialect.check("thing", {"x": 1, "a": "one", "y": 2}, {"a": fields.integer(0)}, ("b",))
    assert refused.value.status == 400
    assert refused.value.message.endswith(message)


def test_object_without_strict_may_have_other_fields() -> None:
    body, checks = {"a": 1, "other": []}, {"a": fields.integer()}
    NOVA.check("server", body, checks, strict=False)
    with pytest.raises(ApiError, match="other"):
        NOVA.check("server", body, checks)


def test_null_counts_as_missing_only_where_the_dialect_says_so() -> None:
    body, checks = {"a": None}, {"a": fields.nullable(fields.integer())}
    NOVA.check("server", body, checks, ("a",))
    strictly = Dialect((Step.MISSING,), _refusal, sentences.JSON_SCHEMA, null_is_missing=True)
    with pytest.raises(ApiError, match="required property"):
        strictly.check("server", body, checks, ("a",))


def test_the_innermost_part_is_named() -> None:
    with pytest.raises(ApiError) as refused:
        NOVA.check("server", {"metadata": {"k": 1}}, {"metadata": fields.text_map()})
    assert refused.value.message == "Invalid input for field/attribute k. Value: 1. 1 is not of type 'string'"
