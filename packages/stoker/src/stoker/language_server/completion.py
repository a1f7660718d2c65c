"""What can be typed at a place of a template or an environment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path as FilePath

from stoker.authoring.sources import SUFFIXES, resolve_path
from stoker.base.diagnostics import Path
from stoker.language_server import describe
from stoker.language_server.items import Category, Completion, Item
from stoker.language_server.names import NameKind, function_at
from stoker.language_server.outline import Context, Role, context
from stoker.language_server.project import Project, TextDocument
from stoker.plugins.resource import ResourceType
from stoker.schema.constraints import AllowedValues, Offered
from stoker.schema.property import Property, Type
from stoker.template.document import VERSION_KEYS
from stoker.template.environment import HOOKS, RESTRICTED_ACTIONS, STRATEGIES
from stoker.template.environment import SECTIONS as ENVIRONMENT_SECTIONS
from stoker.template.functions.references import NO_VALUE
from stoker.template.registry import is_template_name
from stoker.template.versions import AWS_2010_09_09, HOT_2021_04_16, Version, by_name
from stoker.template.yaml_reader import SHORT_TAGS

_TAGS = {function: tag for tag, function in SHORT_TAGS.items()}
_GIVEN = "Fn::Sub"


def complete(project: Project, document: TextDocument, offset: int) -> Completion | None:
    """Return what can be typed at an offset; None where nothing is known, as in comments."""
    place = context(document.text, offset)
    if place is None:
        return None
    in_sub = _sub_place(document, place, offset)
    if in_sub is not None:
        start, items = in_sub
        return Completion(start, offset, list(items))
    completer = (
        _Environment(project, document, place) if document.is_environment else _Template(project, document, place)
    )
    unique: dict[str, Item] = {}
    for item in completer.items():
        unique.setdefault(item.label, item)  # in a block, a function as key rather than in braces
    return Completion(place.start, offset, list(unique.values()))


def _sub_place(document: TextDocument, place: Context, offset: int) -> tuple[int, Iterator[Item]] | None:
    """Return the start of a name after `${` in a string of Fn::Sub, with what can be typed there."""
    opened = place.typed.rfind("${")
    if opened < 0 or "}" in place.typed[opened:] or not place.path or function_at(place.path) != (_GIVEN, 0):
        return None
    typed = place.typed[opened + 2 :]
    return offset - len(typed), _names_in_sub(document)


def _names_in_sub(document: TextDocument) -> Iterator[Item]:
    names = document.names
    for name in names.parameters:
        yield Item(name, Category.PARAMETER, name)
    for name in names.resources:
        yield Item(name, Category.RESOURCE, name, names.type_of(name) or "")
    for name in names.dialect.pseudo_parameters if names.dialect else ():
        yield Item(name, Category.NAME, name)


class _Completer(ABC):
    """Completion of one place: of keys, of values, or of both."""

    def __init__(self, project: Project, document: TextDocument, place: Context) -> None:
        self.project = project
        self.document = document
        self.names = document.names
        self.outline = document.outline
        self.place = place

    def items(self) -> Iterator[Item]:
        path = self.place.path
        if self.place.role is not Role.VALUE:
            yield from self.keys(path)
        if self.place.role is not Role.KEY:
            yield from self.values(path)

    @abstractmethod
    def keys(self, path: Path) -> Iterator[Item]:
        """Yield the keys of the map at `path`."""

    @abstractmethod
    def values(self, path: Path) -> Iterator[Item]:
        """Yield the values for `path`."""

    @cached_property
    def taken(self) -> set[str]:
        """The keys that the map has already, without the one that is being typed."""
        return {token.text for token in self.outline.keys(self.place.path) if token.start != self.place.start}

    def key(
        self,
        name: str,
        category: Category,
        opens: str = "",
        prefix: str = "",
        documentation: str = "",
        deprecated: bool = False,
        first: bool = False,
    ) -> Item:
        """Return the item of a key; `opens` is "map" or "list" if its value is one."""
        insert = self._written_key(name, opens, prefix)
        return Item(name, category, insert, "", documentation, deprecated, first)

    def _written_key(self, name: str, opens: str, prefix: str) -> str:
        if self.place.quoted:
            return name
        if self.document.is_json:
            return f'"{name}": ' + {"map": "{}", "list": "[]"}.get(opens, "")
        if self.place.in_line or not opens:
            return f"{prefix}{name}: "
        indent = " " * (self.place.column + len(prefix) + 2)
        return f"{prefix}{name}:\n{indent}{'- ' if opens == 'list' else ''}"

    def value(self, text: str, category: Category, detail: str = "", documentation: str = "") -> Item:
        """Return the item of a literal value."""
        return Item(text, category, self._spaced(self._quoted(text)), detail, documentation)

    def _quoted(self, text: str) -> str:
        if self.place.quoted:
            return text
        if self.document.is_json:
            return f'"{text}"'
        return f"'{text}'" if text in _AMBIGUOUS or text.replace(".", "").isdigit() else text

    def _spaced(self, text: str) -> str:
        """Return the string with a space before it where it would otherwise follow a colon."""
        before = self.document.text[self.place.start - 1 : self.place.start]
        return f" {text}" if before == ":" and not self.place.quoted else text

    def literal(self, value: object) -> Item:
        """Return the item of an allowed value."""
        if isinstance(value, str):
            return self.value(value, Category.VALUE)
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return Item(text, Category.VALUE, self._spaced(text))

    def types(self) -> Iterator[Item]:
        """Yield all resource types, and the templates in the folder of the document."""
        for name in sorted(self.project.registry.types):
            yield self.value(name, Category.TYPE)
        yield from self.templates()

    def templates(self) -> Iterator[Item]:
        """Yield the templates beside the document."""
        return (item for item in self.files(SUFFIXES) if is_template_name(item.label))

    def files(self, suffixes: Iterable[str] = ()) -> Iterator[Item]:
        """Yield the files in the folder that has been typed, relative to that of the document."""
        typed = self.place.typed.rpartition("/")[0]
        folder = resolve_path(self.document.folder, typed)
        extensions = frozenset(suffixes)
        for name in self.project.files.names(folder):
            own = resolve_path(folder, name) == self.document.path
            if not own and (not extensions or FilePath(name).suffix in extensions):
                yield self.value(f"{typed}/{name}" if typed else name, Category.FILE)


_AMBIGUOUS = frozenset({"yes", "no", "on", "off", "true", "false", "null", "y", "n", "~", ""})


class _Template(_Completer):
    """Completion in templates. A document without a version is completed as the format of its first keys."""

    @property
    def version(self) -> Version:
        """The template's version."""
        return self.names.version or HOT_2021_04_16

    def keys(self, path: Path) -> Iterator[Item]:
        if not path:
            yield from self._sections()
            return
        section, depth = self._section_of(path), len(path)
        dialect = self.version.dialect
        if section is NameKind.RESOURCE and depth == 2:
            yield from self._resource_keys(str(path[1]))
        elif section is NameKind.RESOURCE and depth > 2 and path[2] == dialect.resource_keys["properties"]:
            yield from self._property_keys(path)
        elif section is NameKind.PARAMETER and depth == 2:
            opened = {"constraints": "list", "AllowedValues": "list"}
            yield from self._named(sorted(self.version.parameter_keys), Category.PROPERTY, opened)
        elif section is NameKind.PARAMETER and depth > 2 and path[2] == "constraints":
            yield from self._constraint_keys(path)
        elif section is NameKind.OUTPUT and depth == 2:
            yield from self._named(sorted(self.version.output_keys), Category.PROPERTY)
        elif section is NameKind.CONDITION and depth > 1:
            yield from self._functions(self.version.condition_functions)
        elif section in (NameKind.RESOURCE, NameKind.OUTPUT) and depth > 2:
            yield from self._functions(self.version.functions)

    def values(self, path: Path) -> Iterator[Item]:
        if len(path) == 1 and path[0] in VERSION_KEYS:
            newest = [value for key, value in by_name() if key == path[0]][::-1]
            yield from (Item(value, Category.VALUE, self._spaced(self._version_text(value))) for value in newest)
            return
        section = self._section_of(path)
        if path and path[0] == "parameter_groups" and len(path) > 2 and path[2] == "parameters":
            yield from self._declared(NameKind.PARAMETER)
        elif section is NameKind.PARAMETER:
            yield from self._parameter_values(path)
        elif len(path) > 2:
            yield from self._argument(path) or self._place_values(section, path)

    def _version_text(self, value: str) -> str:
        return f'"{value}"' if self.document.is_json and not self.place.quoted else value

    def _section_of(self, path: Path) -> NameKind | None:
        if not path:
            return None
        return next((kind for kind in NameKind if self.version.dialect.sections.get(kind) == path[0]), None)

    def _named(
        self, names: Iterable[str], category: Category, opens: Mapping[str, str] | None = None
    ) -> Iterator[Item]:
        return (self.key(name, category, (opens or {}).get(name, "")) for name in names if name not in self.taken)

    def _sections(self) -> Iterator[Item]:
        if self.names.version is None:
            yield Item(
                "heat_template_version",
                Category.SECTION,
                f"heat_template_version: {HOT_2021_04_16.value}\n",
                first=True,
            )
            yield Item(AWS_2010_09_09.key, Category.SECTION, f'{AWS_2010_09_09.key}: "{AWS_2010_09_09.value}"\n')
            return
        scalars = (*VERSION_KEYS, "description", "Description", "Transform")
        lists = ("parameter_groups",)
        opens = {name: "list" if name in lists else "map" for name in self.version.sections if name not in scalars}
        known = sorted(name for name in self.version.sections if name not in VERSION_KEYS)
        yield from self._named(known, Category.SECTION, opens)

    # -- resources ------------------------------------------------------------------------------------------------

    def _resource_keys(self, resource: str) -> Iterator[Item]:
        keys = self.version.dialect.resource_keys
        opens = {keys["properties"]: "map", keys["metadata"]: "map", keys["update_policy"]: "map"}
        opens[keys.get("ignore_drift", "")] = "list"
        for item in self._named(sorted(self.version.resource_keys), Category.PROPERTY, opens):
            yield item if item.label != keys["type"] else Item(item.label, item.category, item.insert, first=True)

    def _kind(self, path: Path) -> ResourceType | None:
        return self.project.kind(self.document, str(path[1]))

    def _property(self, path: Path) -> Property | None:
        return self.project.property(self.document, path)

    def _property_keys(self, path: Path) -> Iterator[Item]:
        prop = self._property(path)
        prefix = ""
        if prop is not None and prop.type is Type.LIST and prop.items and self.place.role is Role.EITHER:
            prop, prefix = prop.items, "- "
        for name, inner in (prop.schema or {}).items() if prop else ():
            if name in self.taken or not inner.implemented or inner.support.status == "HIDDEN":
                continue
            opens = {Type.LIST: "list", Type.MAP: "map"}.get(inner.type, "")
            yield self.key(
                name,
                Category.PROPERTY,
                opens,
                prefix,
                describe.of_property(name, inner),
                deprecated=inner.support.status == "DEPRECATED",
                first=inner.required,
            )
        if len(path) > 3 and not self.taken:
            function, _ = function_at(path)
            table = self.version.condition_functions if function in _CONDITIONAL else self.version.functions
            yield from self._functions(table)

    def _functions(self, table: Mapping[str, str]) -> Iterator[Item]:
        """Yield functions as keys: of an empty map."""
        if self.taken:
            return
        for name in sorted(table):
            yield self.key(name, Category.FUNCTION, documentation=describe.of_function(name, self.version) or "")

    def _calls(self) -> Iterator[Item]:
        """Yield functions as values: with braces, or with CloudFormation's short tags."""
        if self.place.quoted:
            return
        for name in sorted(self.version.functions):
            if self.document.is_json:
                call = f'{{"{name}": }}'
            elif self.names.is_hot or name not in _TAGS:
                call = f"{{{name}: }}"
            else:
                call = f"{_TAGS[name]} "
            label = _TAGS.get(name, name) if not self.names.is_hot and not self.document.is_json else name
            documentation = describe.of_function(name, self.version) or ""
            yield Item(label, Category.FUNCTION, self._spaced(call), documentation=documentation)

    def _place_values(self, section: NameKind | None, path: Path) -> Iterator[Item]:
        dialect = self.version.dialect
        key = path[2]
        if key in (dialect.resource_keys["condition"], dialect.output_keys["condition"]) and len(path) == 3:
            yield from self._declared(NameKind.CONDITION)
        elif section is NameKind.RESOURCE and key == dialect.resource_keys["type"]:
            yield from self.types()
        elif section is NameKind.RESOURCE and key == dialect.resource_keys["depends_on"]:
            yield from (item for item in self._declared(NameKind.RESOURCE) if item.label != path[1])
        elif section is NameKind.RESOURCE and key in _POLICIES:
            replaces = key == "UpdateReplacePolicy"
            known = self.version.replace_policies if replaces else self.version.deletion_policies
            yield from (self.value(name, Category.VALUE) for name in known)
        elif section is NameKind.RESOURCE and key == dialect.resource_keys.get("ignore_drift"):
            kind = self.project.kind(self.document, str(path[1]))
            yield from (self.value(name, Category.PROPERTY) for name in (kind.properties if kind else ()))
        elif section is NameKind.RESOURCE and key == dialect.resource_keys["properties"] and len(path) > 3:
            prop = self._property(path)
            yield from self._allowed(prop) if prop else ()
            yield from self._calls()
        elif section in (NameKind.RESOURCE, NameKind.OUTPUT) and key not in ("description", "Description"):
            yield from self._calls()

    def _allowed(self, prop: Property) -> Iterator[Item]:
        if prop.type is Type.BOOLEAN:
            yield from (self.literal(value) for value in (True, False))
        for constraint in prop.constraints:
            if isinstance(constraint, AllowedValues):
                yield from (self.literal(value) for value in constraint.values)
            elif isinstance(constraint, Offered):
                yield from (self.literal(value) for value in constraint.names())

    # -- parameters -----------------------------------------------------------------------------------------------

    def _constraint_keys(self, path: Path) -> Iterator[Item]:
        if len(path) == 3 or (len(path) == 4 and isinstance(path[3], int)):
            prefix = "- " if len(path) == 3 and not self.place.in_line else ""
            for name in sorted({*self.version.parameter_constraints, "description"} - self.taken):
                yield self.key(name, Category.PROPERTY, prefix=prefix)
        elif path[-1] in ("range", "length"):
            yield from self._named(("min", "max"), Category.PROPERTY)
        elif path[-1] == "modulo":
            yield from self._named(("step", "offset"), Category.PROPERTY)

    def _parameter_values(self, path: Path) -> Iterator[Item]:
        match path[2:]:
            case ("type" | "Type",):
                yield from (self.value(name, Category.VALUE) for name in self.version.parameter_types)
            case ("hidden" | "immutable" | "NoEcho",):
                yield from (self.literal(value) for value in (True, False))
            case ("constraints", _, "custom_constraint"):
                yield from (self.value(name, Category.VALUE) for name in sorted(self.project.registry.constraints))

    # -- arguments of functions -----------------------------------------------------------------------------------

    def _declared(self, kind: NameKind) -> Iterator[Item]:
        category = {NameKind.PARAMETER: Category.PARAMETER, NameKind.RESOURCE: Category.RESOURCE}.get(
            kind, Category.NAME
        )
        for name, token in self.names.declared(kind).items():
            key = (
                self.names.resource_key("type")
                if kind is NameKind.RESOURCE
                else "type"
                if self.names.is_hot
                else "Type"
            )
            detail = self.outline.text_at((*token.path, key)) or ""
            yield self.value(name, category, detail, describe.of_declaration(self.document, token))

    def _pseudo(self) -> Iterator[Item]:
        for name in self.version.dialect.pseudo_parameters:
            yield self.value(name, Category.NAME)

    def _argument(self, path: Path) -> list[Item] | None:
        """Return the values of a function's argument; None if `path` does not lead to one that names something."""
        function, index = function_at(path)
        found: Callable[[], Iterator[Item]] | None = {
            ("get_param", 0): self._parameters,
            ("get_resource", 0): lambda: self._declared(NameKind.RESOURCE),
            ("get_attr", 0): lambda: self._declared(NameKind.RESOURCE),
            ("get_attr", 1): lambda: self._attributes(str(self.outline.text_at((*path[:-1], 0)))),
            ("get_file", 0): self.files,
            ("if", 0): lambda: self._declared(NameKind.CONDITION),
            ("Ref", 0): self._referred,
            ("Fn::GetAtt", 0): self._dotted if path[-1] == function else lambda: self._declared(NameKind.RESOURCE),
            ("Fn::GetAtt", 1): lambda: self._attributes(str(self.outline.text_at((*path[:-1], 0)))),
            ("Fn::If", 0): lambda: self._declared(NameKind.CONDITION),
            ("Condition", 0): lambda: self._declared(NameKind.CONDITION),
            ("Fn::FindInMap", 0): lambda: self._declared(NameKind.MAPPING),
            ("Fn::FindInMap", 1): lambda: self._mapped(path),
            ("Fn::FindInMap", 2): lambda: self._mapped(path),
        }.get((function, index))
        if found is None and function in ("and", "or", "not") and path[0] == self.names.section(NameKind.CONDITION):
            return list(self._declared(NameKind.CONDITION))
        return list(found()) if found and function in _known_functions(self.version) else None

    def _parameters(self) -> Iterator[Item]:
        yield from self._declared(NameKind.PARAMETER)
        yield from self._pseudo()

    def _referred(self) -> Iterator[Item]:
        yield from self._declared(NameKind.PARAMETER)
        if self.place.path[0] != self.names.section(NameKind.CONDITION):
            yield from self._declared(NameKind.RESOURCE)
        yield from self._pseudo()
        yield self.value(NO_VALUE, Category.NAME)

    def _attributes(self, resource: str) -> Iterator[Item]:
        kind = self.project.kind(self.document, resource)
        for name, attribute in kind.attributes.items() if kind else ():
            if attribute.support.status != "HIDDEN":
                yield self.value(name, Category.ATTRIBUTE, "", describe.of_attribute(name, attribute))
        if kind and self.names.is_hot:
            yield self.value("show", Category.ATTRIBUTE, "", "The object as the service shows it.")

    def _dotted(self) -> Iterator[Item]:
        """Yield resources, or after the dot, the attributes of one."""
        resource, dot, _ = self.place.typed.partition(".")
        if not dot:
            yield from self._declared(NameKind.RESOURCE)
            return
        for item in self._attributes(resource):
            yield self.value(f"{resource}.{item.label}", Category.ATTRIBUTE, "", item.documentation)

    def _mapped(self, path: Path) -> Iterator[Item]:
        """Yield the keys of a mapping; where the first key is not literal, those of all its maps."""
        mapping = (self.names.section(NameKind.MAPPING), self.outline.text_at((*path[:-1], 0)) or "")
        first = self.outline.keys(mapping)
        if path[-1] == 1:
            found = first
        else:
            key = self.outline.text_at((*path[:-1], 1))
            found = [
                inner for token in first if key in (None, token.path[-1]) for inner in self.outline.keys(token.path)
            ]
        yield from (self.value(str(token.path[-1]), Category.NAME) for token in found)


