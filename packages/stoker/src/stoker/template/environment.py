"""The environment of a stack, and the merging of several: parameter values, the resource registry, event sinks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from stoker.base.diagnostics import Diagnostic, Path
from stoker.base.errors import TemplateInvalid
from stoker.base.similar import closest
from stoker.template.parameter import ParameterSchema
from stoker.template.parameter_types import BOOLEAN, COMMA_DELIMITED_LIST, JSON, NUMBER
from stoker.template.problems import suggestion, type_name
from stoker.template.registry import INVALID_TYPE, Registry
from stoker.template.transfers import TRANSFERS, Transfers, transfer_problems

SECTION = "parameter_merge_strategies"
"""The section of an environment with the strategies of its parameters."""

_OVERWRITE = "overwrite"
STRATEGIES = (_OVERWRITE, "merge", "deep_merge")


def unknown_strategies(strategies: Mapping[str, object], source: str) -> Iterator[Diagnostic]:
    """Yield a warning about each strategy of an environment that does not exist, which is ignored as in Heat."""
    general = strategies.get("default")
    effective = general if general in STRATEGIES else _OVERWRITE
    for name, strategy in strategies.items():
        if strategy not in STRATEGIES:
            yield Diagnostic(
                rule="unknown-merge-strategy",
                message=f"there is no merge strategy {strategy!r}; {effective!r} is used instead",
                path=(SECTION, str(name)),
                source=source,
                hint=suggestion(strategy, sorted(STRATEGIES)),
                severity="warning",
            )


class ParameterMerge:
    """Values collected from environments in their order; `result` is the merged values, `problems` the strategies that
    conflict (ConflictingMergeStrategyForParam) or do not fit the parameter (InvalidMergeStrategyForParam).
    """

    def __init__(self, schemas: Mapping[str, ParameterSchema]) -> None:
        self._schemas = schemas
        self._strategies: dict[str, str] = {}
        self.result: dict[str, Any] = {}
        self.problems: list[Diagnostic] = []

    def add(self, values: Mapping[str, object], strategies: Mapping[str, object], source: str) -> None:
        """Merge the values of one environment, named `source`, into the result."""
        general = strategies.get("default", _OVERWRITE)
        general = general if general in STRATEGIES else _OVERWRITE
        for name, value in values.items():
            own = strategies.get(name)
            strategy = own if own in STRATEGIES else general
            try:
                self._refuse_conflict(name, own)
                self.result[name] = self._merged(name, value, strategy)
            except _Refused as refused:
                place = (SECTION, name if own in STRATEGIES else "default")
                kind = f"{refused.kind}MergeStrategyForParam"
                message = f"the parameter {name!r} cannot be merged so: {refused}"
                self.problems.append(Diagnostic("merge-strategy", message, place, source, kind=kind))
                self.result[name] = value

    def _merged(self, name: str, value: object, strategy: str) -> object:
        schema = self._schemas.get(name)
        before = self.result.get(name)
        if strategy == _OVERWRITE or schema is None or before is None:
            return value
        return before if value is None else _combined(schema, before, value, strategy == "deep_merge")

    def _refuse_conflict(self, name: str, strategy: object) -> None:
        if strategy not in STRATEGIES:
            return
        if self._strategies.setdefault(name, strategy) != strategy:
            raise _Refused("two environments specify different merge strategies", "Conflicting")


class _Refused(Exception):
    """A strategy cannot be applied. `kind` is the first part of the name of Heat's error."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


def _combined(schema: ParameterSchema, before: object, value: object, deep: bool) -> object:
    if schema.type is BOOLEAN:
        raise _Refused("booleans can only be overwritten", "Invalid")
    try:
        first, second = schema.convert(before), schema.convert(value)
        if schema.type is JSON:
            return _merged_maps(first, second) if deep else {**first, **second}
        return first + second if schema.type.hot in (NUMBER.hot, COMMA_DELIMITED_LIST.hot) else str(first) + str(second)
    except (ValueError, TypeError) as error:
        raise _Refused(f"its values must be {schema.type.expects}", "Invalid") from error


def _merged_maps(first: Mapping[str, object], second: Mapping[str, object]) -> dict[str, object]:
    result = dict(first)
    for key, value in second.items():
        result[key] = _merged_values(result[key], value) if key in result else value
    return result


def _merged_values(first: object, second: object) -> object:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return _merged_maps(first, second)
    if isinstance(first, list) and isinstance(second, list):
        return first + second
    if isinstance(first, str) and isinstance(second, str):
        return first + second
    return second


_MAPS = ("parameters", "parameter_defaults", "resource_registry", "parameter_merge_strategies")
_LISTS = ("event_sinks", "encrypted_param_names")
SECTIONS = (*_MAPS, *_LISTS, *TRANSFERS)
HOOKS = frozenset(f"{time}-{action}" for time in ("pre", "post") for action in ("create", "update", "delete"))
RESTRICTED_ACTIONS = frozenset({"update", "replace"})
NO_TRANSFERS = Transfers()


