"""Template formats of plug-ins, good ones and such as cannot be used."""

from __future__ import annotations

from typing import Any

from heat.engine import function
from heat.engine.hot import template as hot_template


class RackName(function.Function):
    """The name of a rack; takes a row and a number."""

    def __init__(self, stack: Any, fn_name: str, args: Any) -> None:
        super().__init__(stack, fn_name, args)
        if not isinstance(args, list):
            raise TypeError("takes a list: a row and a number")
        self._row, self._number = args

    def validate(self) -> None:
        super().validate()
        function.validate(self.args)
        if len(self.args) != 2:
            raise ValueError("takes two items")

    def result(self) -> Any:
        row, number = function.resolve(self._row), function.resolve(self._number)
        if int(number) < 0:
            raise ValueError("the number must not be negative")
        return {"name": f"{row}-{int(number):02}", "parts": (row, int(number))}


class IsProduction(function.Function):
    """Whether an environment is one of production."""

    def result(self) -> bool:
        return str(self.args).startswith("prod")


class RackTemplate(hot_template.HOTemplate20180831):
    functions = dict(hot_template.HOTemplate20180831.functions, rack=RackName, digest=None)
    functions["join"] = functions["list_join"]
    condition_functions = {**hot_template.HOTemplate20180831.condition_functions, "is_production": IsProduction}


class WithSections(hot_template.HOTemplate20180831):
    SECTIONS = ("racks",)

    def param_schemata(self) -> Any:
        return {}


class ReadsStack(function.Function):
    """Reads its stack."""

    def result(self) -> Any:
        return self.stack.name


class Refers(ReadsStack):
    """Refers to resources itself."""

    def dependencies(self, path: str) -> Any:
        return iter(["other"])


class WithReferences(hot_template.HOTemplate20180831):
    functions = {"refers": Refers}


_JOIN: Any = hot_template.HOTemplate20180831.functions["list_join"]


class Longer(_JOIN):  # type: ignore[misc]
    """Extends a function of HOT."""


class WithExtension(hot_template.HOTemplate20180831):
    functions = {"list_join": Longer}
