"""Collects a template with everything it refers to: nested templates, environments, files.

The service sees only what is sent. References to files are rewritten to absolute URLs, which are also the keys of
`files`, as OpenStack's other client does; so both can be used on one stack. A reference is replaced where it stands
and nothing else in the text is touched, so that places which the service complains about are those of the user's file.
"""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urljoin, urlsplit
from urllib.request import url2pathname

import yaml

from stoker.cli.errors import CommandFailed

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FETCH_SECONDS = 60.0
_TEMPLATE_SUFFIXES = (".yaml", ".template")
_TEMPLATE_KEYS = frozenset({"heat_template_version", "HeatTemplateFormatVersion", "AWSTemplateFormatVersion"})
_SCALAR_STYLES = (None, "", "'", '"')


@dataclass(slots=True)
class Sources:
    """What is sent: the template's text, the URLs of environments in their order, the texts by URL."""

    template_url: str
    template: str = ""
    environments: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)

    def named(self) -> dict[str, tuple[str, str]]:
        """URL and text of each document by the name that the service has for it; the template may have none."""
        names = {url: url for url in self.files} | {
            f"environment {number}": url for number, url in enumerate(self.environments, 1)
        }
        found = {name: (url, self.files[url]) for name, url in names.items()}
        return found | dict.fromkeys(("", "template"), (self.template_url, self.template))


def collect(template: str, environments: Sequence[str] = ()) -> Sources:
    """Read a template and environments, each a path or a URL, and all that they refer to.

    Raises CommandFailed, naming the place of the reference, for something that cannot be read.
    """
    here = f"{Path.cwd().as_uri()}/"
    sources = Sources(url_of(template, here))
    sources.template = _rewritten(_text(sources.template_url), sources.template_url, sources)
    for environment in environments:
        url = url_of(environment, here)
        text = _text(url)
        sources.files[url] = _replaced(text, _registry_references(text, url), url, sources)
        sources.environments.append(url)
    return sources


def url_of(location: str, base: str) -> str:
    """The absolute URL of a path or URL that stands in the document at `base`.

    Raises CommandFailed when a document from the network would have a file of this machine read and sent.
    """
    scheme = urlsplit(location).scheme
    if scheme == "file" and urlsplit(base).scheme != "file":
        raise CommandFailed(f"{base} refers to {location}; what comes from the network may not read local files.")
    if scheme in ("http", "https", "file"):
        return location
    if urlsplit(base).scheme == "file":
        folder = Path(path_of(base)) if base.endswith("/") else Path(path_of(base)).parent
        return Path(_normal(folder / Path(location).expanduser())).as_uri()
    return urljoin(base, location)


def path_of(url: str) -> str:
    """The path of a file's URL."""
    return url2pathname(urlsplit(url).path)


def short(url: str) -> str:
    """A URL as the user would write it: files of the working directory by their relative path."""
    if urlsplit(url).scheme != "file":
        return url
    path = Path(path_of(url))
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _normal(path: Path) -> Path:
    """An absolute path without `..`, symbolic links left alone: two ways to one link stay one reference."""
    parts: list[str] = []
    for part in path.absolute().parts:
        if part == "..":
            parts[1:] = parts[1:-1]
        else:
            parts.append(part)
    return Path(*parts)


@dataclass(frozen=True, slots=True)
class _Reference:
    """A scalar in a text that names a file: where it stands, what it says, the URL it means."""

    node: yaml.ScalarNode
    url: str
    is_template: bool


def _rewritten(text: str, url: str, sources: Sources) -> str:
    """A template with its references made absolute; what they lead to is in `sources.files` afterwards."""
    return _replaced(text, _template_references(_composed(text), url), url, sources)


def _replaced(text: str, references: Iterator[_Reference], url: str, sources: Sources) -> str:
    changes: dict[int, tuple[int, str]] = {}
    for reference in references:
        _add(reference, url, sources)
        start, end = reference.node.start_mark.index, reference.node.end_mark.index
        changes[start] = (end, json.dumps(reference.url))
    for start in sorted(changes, reverse=True):
        end, replacement = changes[start]
        text = text[:start] + replacement + text[end:]
    return text


def _add(reference: _Reference, document: str, sources: Sources) -> None:
    """Read what a reference leads to, once."""
    if reference.url in sources.files:
        return
    try:
        content = _content(reference.url)
    except CommandFailed as error:
        mark = reference.node.start_mark
        place = f"{short(document)}:{mark.line + 1}:{mark.column + 1}"
        raise CommandFailed(f"{place}: {error.message}") from error
    if not reference.is_template and not _looks_like_template(content):
        sources.files[reference.url] = content
        return
    sources.files[reference.url] = content  # stands already when the template refers to itself
    sources.files[reference.url] = _rewritten(content, reference.url, sources)


def _composed(text: str) -> yaml.Node | None:
    """The text's nodes with their places; None for what is no YAML, which the service will explain."""
    try:
        return yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError:
        return None


def _pairs(node: yaml.Node | None) -> Iterator[tuple[str, yaml.Node]]:
    """All keys with their values, at any depth; what an alias repeats comes once."""
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
    """References to templates in an environment's registry; its key `base_url` says what they are relative to."""
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


def _text(url: str) -> str:
    """The text at a URL. Raises CommandFailed when there is none."""
    try:
        return _bytes(url).decode("utf-8")
    except UnicodeDecodeError as error:
        raise CommandFailed(f"{short(url)} is not UTF-8: byte {error.start} is invalid.") from None


def _content(url: str) -> str:
    """A file's text; of one that is not text the base64 form, as the template language has it."""
    raw = _bytes(url)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return base64.b64encode(raw).decode("ascii")


def _bytes(url: str) -> bytes:
    try:
        if urlsplit(url).scheme == "file":
            return Path(path_of(url)).read_bytes()
        with urllib.request.urlopen(url, timeout=_FETCH_SECONDS) as response:  # noqa: S310  http and https only
            content: bytes = response.read()
            return content
    except urllib.error.HTTPError as error:
        raise CommandFailed(f"{url} cannot be fetched: {error.code} {error.reason}.") from None
    except OSError as error:
        raise CommandFailed(f"{short(url)} cannot be read: {error.strerror or error}.") from None
