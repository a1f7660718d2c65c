"""Functions that only CloudFormation templates have, and those to which AWS passes numbers and booleans as strings."""

from __future__ import annotations

import re
from typing import Any

from stoker.template.expressions import Evaluation, Expression, items_of
from stoker.template.functions.base import Function, is_list_of_strings, scalar_as_text, variant
from stoker.template.functions.conditions import Equals
from stoker.template.functions.join import ListJoin
from stoker.template.functions.split import FnSplit

_MEMBER = re.compile(r"\.member\.(\d+)\.([^=]+)=(.*)\Z", re.DOTALL)


@variant("Fn::Base64/1")
class FnBase64(Function):
    """A string, unchanged: the compute service's client does the encoding."""

    __slots__ = ()

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        if not isinstance(arguments, str):
            raise self.wrong_type("takes a string")
        return arguments


@variant("Fn::Base64/2")
class FnBase64OfScalar(FnBase64):
    """A string, unchanged: the compute service's client does the encoding."""

    __slots__ = ()

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        return super().apply(scalar_as_text(arguments), evaluation)


@variant("Fn::Join/1")
class FnJoin(ListJoin):
    """The strings of a list, which may be numbers or booleans, with a delimiter between them."""

    __slots__ = ()

    def text(self, item: object, evaluation: Evaluation) -> str:
        return super().text(scalar_as_text(item), evaluation)


@variant("Fn::Split/2")
class FnSplitOfScalar(FnSplit):
    """The pieces of a string between delimiters; takes the delimiter and the string."""

    __slots__ = ()

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        return super().apply([scalar_as_text(item) for item in arguments], evaluation)


@variant("Fn::Equals/1")
class FnEquals(Equals):
    """Whether two values are equal; takes the two values, of which numbers and booleans count as strings."""

    __slots__ = ()

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        return super().apply([scalar_as_text(item) for item in arguments], evaluation)


@variant("Fn::GetAZs/1")
class FnGetAZs(Function):
    """The names of the compute service's availability zones; the argument, a region, is ignored."""

    __slots__ = ()

    accepts_unknown = True

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        return evaluation.tracked(evaluation.scope.availability_zones())


@variant("Fn::MemberListToMap/1")
class FnMemberListToMap(Function):
    """A map from a list of `.member.N.key=value` strings; takes the names of key and value, and the list."""

    __slots__ = ()

    def problem(self, arguments: object) -> str | None:
        items = items_of(arguments)
        if items is None or len(items) != 3:
            return "takes a list of three: two names and a list of '.member.N.name=value' strings"
        if not all(isinstance(name, str | Expression) for name in items[:2]):
            return "the first two arguments must be strings"
        return None

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        key_name, value_name, members = arguments
        if not is_list_of_strings(members):
            raise self.wrong_type("the third argument must be a list of strings")
        groups: dict[str, dict[str, str]] = {}
        for member in members:
            match = _MEMBER.match(member)
            if match is None:
                raise self.wrong(f"{member!r} does not look like '.member.0.name=value'")
            number, name, value = match.groups()
            groups.setdefault(number, {})[name] = value
        return {
            group[key_name]: group[value_name] for group in groups.values() if key_name in group and value_name in group
        }
