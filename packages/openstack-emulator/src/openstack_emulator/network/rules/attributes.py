"""Values of attributes: each check takes a value from JSON and gives it in its normal form.

They raise `Invalid`. What a problem becomes is said by `NEUTRON`, the dialect of the service.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from ipaddress import ip_address as parse_address
from ipaddress import ip_network as parse_network
from typing import TypeVar
from uuid import UUID

from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.validation import fields, sentences
from openstack_emulator.core.validation.converting import Converter, Invalid, optional, require
from openstack_emulator.core.validation.objects import Dialect, Step
from openstack_emulator.core.validation.problems import Problem, Reason, specific, wrong_type
from openstack_emulator.network.records.core import Route
from openstack_emulator.network.rules.errors import invalid, invalid_input
from openstack_emulator.network.rules.inputs import RequestedAddress, RequestedOption

P = TypeVar("P")
IpAddress = IPv4Address | IPv6Address
IpNetwork = IPv4Network | IPv6Network
LABEL = re.compile(r"[a-zA-Z0-9-]{1,63}")
MAC = re.compile(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}")
TRUE = frozenset({"true", "1", "yes", "on", "t", "y"})
FALSE = frozenset({"false", "0", "no", "off", "f", "n"})
UUID_LENGTHS = (32, 36)
UNCONVERTIBLE = frozenset({Reason.BOOLEAN, Reason.CONVERSION})
"""Why a value cannot be converted to the type of its attribute; Neutron does not say which attribute it was."""


def _refusal(name: str, value: object, problem: Problem, words: str) -> ApiError:
    return invalid_input(words) if problem.reason in UNCONVERTIBLE else invalid(name, words)


NEUTRON = Dialect((Step.VALUES,), _refusal, sentences.NEUTRON)
"""How Neutron refuses the value of an attribute."""


@lru_cache(maxsize=65536)
def address_of(value: str) -> IpAddress:
    """A parsed address; ValueError."""
    return parse_address(_without_scope(value))


@lru_cache(maxsize=16384)
def network_of(value: str) -> IpNetwork:
    """A parsed CIDR, host bits allowed; ValueError."""
    return parse_network(_without_scope(value), strict=False)


def _without_scope(value: str) -> str:
    """Refuse a scope (`fe80::1%eth0`): it names an interface of another machine, and can contain any characters."""
    if "%" in value:
        raise ValueError(f"'{value}' has a scope.")
    return value


def words_of(error: Invalid) -> str:
    """What Neutron says about an invalid value."""
    return sentences.sentence(error.problem, sentences.NEUTRON)


def unconvertible(value: object, sentence: str) -> Invalid:
    """A value that cannot be converted to the type of its attribute."""
    return Invalid(Problem(Reason.CONVERSION, value, sentence))


def anything(value: object) -> object:
    """Any value, as it is."""
    return value


def text(longest: int) -> Converter[str]:
    """Text of at most so many characters."""
    check = fields.text(maximum=longest)

    def convert(value: object) -> str:
        require(check, value)
        return str(value)

    return convert


NAME = text(255)


def filled(value: object) -> str:
    """A string that is not empty."""
    name = NAME(value)
    if not name.strip():
        raise Invalid(Problem(Reason.SHORT, value, 1))
    return name


def boolean(value: object) -> bool:
    """A boolean, or one of the words for it."""
    if isinstance(value, bool):
        return value
    word = str(value).lower()
    if word in TRUE:
        return True
    if word in FALSE:
        return False
    raise Invalid(Problem(Reason.BOOLEAN, value))


def integer(lowest: int, highest: int) -> Converter[int]:
    """An integer in a range, or a string of one."""
    in_range = fields.exact_integer(lowest, highest)

    def convert(value: object) -> int:
        number = _number(value)
        if number is None:
            raise Invalid(wrong_type(value, "integer"))
        if (problem := in_range(number)) is not None:
            raise Invalid(replace(problem, value=value))
        return number

    return convert


def _number(value: object) -> int | None:
    """The integer that a number or a string stands for; None for other values."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return int(value)
    except (OverflowError, ValueError):
        return None


def choice(*values: P) -> Converter[P]:
    """One of these."""

    def convert(value: object) -> P:
        for element in values:
            if value == element:
                return element
        raise Invalid(Problem(Reason.CHOICE, value, values))

    return convert


def one_of_numbers(*values: int) -> Converter[int]:
    """One of these integers, or a string of one."""
    one_of = choice(*values)

    def convert(value: object) -> int:
        if isinstance(value, str) and value.isdigit():
            value = int(value)
        if not isinstance(value, int):
            raise unconvertible(value, f"'{value}' is not an integer.")
        return one_of(value)

    return convert


def blank_or(convert: Converter[str]) -> Converter[str]:
    """The same, or the empty string."""
    return lambda value: "" if value == "" else convert(value)


def uuid(value: object) -> str:
    """A UUID, with dashes or without."""
    try:
        if isinstance(value, str) and len(value) in UUID_LENGTHS and UUID(value):
            return value
    except ValueError:
        pass
    raise Invalid(Problem(Reason.FORMAT, value, "UUID"))


def mac(value: object) -> str:
    """A unicast MAC address, in lower case with colons."""
    address = str(value).lower().replace("-", ":")
    if not MAC.fullmatch(address) or address == "00:00:00:00:00:00":
        raise Invalid(Problem(Reason.FORMAT, value, "MAC address"))
    return address


