"""The documents that are open in an editor, what the linter reports about them, and the resource types they use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath

from stoker.authoring.lint import lint
from stoker.authoring.repeated_keys import repeated_keys
from stoker.authoring.sources import is_remote, resolve_path
from stoker.authoring.workspace import Workspace
from stoker.base.diagnostics import Diagnostic, Path
from stoker.base.errors import RequestLimitExceeded, StokerError, TemplateInvalid
from stoker.language_server.files import Files, FilesOnDisk
from stoker.language_server.names import TemplateNames
from stoker.language_server.outline import Outline
from stoker.plugins.registry import Registry
from stoker.plugins.resource import ResourceType
from stoker.schema.property import Property, Type
from stoker.template.limits import DEFAULT_LIMITS, Limits
from stoker.template.registry import is_template_name


@dataclass(frozen=True)
class TextDocument:
    """A document with the absolute path of its file, and what is known about its text.

    `named_environment` says that the document is an environment, whatever it contains so far.
    """

    path: str
    text: str
    named_environment: bool = False

    @cached_property
    def names(self) -> TemplateNames:
        """The names in the document."""
        return TemplateNames(Outline.of(self.text))

    @property
    def is_environment(self) -> bool:
        """Whether the document is an environment."""
        return self.named_environment or self.names.is_environment

    @property
    def outline(self) -> Outline:
        """The keys and values of the document."""
        return self.names.outline

    @property
    def folder(self) -> str:
        """The folder of the file, to which the names of other files are relative."""
        return str(FilePath(self.path).parent)

    @property
    def is_json(self) -> bool:
        """Whether the document is written in JSON."""
        return self.text.lstrip()[:1] == "{"


@dataclass(frozen=True)
class Report:
    """The diagnostics of one document by the file that they are about, and the files that were read for them."""

    by_source: Mapping[str, Sequence[Diagnostic]]
    texts: Mapping[str, str]


class Project:
    """Open documents, with the environments that templates are checked with."""

    def __init__(
        self, limits: Limits = DEFAULT_LIMITS, files: Files | None = None, registry: Registry | None = None
    ) -> None:
        """`files` are those that are not open: by default, those of this machine. `registry` is made when needed."""
        self._limits = limits
        self.files = files or FilesOnDisk()
        self._registry = registry
        self._opened: dict[str, TextDocument] = {}
        self.environments: Sequence[str] = ()
        self._workspace: Workspace | None = None

    @cached_property
    def registry(self) -> Registry:
        """The resource types of the installed packages, which are imported when they are used. Raises PluginInvalid."""
        return self._registry or Registry.on_demand()

    # -- documents ------------------------------------------------------------------------------------------------

    def put(self, path: str, text: str) -> TextDocument:
        """Open a document, or change its text."""
        self._workspace = None
        self._opened[path] = document = TextDocument(path, text)
        return document

    def close(self, path: str) -> None:
        """Forget a document; its file counts again."""
        self._workspace = None
        self._opened.pop(path, None)

    def use_environments(self, paths: Iterable[str]) -> None:
        """Check templates with these environments from now on."""
        self._workspace = None
        self.environments = tuple(paths)

    def opened(self) -> list[str]:
        """Return the paths of the open documents."""
        return list(self._opened)

    def refresh(self) -> None:
        """Read files again that are not open."""
        self._workspace = None

    def document(self, path: str) -> TextDocument | None:
        """Return a document as it is typed, or from its file; None if it cannot be read or is too large."""
        found = self._opened.get(path)
        if found is None:
            try:
                found = TextDocument(path, self.files.read(path))
            except (OSError, UnicodeDecodeError):
                return None
        return found if len(found.text) <= self._limits.max_template_size else None

    def read(self, path: str) -> str:
        """Return the text of a document or a file. Raises OSError or UnicodeDecodeError."""
        found = self._opened.get(path)
        return found.text if found else self.files.read(path)

    # -- diagnostics ----------------------------------------------------------------------------------------------

    def workspace(self) -> Workspace:
        """Return the linter's view of the documents as they are now."""
        if self._workspace is None:
            self._workspace = Workspace(self.registry, self.environments, limits=self._limits, reader=self.read)
        return self._workspace

    def report(self, path: str) -> Report:
        """Return the diagnostics of an open document and of the files that it refers to; none for other documents."""
        document = self._opened[path]
        workspace = Workspace(self.registry, self.environments, limits=self._limits, reader=self.read)
        if len(document.text) > self._limits.max_template_size or document.names.version is not None:
            found = lint(workspace, [path])
        elif document.is_environment:
            workspace = Workspace(self.registry, [path], limits=self._limits, reader=self.read)
            found = [
                *_of_environment(workspace),
                *workspace.environment_warnings(),
                *repeated_keys(path, document.text),
            ]
        else:
            return Report({path: ()}, {})
        by_source: dict[str, list[Diagnostic]] = defaultdict(list)
        for diagnostic in found:
            by_source[diagnostic.source or path].append(diagnostic)
        texts = {name: workspace.sources.text(name) for name in workspace.sources.names()}
        return Report({path: [], **by_source}, texts)

    # -- types ----------------------------------------------------------------------------------------------------

    def implementation(self, document: TextDocument, type_name: str, resource: str = "") -> str:
        """Return what a type stands for: a type's name, or the path or URL of a template."""
        name = type_name
        if not is_template_name(type_name):
            try:
                name = self.workspace().environment({}).registry.resolve(type_name, resource)
            except StokerError:  # it is reported where the environment is checked
                name = type_name
        if not is_template_name(name) or is_remote(name):
            return name
        return resolve_path(document.folder, name) if name == type_name else name

    def kind(self, document: TextDocument, resource: str) -> ResourceType | None:
        """Return the type of a resource; None if there is none that can be used."""
        written = document.names.type_of(resource)
        return self.kind_named(document, written, resource) if written else None

    def property(self, document: TextDocument, path: Path) -> Property | None:
        """Return the property that the value at `path`, a place in a resource's properties, belongs to.

        Properties can contain the definition of a resource themselves, such as that of a group's members.
        """
        key = document.names.resource_key
        for depth in range(len(path) - 1, 3, -1):
            if path[depth] != key("properties"):
                continue
            written = document.outline.text_at((*path[:depth], key("type")))
            inner = self.kind_named(document, written) if written else None
            if inner is not None:
                return property_at(inner.properties, path[depth + 1 :])
        kind = self.kind(document, str(path[1]))
        return property_at(kind.properties, path[3:]) if kind else None

    def kind_named(self, document: TextDocument, type_name: str, resource: str = "") -> ResourceType | None:
        """Return the type with this name; None if there is none that can be used."""
        name = self.implementation(document, type_name, resource)
        try:
            return self.workspace().template_type(name) if is_template_name(name) else self.registry.types.get(name)
        except StokerError:  # the template, or the plug-in that offers the type, is invalid
            return None


def _of_environment(workspace: Workspace) -> list[Diagnostic]:
    try:
        workspace.environment({})
    except TemplateInvalid as error:
        return list(error.diagnostics)
    except RequestLimitExceeded as error:
        return [Diagnostic("limit", error.message)]
    return []


def property_at(schema: Mapping[str, Property], path: Path) -> Property | None:
    """Return the property that the value at `path`, below the properties of a resource, belongs to."""
    found: Property | None = Property(type=Type.MAP, schema=schema)
    rest = list(path)
    while rest and found is not None:
        part = rest.pop(0)
        if isinstance(part, int):
            found = found.items or (Property() if found.strings else None)
        elif found.schema is not None and part in found.schema:
            found = found.schema[part]
        elif part in ("if", "Fn::If") and rest and rest[0] in (1, 2):
            rest.pop(0)  # both branches are values of the same property
        else:
            found = None
    return found
