"""Parsing documents: how YAML values are converted, and what is rejected."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from stoker.base.diagnostics import Key, Position
from stoker.base.errors import RequestLimitExceeded, TemplateInvalid
from stoker.template.document import Document
from stoker.template.limits import Limits


def value_of(text: str) -> Any:
    return Document.parse(f"v: {text}").data["v"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2013-05-23", "2013-05-23"),
        ("2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00"),
        ("yes", True),
        ("off", False),
        ("'yes'", "yes"),
        ("0755", 493),
        ("0x1F", 31),
        ("1_000", 1000),
        ("1:30", 90),
        ("1.5", 1.5),
        ("1e3", "1e3"),
        ("~", None),
        ("", None),
        ("=", "="),
        ("!!str 5", "5"),
        ("! 5", "5"),
        ("!!int '5'", 5),
        ("[a, {b: c}]", ["a", {"b": "c"}]),
        ("<<", "<<"),
        ("|\n  line\n  two\n", "line\ntwo\n"),
    ],
)
def test_scalars_are_yaml_1_1_with_dates_as_strings(text: str, value: Any) -> None:
    assert value_of(text) == value
    assert type(value_of(text)) is type(value)


def test_keys_become_strings_as_in_json() -> None:
    document = Document.parse("{1: a, true: b, ~: c, 1.5: d, text: e}\n", limits=Limits())
    assert document.data == {"1": "a", "true": "b", "null": "c", "1.5": "d", "text": "e"}


def test_merge_keys_and_aliases() -> None:
    document = Document.parse("base: &b {x: 1, y: 2}\nother: &o {y: 7, z: 3}\nall: {<<: [*b, *o], x: 9}\nsame: *b\n")
    assert document.data["all"] == {"x": 9, "y": 2, "z": 3}
    assert document.data["same"] == {"x": 1, "y": 2}


@pytest.mark.parametrize(
    ("text", "words", "position"),
    [
        ("a: [1, 2", "not valid YAML", Position(2, 1)),
        ("a: b: c\n", "not valid YAML", Position(1, 5)),
        ("a: 1\n---\nb: 2\n", "there is more than one YAML document", Position(2, 1)),
        ("a: !Ref x\n", "tag !Ref is not supported", Position(1, 4)),
        ("a: !!python/object:os.system x\n", "not supported", Position(1, 4)),
        ("a: !!binary aGk=\n", "not supported", Position(1, 4)),
        ("a: !!set {x, y}\n", "not supported", Position(1, 4)),
        ("a: &x [*x]\n", "does not refer to a value that is complete", Position(1, 8)),
        ("{[1]: 2}\n", "a key must be a scalar", Position(1, 2)),
        ("a: {<<: 5}\n", "<< takes a map", Position(1, 9)),
        ("a: !!int five\n", "is not an integer", Position(1, 4)),
        ("a: [1.5e+3, -.inf]\n", "'-.inf' is not a finite number", Position(1, 13)),
        ("a: .NaN\n", "'.NaN' is not a finite number", Position(1, 4)),
        ("a: 1.0e+999\n", "'1.0e+999' is not a finite number", Position(1, 4)),
    ],
)
def test_malformed_yaml_is_rejected_with_its_position(text: str, words: str, position: Position) -> None:
    with pytest.raises(TemplateInvalid) as caught:
        Document.parse(text, source="t.yaml")
    (diagnostic,) = caught.value.diagnostics
    assert words in diagnostic.message
    assert diagnostic.position == position
    assert caught.value.kind == "ValueError"
    assert caught.value.message.startswith(f"t.yaml:{position.line}:{position.column}: ")


@pytest.mark.parametrize("text", ["", "null", "[1]", "just text", "5", "# only a comment\n", "a: \x00", "a: \ud800"])
def test_documents_other_than_mappings_are_rejected(text: str) -> None:
    with pytest.raises(TemplateInvalid) as caught:
        Document.parse(text)
    assert caught.value.kind == "ValueError"


@pytest.mark.parametrize("opening", ["[", '{"a":', "- "])
def test_deep_nesting_is_rejected_in_bounded_time(opening: str) -> None:
    with pytest.raises((TemplateInvalid, RequestLimitExceeded)):
        Document.parse("a: " + opening * 100_000)


def test_deep_json_is_rejected() -> None:
    with pytest.raises((TemplateInvalid, RequestLimitExceeded)):
        Document.parse('{"a":' * 5000 + "1" + "}" * 5000)


def test_exponential_aliases_are_rejected() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    with pytest.raises(RequestLimitExceeded, match="too large"):
        Document.parse("\n".join(lines))


def test_the_size_limit_applies_to_strings_and_mappings() -> None:
    limits = Limits(max_template_size=100)
    with pytest.raises(RequestLimitExceeded, match="max_template_size"):
        Document.parse("a: " + "x" * 100, limits=limits)
    with pytest.raises(RequestLimitExceeded, match="max_template_size"):
        Document.parse({"a": "x" * 100}, limits=limits)


@pytest.mark.parametrize("source", ["a: " + "ä" * 60, {"a": "ä" * 60}, {"a": "ä" * 50, "b": 2**70}])
def test_the_size_is_in_bytes_of_utf_8(source: Any) -> None:
    with pytest.raises(RequestLimitExceeded, match="bytes"):
        Document.parse(source, limits=Limits(max_template_size=100))
    assert 100 < Document.parse(source, limits=Limits(max_template_size=140)).size <= 140


def test_a_mapping_must_contain_plain_data() -> None:
    given: Any = {1: (1, 2), "a": None}
    assert Document.parse(given).data == {"1": [1, 2], "a": None}
    with pytest.raises(TemplateInvalid, match="not plain data"):
        Document.parse({"a": object()})


def test_json_is_parsed_as_json() -> None:
    data = {"a": ["2013-05-23", 1e3, True, None, {"b": "yes"}]}
    document = Document.parse(json.dumps(data, indent=2), source="t.json")
    assert document.data == data
    assert document.locate(("a", 4, "b")) == Position(8, 12)


def test_locate_finds_the_nearest_position() -> None:
    document = Document.parse("resources:\n  web:\n    type: X\n    list:\n    - one\n    - two: 2\n")
    assert document.locate(("resources", "web", "type")) == Position(3, 11)
    assert document.locate(("resources", "web", Key("type"))) == Position(3, 5)
    assert document.locate(("resources", "web", "list")) == Position(4, 5)
    assert document.locate(("resources", "web", "list", 1, "two")) == Position(6, 12)
    assert document.locate(("resources", "web", "nowhere", 5)) == Position(2, 3)
    assert document.locate(()) == Position(1, 1)
    assert Document.parse({"a": 1}).locate(("a",)) is None


def test_the_reader_agrees_with_the_safe_loader() -> None:
    text = """
    a: [1, 2.5, true, no, ~, 'x', "y\\n", 0o7, 017, .5, 1., +3, -0x1]
    b: {c: &anchor {d: e}, f: *anchor}
    g: >
      folded
      text
    h: plain
    """
    assert Document.parse(text).data == yaml.safe_load(text)


@pytest.mark.parametrize(
    "number",
    [
        "9" * 4301,
        "-" + "9" * 4301,
        f"0x{'f' * 4200}",
        f"-0x{'f' * 4200}",
        f"!!int '0x{'f' * 4200}'",
    ],
)
def test_integers_that_cannot_be_written_are_refused(number: str) -> None:
    with pytest.raises(TemplateInvalid, match="an integer"):
        value_of(number)


@pytest.mark.parametrize("number", ["9" * 4300, f"0x{'f' * 3000}"])
def test_integers_that_can_be_written_are_read(number: str) -> None:
    assert value_of(number) == int(number, 0)
