"""Functions of Terraform's language, by their names. Files are not read: what is in them is made up."""

from __future__ import annotations

import base64
import ipaddress
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGEga2V5IGZvciBjb25mb3JtYW5jZSBwcm9ncmFtcyEh conformance"
"""What stands for the content of a file with a public key."""


def _file(name: Any, *_: Any) -> str:
    return KEY if str(name).endswith(".pub") else f"the content of {str(name).rpartition('/')[2]}\n"


def _flatten(items: Iterable[Any]) -> list[Any]:
    return [one for each in items for one in (_flatten(each) if isinstance(each, list) else [each])]


def _merge(*maps: Any) -> dict[Any, Any]:
    return {key: value for each in maps if each for key, value in each.items()}


def _lookup(found: Mapping[str, Any], key: Any, default: Any = None) -> Any:
    return found.get(str(key), default)


def _network(prefix: str, bits: Any, number: Any) -> str:
    outer = ipaddress.ip_network(prefix)
    size = outer.max_prefixlen - outer.prefixlen - int(bits)
    start = int(outer.network_address) + (int(number) << size)
    return f"{ipaddress.ip_address(start)}/{outer.prefixlen + int(bits)}"


def _host(prefix: str, number: Any) -> str:
    return str(ipaddress.ip_network(prefix)[int(number)])


def _format(text: str, *values: Any) -> str:
    return text.replace("%v", "%s") % tuple(
        int(each) if isinstance(each, str) and each.isdigit() and "d" in text else each for each in values
    )


def _contains(items: Iterable[Any], value: Any) -> bool:
    return value in list(items)


def _range(*limits: Any) -> list[int]:
    return list(range(*map(int, limits)))


def _set_of(items: Iterable[Any]) -> list[Any]:
    return sorted(dict.fromkeys(items))


def _distinct(items: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(items))


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": abs,
    "base64encode": lambda text: base64.b64encode(str(text).encode()).decode(),
    "chomp": lambda text: str(text).rstrip("\n"),
    "cidrhost": _host,
    "cidrsubnet": _network,
    "coalesce": lambda *values: next((each for each in values if each not in (None, "")), None),
    "compact": lambda items: [each for each in items if each],
    "concat": lambda *lists: [one for each in lists for one in each],
    "contains": _contains,
    "distinct": _distinct,
    "element": lambda items, index: items[int(index) % len(items)],
    "file": _file,
    "filebase64": _file,
    "flatten": _flatten,
    "format": _format,
    "formatlist": lambda text, items: [_format(text, each) for each in items],
    "index": lambda items, value: list(items).index(value),
    "join": lambda separator, items: str(separator).join(map(str, items)),
    "jsonencode": json.dumps,
    "keys": sorted,
    "length": len,
    "list": lambda *items: list(items),
    "lookup": _lookup,
    "lower": lambda text: str(text).lower(),
    "map": lambda *items: dict(zip(items[::2], items[1::2], strict=True)),
    "max": max,
    "md5": lambda text: f"md5-of-{len(text)}",
    "merge": _merge,
    "min": min,
    "one": lambda items: items[0] if items else None,
    "pathexpand": lambda text: text,
    "range": _range,
    "replace": lambda text, old, new: str(text).replace(old, new),
    "reverse": lambda items: list(reversed(items)),
    "setproduct": lambda first, second: [[a, b] for a in first for b in second],
    "slice": lambda items, start, end: items[int(start) : int(end)],
    "sort": sorted,
    "split": lambda separator, text: str(text).split(separator),
    "substr": lambda text, start, length: text[int(start) :][: None if int(length) < 0 else int(length)],
    "templatefile": _file,
    "title": lambda text: str(text).title(),
    "tobool": lambda value: value in (True, "true"),
    "tolist": list,
    "tomap": dict,
    "tonumber": int,
    "toset": _set_of,
    "tostring": str,
    "trimspace": lambda text: str(text).strip(),
    "trimsuffix": lambda text, end: str(text).removesuffix(end),
    "upper": lambda text: str(text).upper(),
    "values": lambda found: [found[key] for key in sorted(found)],
    "yamlencode": json.dumps,
    "zipmap": lambda keys, values: dict(zip(keys, values, strict=True)),
}
