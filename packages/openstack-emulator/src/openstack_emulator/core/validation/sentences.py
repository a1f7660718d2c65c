"""The sentences of the libraries that OpenStack's services validate requests with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.core.validation.problems import Problem, Reason

Sentences = Mapping[Reason, Callable[[Problem], str]]
NOVA_BOOLEANS = (
    "[True, 'True', 'TRUE', 'true', '1', 'ON', 'On', 'on', 'YES', 'Yes', 'yes', 'y', 't', "
    "False, 'False', 'FALSE', 'false', '0', 'OFF', 'Off', 'off', 'NO', 'No', 'no', 'n', 'f']"
)
"""The booleans of Cinder and Nova, and the words for them, as their errors list them."""
KEYSTONE_BOOLEANS = (
    "[True, 'True', 'TRUE', 'true', False, 'False', 'FALSE', 'false', '', '1', '0', 'y', 'Y', 'n', 'N', 'on', 'ON', "
    "'off', 'OFF', 'yes', 'no']"
)
"""The values of booleans, as Keystone's errors list them."""


def _types(problem: Problem) -> str:
    return f"{problem.value!r} is not of type {', '.join(map(repr, problem.expected))}"


def _digits(problem: Problem) -> str:
    sign = "-?" if problem.expected else ""
    return f"{problem.value!r} does not match '^{sign}[0-9]+$'"


def _short(problem: Problem) -> str:
    return f"{problem.value!r} should be non-empty" if problem.expected == 1 else f"{problem.value!r} is too short"


def _unknown(problem: Problem) -> str:
    names, verb = ", ".join(map(repr, problem.expected)), "was" if len(problem.expected) == 1 else "were"
    return f"Additional properties are not allowed ({names} {verb} unexpected)"


JSON_SCHEMA: Sentences = {
    Reason.TYPE: _types,
    Reason.DIGITS: _digits,
    Reason.BOOLEAN: lambda problem: f"{problem.value!r} is not one of {NOVA_BOOLEANS}",
    Reason.SHORT: _short,
    Reason.LONG: lambda problem: f"{problem.value!r} is too long",
    Reason.PATTERN: lambda problem: f"{problem.value!r} does not match {f'^{problem.expected}$'!r}",
    Reason.MINIMUM: lambda problem: f"{problem.value!r} is less than the minimum of {problem.expected}",
    Reason.ABOVE: lambda problem: f"{problem.value!r} is less than or equal to the minimum of {problem.expected}",
    Reason.MAXIMUM: lambda problem: f"{problem.value!r} is greater than the maximum of {problem.expected}",
    Reason.CHOICE: lambda problem: f"{problem.value!r} is not one of {list(problem.expected)}",
    Reason.REPEATED: lambda problem: f"{problem.value!r} has non-unique elements",
    Reason.UNPRINTABLE: lambda problem: f"{problem.value!r} must have printable characters",
    Reason.FORMAT: lambda problem: f"{problem.value!r} is not a '{problem.expected}'",
    Reason.KEY: lambda problem: f"{problem.value!r} does not match any of the regexes: {f'^{problem.expected}$'!r}",
    Reason.NO_SCHEMA: lambda problem: f"{problem.value!r} is not valid under any of the given schemas",
    Reason.CONVERSION: lambda problem: str(problem.expected),
    Reason.MISSING: lambda problem: f"'{problem.expected}' is a required property",
    Reason.UNKNOWN: _unknown,
    Reason.SPECIFIC: lambda problem: str(problem.expected),
}
"""Those of `jsonschema`, with the formats and types of Nova and Cinder."""

