"""The scripts, the style sheet and the icon of the console."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

import falcon

from stoker.console.settings import PREFIX

_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
_FOR_A_YEAR = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class _File:
    content: bytes
    content_type: str
    version: str


def _read() -> Mapping[str, _File]:
    static_files = {}
    for entry in sorted(resources.files("stoker.console").joinpath("static").iterdir(), key=lambda entry: entry.name):
        _, dot, suffix = entry.name.rpartition(".")
        if content_type := _TYPES.get(dot + suffix):
            content = entry.read_bytes()
            static_files[entry.name] = _File(content, content_type, hashlib.sha256(content).hexdigest()[:12])
    return static_files


class StaticFiles:
    """A falcon resource; URLs contain a digest of the content, so that browsers may keep the files."""

    def __init__(self) -> None:
        self._files = _read()

    def url(self, name: str) -> str:
        """Return the URL of a file."""
        return f"{PREFIX}/static/{name}?v={self._files[name].version}"

    def on_get(self, request: falcon.Request, response: falcon.Response, name: str) -> None:
        """Send a file."""
        file = self._files.get(name)
        if file is None:
            raise falcon.HTTPNotFound(description=f"There is no file {name}.")
        if request.get_param("v") == file.version:
            response.set_header("Cache-Control", _FOR_A_YEAR)
        response.content_type = file.content_type
        response.data = file.content
