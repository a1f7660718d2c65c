"""Packages for tests."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

MANIFEST = """
Format: MuranoPL/1.4
FullName: {name}
Type: Application
Name: Shop
Description: Sells things.
Author: Example
Tags: [web]
Classes: {{{name}: Shop.yaml}}
"""


def archive(name: str = "com.example.Shop", files: Mapping[str, str | bytes] | None = None) -> bytes:
    """Return a package that defines one class, which has the name of the package."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as target:
        for path, content in {
            "manifest.yaml": MANIFEST.format(name=name),
            "Classes/Shop.yaml": "",
            **(files or {}),
        }.items():
            target.writestr(path, content)
    return made.getvalue()


def form(data: bytes, **fields: Any) -> tuple[bytes, dict[str, str]]:
    """Return the body and the headers of a request that uploads a package."""
    head = '--b\r\nContent-Disposition: form-data; name="JsonString"\r\nContent-Type: application/json\r\n\r\n'
    file = '\r\n--b\r\nContent-Disposition: file; name="file"; filename="p.zip"\r\nContent-Type: targz\r\n\r\n'
    body = head.encode() + json.dumps(fields).encode() + file.encode() + data + b"\r\n--b--\r\n"
    return body, {"Content-Type": "multipart/form-data; boundary=b"}