_CONDITIONAL = ("if", "Fn::If")
_POLICIES = ("deletion_policy", "DeletionPolicy", "UpdateReplacePolicy")


def _known_functions(version: Version) -> frozenset[str]:
    return frozenset({*version.functions, *version.condition_functions, *version.rule_functions})


class _Environment(_Completer):
    """Completion in environments."""

    def keys(self, path: Path) -> Iterator[Item]:
        if not path:
            for name in ENVIRONMENT_SECTIONS:
                if name not in self.taken:
                    opens = "list" if name in ("event_sinks", "encrypted_param_names") else "map"
                    yield self.key(name, Category.SECTION, opens)
        elif path == ("resource_registry",):
            yield from (self.key(name, Category.PROPERTY) for name in ("base_url", "resources"))
            yield from (self.key(name, Category.TYPE) for name in sorted(self.project.registry.types))
        elif path[:2] == ("resource_registry", "resources") and len(path) > 2:
            yield from (self.key(name, Category.PROPERTY) for name in ("hooks", "restricted_actions"))

    def values(self, path: Path) -> Iterator[Item]:
        if path[:1] == ("parameter_merge_strategies",):
            yield from (self.value(name, Category.VALUE) for name in sorted(STRATEGIES))
        elif path[:1] == ("resource_registry",) and len(path) > 1:
            last = next(part for part in reversed(path) if isinstance(part, str))
            choices = {"hooks": HOOKS, "restricted_actions": RESTRICTED_ACTIONS}.get(last)
            if choices:
                yield from (self.value(name, Category.VALUE) for name in sorted(choices))
            elif last != "base_url":
                yield from self.types()
