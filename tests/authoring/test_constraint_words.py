"""Constraints in words: the same in the reference, the editors and the manual."""

from __future__ import annotations

from stoker.authoring.constraint_words import rules
from stoker.schema.constraints import (
    AllowedPattern,
    AllowedValues,
    Constraint,
    CustomConstraint,
    Length,
    Modulo,
    Range,
)
from stoker.schema.property import Property, Type


def _rule(constraint: Constraint) -> str:
    (rule,) = rules(Property(Type.STRING, constraints=(constraint,)))
    return rule


def test_every_constraint_has_a_description() -> None:
    assert _rule(Range(min=1, max=9)) == "must be 1 to 9"
    assert _rule(Range(min=1)) == "must be at least 1"
    assert _rule(Length(max=255)) == "must be of length at most 255"
    assert _rule(Modulo(step=8)) == "must be a multiple of 8"
    assert _rule(Modulo(step=8, offset=3)) == "must be a multiple of 8 plus 3"
    assert _rule(AllowedValues(values=("tcp", 1, 2, 3, 4, "udp"))) == "must be one of tcp, 1 to 4, udp"
    assert _rule(AllowedPattern(pattern="a+")) == "must be a match of the pattern a+"
    assert _rule(CustomConstraint(name="cinder.vtype")) == "must be an existing volume type"
    assert _rule(CustomConstraint(name="acme.rack")) == "must be valid for the constraint acme.rack"
    assert _rule(Range(max=9, description="one digit")) == "must be at most 9 (one digit)"


def test_list_items_and_literals_are_marked_as_code() -> None:
    items = Property(Type.STRING, constraints=(AllowedValues(values=("a", "b")),))
    prop = Property(Type.LIST, items=items, constraints=(Length(min=1),))
    assert list(rules(prop, lambda value: f"`{value}`")) == [
        "must be of length at least `1`",
        "each item must be one of `a`, `b`",
    ]
