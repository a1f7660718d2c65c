"""Read templates and their files from the local disk.

A source is identified by its path as the user would write it: relative to the working directory if it is below it.
Diagnostics show the same names.
"""

from __future__ import annotations

import base64
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import RequestLimitExceeded, TemplateInvalid
from stoker.base.named_files import read_named
from stoker.template.document import VERSION_KEYS, Document
from stoker.template.environment import SECTIONS
from stoker.template.expressions import FunctionError
from stoker.template.limits import Limits
from stoker.template.packaged import packaged_templates
from stoker.template.template import Template

MISSING_FILE = "missing-file"
"""The rule of diagnostics about files that cannot be read."""

STDIN = "-"
"""Names the standard input in the place of a file."""

SUFFIXES = frozenset({".yaml", ".yml", ".json", ".template"})
_RENDERED = frozenset({".erb", ".hot", ".j2", ".jinja", ".jinja2", ".tmpl", ".tpl"})
"""Suffixes of files from which templates are often generated, or that are not checked in directories."""
_KEY = rf"""["']?(?:{"|".join(VERSION_KEYS)})["']?\s*:"""
_ANYWHERE = re.compile(_KEY)
_AT_FIRST = re.compile(rf"(?m)^{_KEY}|\A\s*\{{\s*{_KEY}")
_GENERATOR = re.compile(r"(?m)^\s*(?:-\s+)?(?:\{\{|\{%)")
_NO_LIMITS = Limits(max_template_size=2**31)
_REMOTE = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def is_remote(name: str) -> bool:
    """Return whether a name is a URL rather than a path."""
    return _REMOTE.match(name) is not None


def read(path: str, within: Path | None = None) -> str:
    """Return the content of a regular file, or of the standard input for `-`; with `within`, of files in it only.

    Raises OSError or UnicodeDecodeError.
    """
    if path == STDIN and within is None:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    return read_named(path, within).decode("utf-8-sig")


def reader_for(paths: Iterable[str]) -> Callable[[str], str]:
    """Return a function like `read` for which the files that the user names need not be regular (`<(command)`)."""
    named = {str(Path(path)) for path in paths if path != STDIN}

    def read_file(path: str) -> str:
        chosen = path in named and not Path(path).is_file()
        return Path(path).read_text("utf-8-sig") if chosen else read(path)

    return read_file


def looks_like_template(text: str) -> bool:
    """Return whether the top-level mapping of a document has the key for the template version.

    A request or the values of a chart may contain that key at a deeper level. An invalid document counts as a template
    if it seems to have the key at the top level, so that its errors are reported, unless it is the source of a template
    generator (Helm, Jinja), which has instructions between the lines of YAML.
    """
    if _ANYWHERE.search(text) is None:
        return False
    try:
        return any(key in VERSION_KEYS for key in Document.parse(text, limits=_NO_LIMITS).data)
    except (TemplateInvalid, RequestLimitExceeded):
        return _AT_FIRST.search(text) is not None and _GENERATOR.search(text) is None


@dataclass(frozen=True, slots=True)
class Found:
    """The templates that were asked for, and the other files that may be templates, with the reasons why they are not
    checked. `empty` are the directories without templates.
    """

    templates: Sequence[str]
    skipped: Mapping[str, str]
    empty: Sequence[str]


def find_templates(paths: Iterable[str]) -> Iterator[str]:
    """Yield the given files, and for directories all templates below them, sorted by path."""
    yield from search(paths).templates


def search(paths: Iterable[str]) -> Found:
    """Return the given files, and for directories all templates below them, sorted by path. A file that cannot be read
    counts as a template.
    """
    templates: list[str] = []
    skipped: dict[str, str] = {}
    empty: list[str] = []
    for path in paths:
        if not Path(path).is_dir():
            templates.append(path)
            continue
        before = len(templates)
        for file in sorted(Path(path).rglob("*")):
            if file.suffix in SUFFIXES | _RENDERED and file.is_file():
                why = _skip_reason(file)
                if why is None:
                    templates.append(str(file))
                elif why:
                    skipped[str(file)] = why
        if len(templates) == before:
            empty.append(path)
    return Found(templates, skipped, empty)


def _skip_reason(path: Path) -> str | None:
    """Return why a file in a directory is not checked; None if it is, an empty string for an unrelated file."""
    try:
        text = read(str(path))
    except (OSError, UnicodeDecodeError):
        return "it cannot be read" if path.suffix in _RENDERED else None
    if path.suffix in _RENDERED:
        return "it is the source of a template" if _ANYWHERE.search(text) else ""
    if looks_like_template(text):
        return None
    if _AT_FIRST.search(text):
        return "it is the source of a template"
    try:
        keys = Document.parse(text, limits=_NO_LIMITS).data.keys()
    except (TemplateInvalid, RequestLimitExceeded):
        return "it is no template"
    return "it is an environment" if keys and keys <= set(SECTIONS) else "it is no template"


