"""Collect a template with everything it refers to: nested templates, environments, files.

The service only has the files that are sent. References to files are rewritten to absolute URLs, which are also the
keys of `files`, as in OpenStack's other client; so both can be used on one stack. References are replaced in place and
nothing else in the document is changed; `Sources.as_written` returns the locations of the service's diagnostics in the
user's file.
"""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import yaml

from stoker.base.diagnostics import Diagnostic, Position
from stoker.base.named_files import LARGEST, read_named
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.places import path_of, short, url_of

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FETCH_SECONDS = 60.0
_TEMPLATE_SUFFIXES = (".yaml", ".template")
_TEMPLATE_KEYS = frozenset({"heat_template_version", "HeatTemplateFormatVersion", "AWSTemplateFormatVersion"})
_SCALAR_STYLES = (None, "", "'", '"')


@dataclass(frozen=True, slots=True)
class _Edit:
    """A replaced reference, in the order of the document: its offsets as it was written, and its new length."""

    start: int
    end: int
    length: int


@dataclass(slots=True)
class Sources:
    """What is sent: the template, the URLs of environments in their order, the content of files by URL.

    `written` has the documents in which references were replaced, by URL, as the user wrote them. With `as_of`, none of
    it: the service has the definition that the stack had as of the operation with this ID. Nothing outside the
    directory `within` is read, if there is one.
    """

    template_url: str
    template: str = ""
    environments: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    edits: dict[str, list[_Edit]] = field(default_factory=dict)
    as_of: str | None = None
    within: Path | None = None

    def definition(self) -> dict[str, Any]:
        """Return the part of a request that defines the stack, besides parameters."""
        if self.as_of is not None:
            return {"as_of": self.as_of}
        return {"template": self.template, "files": self.files, "environment_files": self.environments}

    def as_written(self, diagnostic: Diagnostic) -> Diagnostic:
        """Return a diagnostic of the service with the place and the names that the user's files have."""
        url = self.named().get(diagnostic.source, ("", ""))[0]
        message, hint = diagnostic.message, diagnostic.hint
        for name in (self.template_url, *self.files):
            if name in message or name in hint:
                message = message.replace(name, short(name))
                hint = hint.replace(name, short(name))
        changed = (
            replace(diagnostic, message=message, hint=hint)
            if (message, hint) != (diagnostic.message, diagnostic.hint)
            else diagnostic
        )
        if diagnostic.position is None or url not in self.edits:
            return changed
        sent = self.template if url == self.template_url else self.files[url]
        return replace(changed, position=self._position(url, sent, diagnostic.position))

    def _position(self, url: str, sent: str, place: Position) -> Position:
        """Return the place in the user's document of a place in the one that was sent."""
        lines = sent.split("\n")
        offset = sum(len(line) + 1 for line in lines[: place.line - 1]) + place.column - 1
        moved = 0
        for edit in self.edits[url]:
            if offset < edit.start + moved:
                break
            if offset < edit.start + moved + edit.length:
                moved = offset - edit.start
                break
            moved += edit.length - (edit.end - edit.start)
        before = self.written[url][: offset - moved]
        return Position(before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)

    def named(self) -> dict[str, tuple[str, str]]:
        """URL and content of each document by the name that the service uses for it; the template may have none."""
        names = {url: url for url in self.files} | {
            f"environment {number}": url for number, url in enumerate(self.environments, 1)
        }
        documents = {name: (url, self.text(url)) for name, url in names.items()}
        return documents | dict.fromkeys(("", "template"), (self.template_url, self.text(self.template_url)))

    def text(self, url: str) -> str:
        """Return a document as the user wrote it."""
        return self.written.get(url) or (self.template if url == self.template_url else self.files[url])


def collect(
    template: str,
    environments: Sequence[str] = (),
    instead: Mapping[str, str] = MappingProxyType({}),
    within: Path | None = None,
) -> Sources:
    """Read a template and environments, each a path or a URL, and all that they refer to.

    `instead` has the content of environments, by URL, that takes the place of what is read. With the directory
    `within`, paths are relative to it, and nothing outside of it is read.

    Raises CommandFailed, with the location of the reference, for a file that cannot be read.
    """
    here = f"{(within or Path.cwd()).as_uri()}/"
    sources = Sources(url_of(template, here), within=within)
    sources.template = _rewritten(_text(sources.template_url, within), sources.template_url, sources)
    for environment in environments:
        url = url_of(environment, here)
        text = instead[url] if url in instead else _text(url, within)
        sources.files[url] = _replaced(text, _registry_references(text, url), url, sources)
        sources.environments.append(url)
    return sources


def former(operation_id: str) -> Sources:
    """Return the definition that a stack had as of one of its operations."""
    return Sources(f"operation {operation_id}", as_of=operation_id)


@dataclass(frozen=True, slots=True)
class _Reference:
    """A scalar in a document that names a file: its node, and the URL that it refers to."""

    node: yaml.ScalarNode
    url: str
    is_template: bool


def _rewritten(text: str, url: str, sources: Sources) -> str:
    """Return a template with absolute references, and add the files that they refer to to `sources.files`."""
    return _replaced(text, _template_references(_composed(text), url), url, sources)