_WSME_TYPES = {"array": "list"}
"""Names of types, where they are not those of JSON schemas."""
_WSME_FORMATS = {"uuid": "UUID", "ip": "IPv4 or IPv6", "cidr": "IPv4 or IPv6 CIDR"}
WSME: Sentences = {
    **JSON_SCHEMA,
    Reason.TYPE: lambda problem: f"Value should be {_WSME_TYPES.get(problem.expected[0], problem.expected[0])}",
    Reason.DIGITS: lambda problem: "Value should be integer",
    Reason.SHORT: lambda problem: f"Value should have a minimum character requirement of {problem.expected}",
    Reason.LONG: lambda problem: f"Value should have a maximum character requirement of {problem.expected}",
    Reason.PATTERN: lambda problem: f"Value should match the pattern {problem.expected}",
    Reason.MINIMUM: lambda problem: f"Value should be greater or equal to {problem.expected}",
    Reason.MAXIMUM: lambda problem: f"Value should be lower or equal to {problem.expected}",
    Reason.CHOICE: lambda problem: f"Value should be one of: {', '.join(map(str, problem.expected))}",
    Reason.REPEATED: lambda problem: "Value should have unique elements",
    Reason.FORMAT: lambda problem: f"Value should be {_WSME_FORMATS.get(problem.expected, problem.expected)} format",
    Reason.MISSING: lambda problem: "Mandatory field missing.",
}
"""Those of WSME, which Aodh, Magnum and Octavia use."""
_VOLUPTUOUS_TYPES = {
    "string": "str", "integer": "int", "number": "Real", "array": "a list", "object": "a dictionary",
}  # fmt: skip
VOLUPTUOUS: Sentences = {
    **JSON_SCHEMA,
    Reason.TYPE: lambda problem: f"expected {_VOLUPTUOUS_TYPES.get(problem.expected[0], problem.expected[0])}",
    Reason.BOOLEAN: lambda problem: "expected boolean",
    Reason.SHORT: lambda problem: f"length of value must be at least {problem.expected}",
    Reason.LONG: lambda problem: f"length of value must be at most {problem.expected}",
    Reason.PATTERN: lambda problem: "not a valid value",
    Reason.MINIMUM: lambda problem: f"value must be at least {problem.expected}",
    Reason.MAXIMUM: lambda problem: f"value must be at most {problem.expected}",
    Reason.CHOICE: lambda problem: "not a valid value",
    Reason.MISSING: lambda problem: "required key not provided",
    Reason.UNKNOWN: lambda problem: "extra keys not allowed",
}
"""Those of voluptuous, which Gnocchi uses."""
_NEUTRON_TYPES = {
    "string": "a valid string", "integer": "an integer", "array": "a list", "object": "a dictionary",
}  # fmt: skip
NEUTRON: Sentences = {
    **JSON_SCHEMA,
    Reason.TYPE: lambda problem: f"'{problem.value}' is not {_NEUTRON_TYPES[problem.expected[0]]}.",
    Reason.BOOLEAN: lambda problem: f"'{problem.value}' cannot be converted to boolean.",
    Reason.SHORT: lambda problem: f"'{problem.value}' is blank.",
    Reason.LONG: lambda problem: f"'{problem.value}' exceeds maximum length of {problem.expected}.",
    Reason.MINIMUM: lambda problem: f"'{problem.value}' is too small - must be at least '{problem.expected}'.",
    Reason.MAXIMUM: lambda problem: f"'{problem.value}' is too large - must be no larger than '{problem.expected}'.",
    Reason.CHOICE: lambda problem: f"{problem.value} is not in valid_values.",
    Reason.REPEATED: lambda problem: f"Duplicate items in the list: '{', '.join(map(str, problem.value))}'.",
    Reason.FORMAT: lambda problem: f"'{problem.value}' is not a valid {problem.expected}.",
    Reason.UNKNOWN: lambda problem: f"Unexpected keys: {', '.join(sorted(problem.expected))}.",
}
"""Those of neutron-lib."""


def sentence(problem: Problem, sentences: Sentences = JSON_SCHEMA) -> str:
    """Say what is wrong."""
    return sentences[problem.reason](problem)