def ip(value: object) -> str:
    """An IP address of either version, in its shortest form."""
    try:
        return str(address_of(value if isinstance(value, str) else ""))
    except ValueError:
        raise Invalid(Problem(Reason.FORMAT, value, "IP address")) from None


def cidr(value: object) -> str:
    """An IP network, its host bits cleared; a prefix length is required."""
    try:
        if isinstance(value, str) and "/" in value:
            return str(network_of(value))
    except ValueError:
        pass
    raise Invalid(Problem(Reason.FORMAT, value, "IP subnet"))


def nameserver(value: object) -> str:
    """The address of a name server."""
    try:
        return ip(value)
    except Invalid as error:
        raise Invalid(specific(value, f"'{value}' is not a valid nameserver. {words_of(error)}")) from None


def converted_cidr(value: object) -> str:
    """As `cidr`, for attributes that are converted before they are checked."""
    try:
        return cidr(value)
    except Invalid:
        raise unconvertible(value, f"{value} is not in a CIDR format.") from None


def ip_or_cidr(value: object) -> str:
    """An address or a network, as given."""
    if not isinstance(value, str) or "/" not in value:
        return ip(value)
    cidr(value)
    return value


def dns_name(value: object) -> str:
    """A host name, alone or with its domain."""
    name = NAME(value)
    for label in name.rstrip(".").split(".") if name else ():
        reason = ""
        if label.startswith("-") or label.endswith("-"):
            reason = f"Name '{label}' must not start or end with a hyphen."
        elif not LABEL.fullmatch(label):
            reason = f"Name '{label}' must be 1-63 characters long, each of which can only be alphanumeric or a hyphen."
        if reason:
            raise Invalid(specific(value, f"'{value}' not a valid PQDN or FQDN. Reason: {reason}"))
    return name


def dhcp_option(convert: Converter[RequestedOption]) -> Converter[RequestedOption]:
    """An option of DHCP, whose value may be null, not empty."""

    def convert_option(value: object) -> RequestedOption:
        option = convert(value)
        if option.opt_value is not None and not option.opt_value.strip():
            raise unconvertible(value, f"No valid key specs matched for: {value}.")
        return option

    return convert_option


def items(convert: Converter[P], distinct: bool = False) -> Converter[list[P]]:
    """A list, each item converted; null stands for none. `distinct`: repeated items are an error."""

    def convert_items(value: object) -> list[P]:
        if value is None:
            return []
        if not isinstance(value, list):
            raise Invalid(wrong_type(value, "array"))
        result = [convert(item) for item in value]
        if distinct and any(item in result[:index] for index, item in enumerate(result)):
            raise Invalid(Problem(Reason.REPEATED, value))
        return result

    return convert_items


def form(
    required: Mapping[str, Converter[object]], others: Mapping[str, Converter[object]] | None = None
) -> Converter[dict[str, object]]:
    """A JSON object with these keys and no others."""
    known = {**required, **(others or {})}

    def convert(value: object) -> dict[str, object]:
        if not isinstance(value, dict):
            raise Invalid(
                specific(value, f"Invalid input. '{value}' must be a dictionary with keys: {sorted(required)}.")
            )
        if required.keys() - value.keys():
            expected, provided = (_set_of(keys) for keys in (required, value))
            words = f"Validation of dictionary's keys failed. Expected keys: {expected} Provided keys: {provided}."
            raise Invalid(specific(value, words))
        if unknown := value.keys() - known.keys():
            raise Invalid(Problem(Reason.UNKNOWN, value, tuple(unknown)))
        return {key: known[key](item) for key, item in value.items()}

    return convert


def _set_of(keys: Iterable[str]) -> str:
    return "{" + ", ".join(repr(key) for key in sorted(keys)) + "}"


def instance_of(kind: Callable[..., P], convert: Converter[dict[str, object]]) -> Converter[P]:
    """An object of a class, of the members of a JSON object."""
    return lambda value: kind(**convert(value))


def fixed_ips(value: object) -> list[RequestedAddress]:
    """Addresses asked for, as `{subnet_id, ip_address}` with either or both; none of them twice."""
    known = FIXED_KEYS.keys()
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict) and not item.keys() & known:
            raise unconvertible(value, "IP allocation requires subnet_id or ip_address.")
    requested = FIXED_IPS(value)
    addresses = [item.ip_address for item in requested if item.ip_address is not None]
    for address in addresses:
        if addresses.count(address) > 1:
            raise Invalid(specific(value, f"Duplicate IP address '{address}'."))
    return requested


def dictionary(value: object) -> dict[str, object]:
    """Any JSON object; null stands for an empty one."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Invalid(wrong_type(value, "object"))
    return value


VERSION = one_of_numbers(4, 6)
PORT_NUMBER = integer(1, 65535)
NULLABLE_TEXT = optional(NAME)
NULLABLE_UUID = optional(uuid)
FIXED_KEYS: Mapping[str, Converter[object]] = {"subnet_id": uuid, "ip_address": ip}
FIXED_IPS = items(instance_of(RequestedAddress, form({}, FIXED_KEYS)))
ROUTES = items(instance_of(Route, form({"destination": cidr, "nexthop": ip})), distinct=True)
TAGS = items(NAME, distinct=True)
