"""Merging of parameter values from several environments, by the `parameter_merge_strategies` of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import TemplateInvalid
from stoker.template.parameter import ParameterSchema
from stoker.template.parameter_types import BOOLEAN, COMMA_DELIMITED_LIST, JSON, NUMBER

_OVERWRITE = "overwrite"
STRATEGIES = frozenset({_OVERWRITE, "merge", "deep_merge"})


class ParameterMerge:
    """Values collected from environments in their order; `result` is the merged values."""

    def __init__(self, schemas: Mapping[str, ParameterSchema]) -> None:
        self._schemas = schemas
        self._asked: dict[str, str] = {}
        self.result: dict[str, Any] = {}

    def add(self, values: Mapping[str, Any], strategies: Mapping[str, Any]) -> None:
        """Merge one environment's values into the result. Raises TemplateInvalid for strategies that conflict
        (ConflictingMergeStrategyForParam) or do not fit the parameter (InvalidMergeStrategyForParam).
        """
        general = strategies.get("default", _OVERWRITE)
        general = general if general in STRATEGIES else _OVERWRITE
        for name, value in values.items():
            own = strategies.get(name)
            strategy = own if own in STRATEGIES else general
            self._refuse_conflict(name, own)
            schema = self._schemas.get(name)
            before = self.result.get(name)
            if strategy == _OVERWRITE or schema is None or before is None:
                self.result[name] = value
            elif value is not None:
                self.result[name] = _combined(schema, before, value, strategy == "deep_merge")

    def _refuse_conflict(self, name: str, strategy: Any) -> None:
        if strategy not in STRATEGIES:
            return
        if self._asked.setdefault(name, strategy) != strategy:
            raise _refused(name, "two environments specify different merge strategies", "Conflicting")


def _combined(schema: ParameterSchema, before: Any, value: Any, deep: bool) -> Any:
    if schema.type is BOOLEAN:
        raise _refused(schema.name, "booleans can only be overwritten", "Invalid")
    try:
        first, second = schema.convert(before), schema.convert(value)
        if schema.type is JSON:
            return _merged_maps(first, second) if deep else {**first, **second}
        return first + second if schema.type.hot in (NUMBER.hot, COMMA_DELIMITED_LIST.hot) else str(first) + str(second)
    except (ValueError, TypeError) as error:
        raise _refused(
            schema.name, f"its values cannot be merged: they must be {schema.type.expects}", "Invalid"
        ) from error


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


def _refused(name: str, message: str, kind: str) -> TemplateInvalid:
    diagnostic = Diagnostic(
        rule="merge-strategy",
        message=message,
        path=("parameters", name),
        source="environment",
        kind=f"{kind}MergeStrategyForParam",
    )
    return TemplateInvalid([diagnostic])