class Environment:
    """A stack's environment. Read-only; create it with `from_data`, or from several environments with `merged`.

    `transfers` apply to the stack itself, not to those nested in it.
    """

    __slots__ = (
        "_operator_defaults",
        "_own_defaults",
        "encrypted_param_names",
        "event_sinks",
        "parameters",
        "registry",
        "transfers",
    )

    def __init__(
        self,
        parameters: Mapping[str, Any],
        parameter_defaults: Mapping[str, object],
        registry: Registry,
        event_sinks: Sequence[Mapping[str, object]] = (),
        encrypted_param_names: Sequence[str] = (),
        operator_defaults: Mapping[str, object] | None = None,
        transfers: Transfers = NO_TRANSFERS,
    ) -> None:
        self.parameters = parameters
        self._own_defaults = parameter_defaults
        self._operator_defaults = operator_defaults or {}
        self.registry = registry
        self.event_sinks = tuple(event_sinks)
        self.encrypted_param_names = tuple(encrypted_param_names)
        self.transfers = transfers

    @classmethod
    def from_data(cls, data: Mapping[str, Any] | None, *, source: str = "environment") -> Environment:
        """Return the environment that plain data describes; None gives an empty environment.

        Raises TemplateInvalid, of the kind ValueError, for an unknown section and for one of the wrong type.
        """
        data = {} if data is None else data
        problems = _problems(data, source)
        if problems:
            raise TemplateInvalid(problems)
        return cls(
            parameters=data.get("parameters", {}),
            parameter_defaults=data.get("parameter_defaults", {}),
            registry=Registry(data.get("resource_registry", {})),
            event_sinks=data.get("event_sinks", ()),
            encrypted_param_names=data.get("encrypted_param_names", ()),
            transfers=Transfers.of(data, source),
        )

    @classmethod
    def merged(
        cls, environments: Sequence[Mapping[str, object]], schemas: Mapping[str, ParameterSchema]
    ) -> Environment:
        """Return several environments as one, in which later ones override earlier ones. `schemas` are the template's
        parameters, whose types decide how values are merged if an environment has a merge strategy.

        Raises TemplateInvalid as `from_data` does, and for merge strategies that conflict or do not fit.
        """
        named = [(f"environment {number + 1}", data) for number, data in enumerate(environments)]
        environment, problems = cls.examine(named, schemas)
        if problems:
            raise TemplateInvalid(problems)
        return environment

    @classmethod
    def examine(
        cls, environments: Sequence[tuple[str, Any]], schemas: Mapping[str, ParameterSchema]
    ) -> tuple[Environment, list[Diagnostic]]:
        """Return what can be used of several environments, given by name, and the problems for which `merged` raises
        TemplateInvalid. With problems, types whose entry in the registry is invalid are mapped to `INVALID_TYPE`.
        """
        combined: dict[str, object] = {}
        problems: list[Diagnostic] = []
        transfers = Transfers()
        merges = {section: ParameterMerge(schemas) for section in ("parameters", "parameter_defaults")}
        for source, written in environments:
            found = _problems(written, source)
            problems += found
            data = _usable(written, {item.path for item in found}) if found else written
            strategies = data.get("parameter_merge_strategies", {})
            for section, merge in merges.items():
                merge.add(data.get(section, {}), strategies, source)
            for section in ("resource_registry", *_LISTS):
                if section in data:
                    combined[section] = _overlay(combined.get(section), data[section])
            transfers = transfers.with_further(Transfers.of(data, source))
        for section, merge in merges.items():
            combined[section] = merge.result
            problems += merge.problems
        problems += transfers.conflicts()
        return cls.from_data(combined).with_transfers(transfers), problems

    @property
    def parameter_defaults(self) -> Mapping[str, object]:
        """Values for parameters without a given value; the user's override the operator's."""
        return {**self._operator_defaults, **self._own_defaults}

    def to_data(self) -> dict[str, Any]:
        """Return plain JSON data from which `from_data` creates an equal environment; without the operator's part."""
        return {
            "parameters": dict(self.parameters),
            "parameter_defaults": dict(self._own_defaults),
            "resource_registry": self.registry.to_data(),
            "event_sinks": list(self.event_sinks),
            "encrypted_param_names": list(self.encrypted_param_names),
            **self.transfers.to_data(),
        }

    def with_operator(self, operator: Environment) -> Environment:
        """Return this environment with the operator's as a fallback: the operator's type mappings and parameter
        defaults apply where the user has none.
        """
        return Environment(
            self.parameters,
            self._own_defaults,
            self.registry.with_operator(operator.registry.to_data()),
            self.event_sinks,
            self.encrypted_param_names,
            operator.parameter_defaults,
            self.transfers,
        )

    def with_parameters(self, parameters: Mapping[str, object]) -> Environment:
        """Return the same environment with other parameter values."""
        return self._changed(parameters, self.registry, self.transfers)

    def with_transfers(self, transfers: Transfers) -> Environment:
        """Return the same environment with other transfers."""
        return self._changed(self.parameters, self.registry, transfers)

    def for_child(
        self, resource_name: str, template_name: str, parameters: Mapping[str, object] | None = None
    ) -> Environment:
        """Return the environment of the nested stack of a resource (see `Registry.for_child`), with the same defaults
        and event sinks, the child's own parameters, and what is imported and removed in it.
        """
        registry = self.registry.for_child(resource_name, template_name)
        return self._changed(parameters or {}, registry, self.transfers.inside(resource_name))

    def with_missing(self, mappings: Mapping[str, str]) -> Environment:
        """Return the same environment with additional mappings for types that have none."""
        return self._changed(self.parameters, self.registry.with_missing(mappings), self.transfers)

    def _changed(
        self, parameters: Mapping[str, object], registry: Registry, transfers: Transfers = NO_TRANSFERS
    ) -> Environment:
        return Environment(
            parameters,
            self._own_defaults,
            registry,
            self.event_sinks,
            self.encrypted_param_names,
            self._operator_defaults,
            transfers,
        )


