"""From method and path to a handler: a tree of path segments, literal ones before variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import decode

T = TypeVar("T")


class _Node(Generic[T]):
    def __init__(self) -> None:
        self.literal: dict[str, _Node[T]] = {}
        self.variable: _Node[T] | None = None
        self.rest: _Node[T] | None = None
        self.targets: dict[str, tuple[T, tuple[str, ...]]] = {}


NO_ROUTE = "The resource could not be found."
"""The message of the 404 for a path that the service does not have."""


class NoRoute(ApiError):
    """A request for a path that the service does not have."""

    names_versions = False

    def __init__(self) -> None:
        super().__init__(404, NO_ROUTE)


class Router(Generic[T]):
    """Patterns look like `/servers/{server_id}/action`; a last segment `{name:*}` takes the rest of the path,
    slashes included.

    exact: a slash at the end of a path counts: `/servers/` is another path than `/servers`, and no variable takes its
    empty last segment. Otherwise it is ignored, except in such a rest.
    wrong_method: the status for a path that is known with other methods only.
    """

    def __init__(self, exact: bool = False, wrong_method: int = 405) -> None:
        self._root: _Node[T] = _Node()
        self._exact = exact
        self._wrong_method = wrong_method

    def add(self, pattern: str, methods: Mapping[str, T]) -> None:
        """Register targets by method; ValueError when one is there already."""
        node, names = self._root, []
        for segment in self._split(pattern):
            if not segment.startswith("{"):
                node = node.literal.setdefault(segment, _Node())
                continue
            name = segment[1:-1]
            names.append(name.removesuffix(":*"))
            if name.endswith(":*"):
                node.rest = node = node.rest or _Node()
            else:
                node.variable = node = node.variable or _Node()
        for method, target in methods.items():
            if method in node.targets:
                raise ValueError(f"{method} {pattern} is routed twice")
            node.targets[method] = (target, tuple(names))

    def match(self, method: str, path: str) -> tuple[T, dict[str, str]]:
        """The target and the variables; 404 for an unknown path, 405 for a known one with other methods.

        HEAD falls back to GET.
        """
        parts = self._split(path)
        values: list[str] = []
        node = _find(self._root, parts, 0, values, path)
        if node is None:
            raise NoRoute
        found = node.targets.get(method) or (node.targets.get("GET") if method == "HEAD" else None)
        if found is None and self._wrong_method == 404:
            raise NoRoute
        if found is None:
            raise ApiError(
                405,
                f"The method {method} is not allowed for this resource.",
                headers={"Allow": ", ".join(node.targets)},
            )
        target, names = found
        return target, dict(zip(names, values, strict=True))

    def _split(self, path: str) -> list[str]:
        trimmed = path.removeprefix("/") if self._exact else path.strip("/")
        return trimmed.split("/") if trimmed else []


def _find(node: _Node[T], parts: list[str], depth: int, values: list[str], path: str) -> _Node[T] | None:
    if depth == len(parts):
        return node if node.targets else None
    if (child := node.literal.get(parts[depth])) is not None:
        found = _find(child, parts, depth + 1, values, path)
        if found is not None:
            return found
    if node.variable is not None and parts[depth]:
        values.append(decode(parts[depth]))
        found = _find(node.variable, parts, depth + 1, values, path)
        if found is not None:
            return found
        values.pop()
    if node.rest is not None:
        tail = path.lstrip("/").split("/", depth)[-1]
        values.append(decode(tail))
        return node.rest
    return None
