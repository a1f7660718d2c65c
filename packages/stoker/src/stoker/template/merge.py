"""Merging of parameter values from several environments, by the `parameter_merge_strategies` of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stoker.base.diagnostics import Diagnostic
from stoker.template.parameter import ParameterSchema
from stoker.template.parameter_types import BOOLEAN, COMMA_DELIMITED_LIST, JSON, NUMBER
from stoker.template.problems import suggestion

SECTION = "parameter_merge_strategies"
"""The section of an environment with the strategies of its parameters."""

_OVERWRITE = "overwrite"
STRATEGIES = (_OVERWRITE, "merge", "deep_merge")


def unknown_strategies(strategies: Mapping[str, Any], source: str) -> Iterator[Diagnostic]:
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
        self._asked: dict[str, str] = {}
        self.result: dict[str, Any] = {}
        self.problems: list[Diagnostic] = []

    def add(self, values: Mapping[str, Any], strategies: Mapping[str, Any], source: str) -> None:
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

    def _merged(self, name: str, value: Any, strategy: str) -> Any:
        schema = self._schemas.get(name)
        before = self.result.get(name)
        if strategy == _OVERWRITE or schema is None or before is None:
            return value
        return before if value is None else _combined(schema, before, value, strategy == "deep_merge")

    def _refuse_conflict(self, name: str, strategy: Any) -> None:
        if strategy not in STRATEGIES:
            return
        if self._asked.setdefault(name, strategy) != strategy:
            raise _Refused("two environments specify different merge strategies", "Conflicting")


class _Refused(Exception):
    """A strategy cannot be applied. `kind` is the first part of the name of Heat's error."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


def _combined(schema: ParameterSchema, before: Any, value: Any, deep: bool) -> Any:
    if schema.type is BOOLEAN:
        raise _Refused("booleans can only be overwritten", "Invalid")
    try:
        first, second = schema.convert(before), schema.convert(value)
        if schema.type is JSON:
            return _merged_maps(first, second) if deep else {**first, **second}
        return first + second if schema.type.hot in (NUMBER.hot, COMMA_DELIMITED_LIST.hot) else str(first) + str(second)
    except (ValueError, TypeError) as error:
        raise _Refused(f"its values must be {schema.type.expects}", "Invalid") from error


def _merged_maps(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(first)
    for key, value in second.items():
        result[key] = _merged_values(result[key], value) if key in result else value
    return result


def _merged_values(first: Any, second: Any) -> Any:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return _merged_maps(first, second)
    if isinstance(first, list) and isinstance(second, list):
        return first + second
    if isinstance(first, str) and isinstance(second, str):
        return first + second
    return second
