"""The types of parameters: how a given value is converted, and how it is shown.

The conversions are Heat's, as `tests/parity/test_parameters.py` states them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stoker.base.budget import charge, size_of
from stoker.base.json_text import read_json
from stoker.schema.property import to_number

_PIECE_BYTES = 64
_BYTES_PER_CHARACTER = 16
"""The maximum number of bytes that JSON data takes in memory for each character of its source."""

_TRUE = frozenset({"1", "t", "true", "on", "y", "yes"})
_FALSE = frozenset({"0", "f", "false", "off", "n", "no"})


@dataclass(frozen=True, slots=True)
class ParameterType:
    """A parameter type. `convert` converts a given value to the type or raises ValueError, `to_text` formats it, and
    `expects` describes the accepted values. `checks` are the applicable kinds of constraint. `names` is the custom
    constraint on each value of a type whose values name objects in the cloud.
    """

    hot: str
    cfn: str
    expects: str
    convert: Callable[[Any], Any]
    to_text: Callable[[Any], str]
    checks: frozenset[str]
    names: str = ""

    def spellings(self, allowed: object) -> Sequence[object]:
        """Return the converted values, or items of a list, that an allowed value stands for. Raises ValueError.

        A boolean that a string may be stands for each of its spellings, those of Heat and of AWS.
        """
        if self.hot == "comma_delimited_list":
            return self.convert([allowed])  # type: ignore[no-any-return]
        value = self.convert(allowed)
        return (value, str(allowed)) if isinstance(allowed, bool) and self.hot == "string" else (value,)


def _to_number(value: object) -> object:
    if isinstance(value, str | int | float):
        return to_number(value)
    raise ValueError


def _to_boolean(value: object) -> bool:
    text = str(value).strip().lower()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise ValueError


def _to_list(value: object) -> list[str]:
    if isinstance(value, list | tuple):
        return ["" if item is None else str(item) for item in value]
    if isinstance(value, str):
        charge(made=size_of(value) + _PIECE_BYTES * value.count(","))
        return value.split(",") if value else []
    raise ValueError


def _to_json(value: object) -> object:
    if not isinstance(value, str) or not value:
        return value
    charge(made=_BYTES_PER_CHARACTER * len(value))
    return read_json(value)


STRING = ParameterType(
    "string",
    "String",
    "a string",
    str,
    str,
    frozenset({"length", "allowed_values", "allowed_pattern", "custom_constraint"}),
)
NUMBER = ParameterType(
    "number",
    "Number",
    "a number",
    _to_number,
    str,
    frozenset({"range", "modulo", "allowed_values", "custom_constraint"}),
)
COMMA_DELIMITED_LIST = ParameterType(
    "comma_delimited_list",
    "CommaDelimitedList",
    "a list, or a string with commas",
    _to_list,
    ",".join,
    frozenset({"length", "allowed_values", "custom_constraint"}),
)
JSON = ParameterType(
    "json", "Json", "JSON: a map or a list, or a string that contains one", _to_json, json.dumps, frozenset({"length"})
)
BOOLEAN = ParameterType(
    "boolean", "Boolean", "true or false", _to_boolean, str, frozenset({"allowed_values", "custom_constraint"})
)

TYPES = (STRING, NUMBER, COMMA_DELIMITED_LIST, JSON, BOOLEAN)
BY_HOT_NAME: Mapping[str, ParameterType] = {kind.hot: kind for kind in TYPES}
BY_CFN_NAME: Mapping[str, ParameterType] = {kind.cfn: kind for kind in TYPES}


def _number_texts(value: object) -> list[str]:
    texts = [text.strip() for text in _to_list(value)]
    for text in texts:
        to_number(text)
    return texts


def _trimmed(value: object) -> list[str]:
    items = [_aws_text(item) for item in value] if isinstance(value, list | tuple) else value
    return [text.strip() for text in _to_list(items)]


def _list_type(cfn: str, convert: Callable[[object], list[str]], expects: str, names: str = "") -> ParameterType:
    return ParameterType(
        COMMA_DELIMITED_LIST.hot, cfn, expects, convert, ",".join, frozenset({"length", "allowed_values"}), names
    )


_AWS_NAMES: Mapping[str, str] = {
    "AWS::EC2::AvailabilityZone::Name": "",
    "AWS::EC2::Image::Id": "glance.image",
    "AWS::EC2::Instance::Id": "nova.server",
    "AWS::EC2::KeyPair::KeyName": "nova.keypair",
    "AWS::EC2::SecurityGroup::GroupName": "neutron.security_group",
    "AWS::EC2::SecurityGroup::Id": "neutron.security_group",
    "AWS::EC2::Subnet::Id": "neutron.subnet",
    "AWS::EC2::VPC::Id": "neutron.network",
    "AWS::EC2::Volume::Id": "cinder.volume",
    "AWS::Route53::HostedZone::Id": "designate.zone",
}
"""AWS's types for objects, and the constraint that looks up the corresponding OpenStack object. Availability zones
have none.
"""


def _aws_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_AWS_STRING = replace(STRING, convert=_aws_text)


def _aws_types() -> Iterator[ParameterType]:
    yield _AWS_STRING
    yield replace(COMMA_DELIMITED_LIST, convert=_trimmed, checks=COMMA_DELIMITED_LIST.checks | {"allowed_pattern"})
    yield _list_type("List<Number>", _number_texts, "a list of numbers, or a string with commas")
    yield _list_type("List<String>", _trimmed, COMMA_DELIMITED_LIST.expects)
    for name, constraint in _AWS_NAMES.items():
        yield replace(_AWS_STRING, cfn=name, names=constraint)
        if name != "AWS::EC2::KeyPair::KeyName":
            yield _list_type(f"List<{name}>", _trimmed, COMMA_DELIMITED_LIST.expects, constraint)


BY_AWS_NAME: Mapping[str, ParameterType] = {**BY_CFN_NAME, **{kind.cfn: kind for kind in _aws_types()}}
"""The types of CloudFormation templates as AWS defines them now; whitespace around the items of lists is ignored."""