def hides_types(problems: Iterable[Diagnostic]) -> bool:
    """Return whether environments with these problems may define types that cannot be known."""
    return any(
        item.path in ((), ("resource_registry",))
        or (item.path[0] not in SECTIONS and closest(str(item.path[0]), SECTIONS) == "resource_registry")
        for item in problems
    )


def _overlay(before: Any, value: Any) -> object:
    return {**(before or {}), **value} if isinstance(value, Mapping) else value


def _problems(data: object, source: str) -> list[Diagnostic]:
    if not isinstance(data, Mapping):
        return [_problem("environment", f"must be a map, not {type_name(data)}", (), source)]
    found = []
    for section, value in data.items():
        if section not in SECTIONS:
            hint = suggestion(section, SECTIONS)
            found.append(_problem("environment-section", f"unknown section {section!r}", (section,), source, hint))
        elif section in _MAPS and not isinstance(value, Mapping):
            found.append(_problem("environment-section", f"must be a map, not {type_name(value)}", (section,), source))
        elif section in (*_LISTS, *TRANSFERS) and not isinstance(value, list | tuple):
            found.append(_problem("environment-section", f"must be a list, not {type_name(value)}", (section,), source))
    registry = data.get("resource_registry")
    if isinstance(registry, Mapping):
        found.extend(_registry_problems(registry, ("resource_registry",), source))
    found.extend(transfer_problems(data, source))
    return found


def _usable(data: Any, wrong: Collection[Path]) -> dict[str, Any]:
    """Return an environment without the sections and the entries of the registry at the paths `wrong`."""
    if () in wrong:
        return {}
    entries = {path[0] for path in wrong if path and path[0] in TRANSFERS}
    usable = {section: value for section, value in data.items() if (section,) not in wrong and section not in entries}
    if "resource_registry" in usable:
        usable["resource_registry"] = _usable_entries(usable["resource_registry"], ("resource_registry",), wrong)
    return usable


def _usable_entries(entries: Mapping[str, Any], path: Path, wrong: Collection[Path]) -> dict[str, object]:
    usable: dict[str, object] = {}
    for name, value in entries.items():
        place = (*path, str(name))
        if place not in wrong:
            is_deeper = isinstance(value, Mapping) and len(path) < _MOST_NESTED
            usable[name] = _usable_entries(value, place, wrong) if is_deeper else value
        elif name not in ("hooks", "restricted_actions"):
            usable[name] = INVALID_TYPE
    return usable


def _registry_problems(entries: Mapping[str, object], path: Path, source: str) -> list[Diagnostic]:
    found = []
    for name, value in entries.items():
        place = (*path, str(name))
        if name in ("hooks", "restricted_actions") and len(path) > 1:
            found.extend(_choice_problems(name, value, place, source))
        elif isinstance(value, Mapping):
            if name != "resources" and len(path) == 1:
                found.append(_problem("registry", "must be the name of a type or template", place, source))
            elif len(path) < _MOST_NESTED:
                found.extend(_registry_problems(value, place, source))
        elif value is not None and not isinstance(value, str):
            found.append(_problem("registry", f"must be the name of a type or template, not {value!r}", place, source))
    return found


_MOST_NESTED = 50


def _choice_problems(key: str, value: object, path: Path, source: str) -> list[Diagnostic]:
    known = HOOKS if key == "hooks" else RESTRICTED_ACTIONS
    kind = "InvalidBreakPointHook" if key == "hooks" else "InvalidRestrictedAction"
    names = value if isinstance(value, list | tuple) else [value]
    wrong = [name for name in names if not isinstance(name, str) or name not in known]
    return [
        Diagnostic("registry", f"unknown value {name!r}", path, source, hint=suggestion(name, known), kind=kind)
        for name in wrong
    ]


def _problem(rule: str, message: str, path: Path, source: str, hint: str = "") -> Diagnostic:
    return Diagnostic(rule=rule, message=message, path=path, source=source, hint=hint, kind="ValueError")
