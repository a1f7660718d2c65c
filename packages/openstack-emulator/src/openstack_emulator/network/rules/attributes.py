"""Values of attributes: each check takes a value from JSON and gives it in its normal form, or raises ValueError."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from ipaddress import ip_address as parse_address
from ipaddress import ip_network as parse_network
from typing import Any, TypeVar
from uuid import UUID

from openstack_emulator.network.records.core import Route
from openstack_emulator.network.rules.wanted import AddressWish

P = TypeVar("P")
Check = Callable[[Any], Any]


class NotConvertible(ValueError):
    """A value cannot be converted to the type of its attribute; Neutron does not say which attribute it was."""


IpAddress = IPv4Address | IPv6Address
IpNetwork = IPv4Network | IPv6Network
LABEL = re.compile(r"[a-zA-Z0-9-]{1,63}")
MAC = re.compile(r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}")
TRUE = frozenset({"true", "1", "yes", "on", "t", "y"})
FALSE = frozenset({"false", "0", "no", "off", "f", "n"})
UUID_LENGTHS = (32, 36)


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


def anything(value: object) -> object:
    return value


def text(longest: int) -> Check:
    """Text of at most so many characters."""

    def check(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError(f"'{value}' is not a valid string.")
        if len(value) > longest:
            raise ValueError(f"'{value}' exceeds maximum length of {longest}.")
        return value

    return check


NAME = text(255)


def filled(value: object) -> str:
    """A string that is not empty."""
    if not str(NAME(value)).strip():
        raise ValueError(f"'{value}' is blank.")
    return str(value)


def boolean(value: Any) -> bool:
    """A boolean, or one of the words for it."""
    if isinstance(value, bool):
        return value
    word = str(value).lower()
    if word in TRUE:
        return True
    if word in FALSE:
        return False
    raise NotConvertible(f"'{value}' cannot be converted to boolean.")


def integer(lowest: int, highest: int) -> Check:
    """An integer in a range, or a string of one."""

    def check(value: Any) -> int:
        try:
            number = None if isinstance(value, bool) else int(value)
        except (TypeError, ValueError):
            number = None
        if number is None:
            raise ValueError(f"'{value}' is not an integer.")
        if number < lowest:
            raise ValueError(f"'{value}' is too small - must be at least '{lowest}'.")
        if number > highest:
            raise ValueError(f"'{value}' is too large - must be no larger than '{highest}'.")
        return number

    return check


def choice(*values: object) -> Check:
    """One of these."""

    def check(value: Any) -> Any:
        if value not in values:
            raise ValueError(f"{value} is not in valid_values.")
        return value

    return check


def one_of_numbers(*values: int) -> Check:
    """One of these integers, or a string of one."""

    def check(value: Any) -> int:
        if isinstance(value, str) and value.isdigit():
            value = int(value)
        if not isinstance(value, int):
            raise NotConvertible(f"'{value}' is not an integer.")
        return int(choice(*values)(value))

    return check


def optional(check: Check) -> Check:
    """The same, or null."""
    return lambda value: None if value is None else check(value)


def blank_or(check: Check) -> Check:
    """The same, or the empty string."""
    return lambda value: value if value == "" else check(value)


def uuid(value: Any) -> str:
    """A UUID, with dashes or without."""
    try:
        if isinstance(value, str) and len(value) in UUID_LENGTHS and UUID(value):
            return value
    except ValueError:
        pass
    raise ValueError(f"'{value}' is not a valid UUID.")


def mac(value: object) -> str:
    """A unicast MAC address, in lower case with colons."""
    given = str(value).lower().replace("-", ":")
    if not MAC.fullmatch(given) or given == "00:00:00:00:00:00":
        raise ValueError(f"'{value}' is not a valid MAC address.")
    return given


def ip(value: Any) -> str:
    """An IP address of either version, in its shortest form."""
    try:
        return str(address_of(value if isinstance(value, str) else ""))
    except ValueError:
        raise ValueError(f"'{value}' is not a valid IP address.") from None


def cidr(value: Any) -> str:
    """An IP network, its host bits cleared; a prefix length is required. Raises ValueError."""
    try:
        if isinstance(value, str) and "/" in value:
            return str(network_of(value))
    except ValueError:
        pass
    raise ValueError(f"'{value}' is not a valid IP subnet.")


def nameserver(value: object) -> str:
    """The address of a name server."""
    try:
        return ip(value)
    except ValueError as error:
        raise ValueError(f"'{value}' is not a valid nameserver. {error}") from None


def converted_cidr(value: object) -> str:
    """As `cidr`, for attributes that are converted before they are checked."""
    try:
        return cidr(value)
    except ValueError:
        raise NotConvertible(f"{value} is not in a CIDR format.") from None


def ip_or_cidr(value: object) -> str:
    """An address or a network, as given."""
    if not isinstance(value, str) or "/" not in value:
        return str(ip(value))
    cidr(value)
    return value


def dns_name(value: object) -> str:
    """A host name, alone or with its domain."""
    name = str(text(255)(value))
    for label in name.rstrip(".").split(".") if name else ():
        reason = ""
        if label.startswith("-") or label.endswith("-"):
            reason = f"Name '{label}' must not start or end with a hyphen."
        elif not LABEL.fullmatch(label):
            reason = f"Name '{label}' must be 1-63 characters long, each of which can only be alphanumeric or a hyphen."
        if reason:
            raise ValueError(f"'{value}' not a valid PQDN or FQDN. Reason: {reason}")
    return name


def dhcp_option(check: Check) -> Check:
    """An option of DHCP, whose value may be null, not empty."""

    def checked(value: object) -> Any:
        option = check(value)
        if option["opt_value"] is not None and not option["opt_value"].strip():
            raise NotConvertible(f"No valid key specs matched for: {value}.")
        return option

    return checked


def items(check: Check, distinct: bool = False) -> Check:
    """A list, each item checked; null stands for none. `distinct`: repeated items are an error."""

    def checked(value: Any) -> list[Any]:
        if value is None:
            return []
        if not isinstance(value, list):
            raise ValueError(f"'{value}' is not a list.")
        result = [check(item) for item in value]
        if distinct and any(item in result[:at] for at, item in enumerate(result)):
            raise ValueError(f"Duplicate items in the list: '{', '.join(map(str, value))}'.")
        return result

    return checked


def form(required: Mapping[str, Check], others: Mapping[str, Check] | None = None) -> Check:
    """A JSON object with these keys and no others."""
    known = {**required, **(others or {})}

    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ValueError(f"Invalid input. '{value}' must be a dictionary with keys: {sorted(required)}.")
        if required.keys() - value.keys():
            expected, provided = (_set_of(keys) for keys in (required, value))
            raise ValueError(
                f"Validation of dictionary's keys failed. Expected keys: {expected} Provided keys: {provided}."
            )
        if unknown := value.keys() - known.keys():
            raise ValueError(f"Unexpected keys: {', '.join(sorted(unknown))}.")
        return {key: known[key](item) for key, item in value.items()}

    return check


def _set_of(keys: Iterable[str]) -> str:
    return "{" + ", ".join(repr(key) for key in sorted(keys)) + "}"


def made(kind: Callable[..., P], check: Check) -> Callable[[Any], P]:
    """An object of a class, of the members of a JSON object."""
    return lambda value: kind(**check(value))


def fixed_ips(value: object) -> list[AddressWish]:
    """Addresses asked for, as `{subnet_id, ip_address}` with either or both; none of them twice."""
    known = FIXED_KEYS.keys()
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict) and not item.keys() & known:
            raise NotConvertible("IP allocation requires subnet_id or ip_address.")
    asked: list[AddressWish] = FIXED_IPS(value)
    addresses = [item.ip_address for item in asked if item.ip_address is not None]
    for address in addresses:
        if addresses.count(address) > 1:
            raise ValueError(f"Duplicate IP address '{address}'.")
    return asked


def dictionary(value: object) -> dict[str, object]:
    """Any JSON object; null stands for an empty one."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"'{value}' is not a dictionary.")
    return value


def port_number(value: object) -> int:
    return int(integer(1, 65535)(value))


VERSION = one_of_numbers(4, 6)
NULLABLE_TEXT = optional(NAME)
NULLABLE_UUID = optional(uuid)
FIXED_KEYS: Mapping[str, Check] = {"subnet_id": uuid, "ip_address": ip}
FIXED_IPS = items(made(AddressWish, form({}, FIXED_KEYS)))
ROUTES = items(made(Route, form({"destination": cidr, "nexthop": ip})), distinct=True)
TAGS = items(text(255), distinct=True)