def _replaced(text: str, references: Iterator[_Reference], url: str, sources: Sources) -> str:
    changes: dict[int, tuple[int, str]] = {}
    for reference in references:
        _add(reference, url, sources)
        start, end = reference.node.start_mark.index, reference.node.end_mark.index
        changes[start] = (end, json.dumps(reference.url))
    if changes:
        sources.written[url] = text
        sources.edits[url] = [_Edit(start, end, len(new)) for start, (end, new) in sorted(changes.items())]
    for start in sorted(changes, reverse=True):
        end, replacement = changes[start]
        text = text[:start] + replacement + text[end:]
    return text


def _add(reference: _Reference, document: str, sources: Sources) -> None:
    """Read the file of a reference, once."""
    if reference.url in sources.files:
        return
    try:
        content = _content(reference.url, sources.within)
    except CommandFailed as error:
        mark = reference.node.start_mark
        place = f"{short(document)}:{mark.line + 1}:{mark.column + 1}"
        raise CommandFailed(f"{place}: {error.message}") from error
    if not reference.is_template and not _looks_like_template(content):
        sources.files[reference.url] = content
        return
    sources.files[reference.url] = content  # must exist before the template is searched, in case it refers to itself
    sources.files[reference.url] = _rewritten(content, reference.url, sources)


def _composed(text: str) -> yaml.Node | None:
    """Return the document's nodes with their locations; None for invalid YAML, which the service reports."""
    try:
        return yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError:
        return None


def _pairs(node: yaml.Node | None) -> Iterator[tuple[str, yaml.Node]]:
    """Yield all keys with their values, at any depth; nodes with several aliases are yielded once."""
    stack, seen = [node], set()
    while stack:
        current = stack.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        if isinstance(current, yaml.MappingNode):
            for key, value in current.value:
                stack.append(value)
                yield key.value, value
        elif isinstance(current, yaml.SequenceNode):
            stack.extend(current.value)


def _template_references(root: yaml.Node | None, base: str) -> Iterator[_Reference]:
    for key, value in _pairs(root):
        if not isinstance(value, yaml.ScalarNode) or value.style not in _SCALAR_STYLES or not value.value:
            continue
        if key == "get_file":
            yield _Reference(value, url_of(value.value, base), is_template=False)
        elif key == "type" and value.value.endswith(_TEMPLATE_SUFFIXES):
            yield _Reference(value, url_of(value.value, base), is_template=True)


def _registry_references(text: str, base: str) -> Iterator[_Reference]:
    """Yield references to templates in an environment's registry; they are relative to its key `base_url`."""
    root = _composed(text)
    entries = root.value if isinstance(root, yaml.MappingNode) else []
    for key, registry in entries:
        if key.value != "resource_registry" or not isinstance(registry, yaml.MappingNode):
            continue
        named = [value.value for name, value in registry.value if name.value == "base_url" and value.value]
        folder = url_of(f"{named[0].rstrip('/')}/", base) if named else base
        yield from _mapped(registry, f"{folder.rstrip('/')}/" if named else base)


def _mapped(registry: yaml.MappingNode, base: str) -> Iterator[_Reference]:
    for key, value in _pairs(registry):
        if key == "base_url" or not isinstance(value, yaml.ScalarNode) or value.style not in _SCALAR_STYLES:
            continue
        if value.value.endswith(_TEMPLATE_SUFFIXES):
            yield _Reference(value, url_of(value.value, base), is_template=True)


def _looks_like_template(content: str) -> bool:
    if not any(key in content for key in _TEMPLATE_KEYS):
        return False
    root = _composed(content)
    return isinstance(root, yaml.MappingNode) and any(key.value in _TEMPLATE_KEYS for key, _ in root.value)


def _text(url: str, within: Path | None) -> str:
    """Return the content of a URL as a string. Raises CommandFailed if it cannot be read."""
    read = read_named if within is not None else lambda path, _: Path(path).read_bytes()
    try:
        return _bytes(url, read, within).decode("utf-8")
    except UnicodeDecodeError as error:
        raise CommandFailed(f"{short(url)} is not UTF-8: byte {error.start} is invalid.") from None


def _content(url: str, within: Path | None) -> str:
    """Return the content of a file that a document names as a string, in base64 if it is not UTF-8."""
    raw = _bytes(url, read_named, within)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return base64.b64encode(raw).decode("ascii")


def _bytes(url: str, read: Callable[[str, Path | None], bytes], within: Path | None) -> bytes:
    try:
        if urlsplit(url).scheme == "file":
            return read(path_of(url), within)
        if within is not None:
            raise CommandFailed(f"{url} is not fetched: it is outside the directory {within}.")
        with urllib.request.urlopen(url, timeout=_FETCH_SECONDS) as response:  # noqa: S310  http and https only
            content: bytes = response.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise CommandFailed(f"{url} is larger than {LARGEST // 1024 // 1024} MiB.")
        return content
    except urllib.error.HTTPError as error:
        raise CommandFailed(f"{url} cannot be fetched: {error.code} {error.reason}.") from None
    except (OSError, ValueError) as error:
        raise CommandFailed(f"{short(url)} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