def resolve_path(folder: str, name: str) -> str:
    """Return the path that `name` refers to in a file in `folder`."""
    return os.path.normpath(Path(folder) / name)


def reason(error: Exception) -> str:
    """Return a short reason why a file cannot be read."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 (byte {error.start})"
    return (getattr(error, "strerror", None) or str(error)).lower()


class Sources:
    """Files and templates by path, each read once."""

    def __init__(self, limits: Limits, reader: Callable[[str], str] = read) -> None:
        """`reader` returns the content of a file by its path; it raises OSError or UnicodeDecodeError."""
        self._limits = limits
        self._read = reader
        self._texts: dict[str, str | Exception] = {}
        self._templates: dict[str, tuple[Template, list[Diagnostic]] | TemplateInvalid] = {}

    def text(self, path: str) -> str:
        """Return the content of a file, or of a packaged template by its URL. Raises OSError or UnicodeDecodeError."""
        if path not in self._texts:
            try:
                self._texts[path] = packaged_templates().get(path) or self._read(path)
            except (OSError, UnicodeDecodeError) as error:
                self._texts[path] = error
        content = self._texts[path]
        if isinstance(content, Exception):
            raise content
        return content

    def exists(self, path: str) -> bool:
        """Return whether there is a source with this path, even if it cannot be read."""
        try:
            self.text(path)
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return False
        except (OSError, UnicodeDecodeError):
            return True
        except ValueError:  # no path
            return False
        return True

    def names(self) -> set[str]:
        """The sources that were read."""
        return {path for path, content in self._texts.items() if isinstance(content, str)}

    def own_names(self) -> set[str]:
        """The sources that were read and that belong to the user, unlike packaged templates."""
        return self.names() - packaged_templates().keys()

    def shown(self, path: str) -> str | None:
        """Return the content of a source that was read; None for anything else."""
        content = self._texts.get(path)
        return content if isinstance(content, str) else None

    def document(self, path: str) -> Document:
        """Return the data of a file with positions. Raises TemplateInvalid, also for a file that cannot be read."""
        try:
            return Document.parse(self.text(path), source=path, limits=self._limits)
        except (OSError, UnicodeDecodeError) as error:
            raise TemplateInvalid([_diagnostic("unreadable", f"cannot be read: {reason(error)}", path)]) from error
        except RequestLimitExceeded as error:
            raise TemplateInvalid([_diagnostic("limit", error.message, path)]) from error

    def template(self, path: str) -> Template:
        """Return the template in a file.

        Raises TemplateInvalid, also for a file that cannot be read or is too large.
        """
        template, problems = self.examined(path)
        if problems:
            raise TemplateInvalid(problems)
        return template

    def examined(self, path: str) -> tuple[Template, list[Diagnostic]]:
        """Return the template in a file, which may have mistakes, and its structural problems.

        Raises TemplateInvalid as `template` does, if nothing else can be known about the file.
        """
        if path not in self._templates:
            try:
                self._templates[path] = self._examine(path)
            except TemplateInvalid as error:
                self._templates[path] = error
        examined = self._templates[path]
        if isinstance(examined, TemplateInvalid):
            raise examined
        return examined

    def _examine(self, path: str) -> tuple[Template, list[Diagnostic]]:
        document = self.document(path)
        try:
            return Template.examine(document, limits=self._limits)
        except RequestLimitExceeded as error:
            raise TemplateInvalid([_diagnostic("limit", error.message, path)]) from error

    def problems(self) -> Iterator[Diagnostic]:
        """Yield the structural problems of all templates that were examined."""
        for examined in self._templates.values():
            yield from examined.diagnostics if isinstance(examined, TemplateInvalid) else examined[1]


def _diagnostic(rule: str, message: str, source: str) -> Diagnostic:
    return Diagnostic(rule, message, source=source, kind="ValueError")


def _missing(message: str) -> FunctionError:
    return FunctionError(message, hint="values that depend on its content are not checked", rule=MISSING_FILE)


class Files(Mapping[str, str]):
    """Reads files for `get_file` in the templates of one folder; if there is a directory `within`, only files in it.

    For a missing file the call fails with a rule of its own, which distinguishes it from errors in the template itself,
    and its value remains unknown.
    """

    def __init__(self, folder: str, within: Path | None = None) -> None:
        self.folder = folder
        self._within = within

    def __getitem__(self, name: str) -> str:
        if is_remote(name):
            raise _missing(f"{name} is not fetched")
        try:
            content = read_named(resolve_path(self.folder, name), self._within)
        except (OSError, ValueError) as error:
            raise _missing(f"the file {name!r} cannot be read: {reason(error)}") from error
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            return base64.b64encode(content).decode("ascii")

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0
