"""Declared kinds of values: what they accept, and that their JSON Schema accepts the same."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator, meta

from stoker.api.cfn.actions import ACTIONS
from stoker.api.cfn.parameters import FLAT
from stoker.api.faults import BadRequest
from stoker.api.requests import Body
from stoker.api.v1.routes import ROUTES
from stoker.api.values import (
    BOOLEAN,
    COMMA_LIST,
    INTEGER,
    MAP,
    MAP_OR_STRING,
    STRING,
    STRINGS,
    Anything,
    Choice,
    CommaList,
    Field,
    Integer,
    ListOf,
    MapOf,
    String,
    Structure,
    UnexpectedValue,
    ValueKind,
    ValueOutOfRange,
)

BODIES: dict[str, Body] = {
    f"{method} {path}": action.body
    for path, methods in ROUTES.items()
    for method, action in methods.items()
    if action.body is not None
}
KINDS: dict[str, ValueKind] = {
    "anything": Anything(),
    "string": STRING,
    "bounded string": String(longest=3),
    "pattern": String(pattern="[a-z]-?|b", form="a letter"),
    "integer": INTEGER,
    "bounded integer": Integer(2, 40),
    "boolean": BOOLEAN,
    "choice": Choice("a", "b"),
    "comma list": COMMA_LIST,
    "bounded comma list": CommaList(longest=2),
    "list": STRINGS,
    "list of maps": ListOf(MAP),
    "map": MAP,
    "map of integers": MapOf(INTEGER),
    "either": MAP_OR_STRING,
    "structure": Structure({"a": Field(INTEGER, required=True), "b": Field(STRINGS)}),
    "lenient structure": Structure({"a": Field(BOOLEAN), "b": Field(MAP)}, strict=False),
}

DIALECT = "https://json-schema.org/draft/2020-12/schema"

# As in real bodies: the parser refuses NUL characters, surrogates and numbers out of range.
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
CHOSEN = st.sampled_from(["", "a", "b", "a-", "true", "FALSE", "7", "39", "-1", "1.0", "x, y", "long one,b", " ,  ,"])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 50), st.floats(allow_nan=False, allow_infinity=False), WORDS, CHOSEN
)
NAMES = st.one_of(st.sampled_from(["a", "b"]), WORDS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=6,
)


def accepts(kind: ValueKind, value: Any) -> bool:
    try:
        kind.read("value", value)
    except BadRequest as error:
        assert error.message.startswith(("value", "Unknown key", "The body must have the key value"))
        return False
    return True


@cache
def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator((KINDS.get(name) or BODIES[name]).schema)


@pytest.mark.parametrize("name", KINDS)
@settings(max_examples=150, deadline=None)
@given(value=VALUES)
@example(value={"a": 1, "b": None})
@example(value={"a": "1", "c": None})
@example(value={"b": ["x"]})
@example(value="ab\x1f")
def test_a_value_is_accepted_exactly_if_its_schema_accepts_it(name: str, value: Any) -> None:
    kind = KINDS[name]
    described = validator(name).is_valid(value)
    if name == "bounded integer" and isinstance(value, str):  # a pattern cannot compare numbers
        assert described or not accepts(kind, value)
        return
    assert accepts(kind, value) == described, (value, kind.schema)


@cache
def bodies(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """Bodies with keys that the named one has, and at most one more; building this costs more than many examples."""
    known = BODIES[name].fields
    fields = {key: st.one_of(VALUES, st.sampled_from(["web", True, 5, {}, []])) for key in known}
    required = {key: st.one_of(st.just("web"), fields[key]) for key, each in known.items() if each.required}
    return st.builds(
        lambda known, other: {**other, **known},
        st.fixed_dictionaries(required, optional={k: v for k, v in fields.items() if k not in required}),
        st.dictionaries(WORDS, SCALARS, max_size=1),
    )


@pytest.mark.parametrize("name", BODIES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_body_is_accepted_exactly_if_its_schema_accepts_it(name: str, data: st.DataObject) -> None:
    body = BODIES[name]
    given_body = data.draw(bodies(name))
    minutes = given_body.get("timeout_mins")
    assume(not (isinstance(minutes, str) and minutes.isdigit()))  # a pattern cannot compare numbers
    try:
        body.read(given_body)
    except BadRequest:
        accepted = False
    else:
        accepted = True
    assert accepted == validator(name).is_valid(given_body), given_body


@pytest.mark.parametrize("name", [*KINDS, *BODIES])
def test_schemas_are_valid(name: str) -> None:
    assert meta.is_valid({**(KINDS.get(name) or BODIES[name]).schema, "$schema": DIALECT})


@pytest.mark.parametrize("action", ACTIONS)
def test_parameters_of_the_query_api_have_schemas(action: str) -> None:
    assert meta.is_valid({**Structure(ACTIONS[action].parameters).schema, "$schema": DIALECT})


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        (STRING, ["web"], "value must be a string; it is a list."),
        (String(longest=2), "abc", "value must be a string of at most 2 characters; it is 'abc'."),
        (INTEGER, "ten", "value must be an integer of at least 0; it is 'ten'."),
        (Integer(1, 5), 6, "value must be an integer from 1 to 5; it is 6."),
        (BOOLEAN, "maybe", "value must be true or false; it is 'maybe'."),
        (Choice("a", "b"), "c", "value must be one of a, b; it is 'c'."),
        (STRINGS, ["a", 1], "value[1] must be a string; it is 1."),
        (MapOf(STRING), {"k": 1}, "value.k must be a string; it is 1."),
        (MAP_OR_STRING, 7, "value must be a map or a string; it is 7."),
        (Structure({"a": Field()}), {"b": 1}, "Unknown key of the body: value.b; it must be one of a."),
        (Structure({"a": Field(required=True)}), {}, "The body must have the key value.a."),
    ],
)
def test_messages_name_the_place_and_what_is_expected(kind: ValueKind, value: Any, message: str) -> None:
    with pytest.raises(BadRequest) as refused:
        kind.read("value", value)
    assert refused.value.message == message


def test_flat_lists_name_their_members() -> None:
    numbers = {"member": {"10": "3", "2": "1"}}
    assert ListOf(INTEGER).read("Sizes", numbers, FLAT) == [1, 3]
    with pytest.raises(UnexpectedValue, match=r"^Sizes\.member\.2 must be an integer of at least 0; it is 'x'\.$"):
        ListOf(INTEGER).read("Sizes", {"member": {"2": "x"}}, FLAT)
    with pytest.raises(UnexpectedValue, match=r"^Sizes must be a list: member\.1, member\.2"):
        ListOf(INTEGER).read("Sizes", {"first": "1"}, FLAT)


def test_a_number_out_of_range_is_distinguished() -> None:
    with pytest.raises(ValueOutOfRange):
        Integer(1, 5).read("Minutes", "6")
