"""Convert CloudFormation's functions to HOT."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from stoker.authoring.convert.walker import NotExpressible, Translate, Walker, is_call, items, renamed
from stoker.base.diagnostics import Path
from stoker.template.parameter_types import BOOLEAN, COMMA_DELIMITED_LIST, JSON, NUMBER
from stoker.template.template import Template

_PSEUDO = {"AWS::StackName": "OS::stack_name", "AWS::AccountId": "OS::project_id"}
_FACADE = {"Metadata": "metadata", "DeletionPolicy": "deletion_policy", "UpdatePolicy": "update_policy"}
_NO_VALUE = {"Ref": "AWS::NoValue"}
_SUB_PLACE = re.compile(r"\$\{([^}]*)\}")


def mapping_parameter(template: Template, mapping: str) -> str:
    """Return the name of the json parameter for a mapping: its own name unless that is already used."""
    taken = {*template.parameters, *template.resources}
    return f"{mapping}_mapping" if mapping in taken else mapping


def _ref(walker: Walker, name: object, path: Path) -> object:
    template = walker.template
    if name in template.resources:
        return walker.made("get_resource", name)
    if name in template.parameters:
        return walker.made("get_param", name)
    if name in _PSEUDO:
        return walker.made("get_param", _PSEUDO[name])
    if isinstance(name, str) and not name.startswith("AWS::"):
        raise NotExpressible(f"the template has no parameter or resource {name!r}")
    raise NotExpressible(f"HOT has no equivalent of {name}")


def _get_att(walker: Walker, arguments: object, path: Path) -> object:
    if isinstance(arguments, str):
        return walker.made("get_attr", arguments.split(".", 1))
    return walker.made("get_attr", walker.value(items(arguments, 2), path))


def _find_in_map(walker: Walker, arguments: object, path: Path) -> object:
    mapping, *keys = items(arguments, 3)
    if not isinstance(mapping, str):
        raise NotExpressible("the name of the mapping is computed by another function")
    for key in keys:
        if isinstance(key, Mapping) and _parameter_type(walker, key.get("Ref")) is NUMBER:
            raise NotExpressible("the key is a number, but the keys of HOT's maps are strings")
    texts = [str(key) if isinstance(key, int) else walker.value(key, (*path, i)) for i, key in enumerate(keys, 1)]
    return walker.made("get_param", [mapping_parameter(walker.template, mapping), *texts])


def _parameter_type(walker: Walker, name: object) -> Any:
    schema = walker.template.parameters.get(name) if isinstance(name, str) else None
    return schema.type if schema else None


def _select(walker: Walker, arguments: object, path: Path) -> object:
    index, collection = items(arguments, 2)
    if isinstance(collection, list) and _to_int(index) is not None:
        number = int(index)
        return (
            walker.value(collection[number], (*path, 1, number)) if -len(collection) <= number < len(collection) else ""
        )
    if isinstance(collection, Mapping) and len(collection) == 1:
        ((name, inner),) = collection.items()
        kind = _parameter_type(walker, inner) if name == "Ref" else None
        if kind is JSON or (kind is not None and kind.hot == COMMA_DELIMITED_LIST.hot):
            return walker.made("get_param", [inner, walker.value(index, (*path, 0))])
        if name in ("Fn::GetAtt", "Fn::Select", "Fn::FindInMap"):
            return _deeper(walker, index, walker.value(collection, (*path, 1)), path)
        if name == "Fn::Split" and isinstance(inner, list):
            below = (*path, 1, name)
            return walker.made("str_split", [*walker.value(inner, below), walker.value(index, (*path, 0))])
    raise NotExpressible("HOT can select items only of parameters, attributes and split strings")


def _deeper(walker: Walker, index: object, collection: object, path: Path) -> object:
    """Add a key to the path into the value of a parameter or attribute."""
    ((name, arguments),) = collection.items() if isinstance(collection, Mapping) else ((None, None),)
    if name not in ("get_attr", "get_param") or not isinstance(arguments, list):
        raise NotExpressible("HOT can select items only of parameters, attributes and split strings")
    # List indexes are strings in CloudFormation; get_attr requires numbers.
    number = _to_int(index)
    return {name: [*arguments, walker.value(index, (*path, 0)) if number is None else number]}


def _to_int(index: object) -> int | None:
    try:
        return int(index) if isinstance(index, str | int) else None
    except ValueError:
        return None


def _replace(walker: Walker, arguments: object, path: Path) -> object:
    params, text = items(arguments, 2)
    converted = {"template": walker.value(text, (*path, 1)), "params": walker.value(params, (*path, 0))}
    return walker.made("str_replace", converted)


def _sub(walker: Walker, arguments: object, path: Path) -> object:
    text, variables = (arguments, {}) if isinstance(arguments, str) else items(arguments, 2)
    places = {found: f"${{{found}}}" for found in _SUB_PLACE.findall(text[: text.rfind("}") + 1])}
    if not places:
        return text
    params = {written: _filling(walker, name, variables, path) for name, written in places.items()}
    return walker.made("str_replace", {"template": text, "params": params})


def _filling(walker: Walker, place: str, variables: Mapping[str, object], path: Path) -> object:
    if place.startswith("!"):
        return f"${{{place[1:]}}}"
    name = place.strip()
    if name in variables:
        return walker.value(variables[name], (*path, 1, name))
    if _parameter_type(walker, name) is BOOLEAN:
        raise NotExpressible(f"{name} is a boolean, which the two dialects convert to different strings")
    return _get_att(walker, name, path) if "." in name else _ref(walker, name, path)


def _if(walker: Walker, arguments: object, path: Path) -> object:
    condition, yes, no = items(arguments, 3)
    converted = walker.condition(condition, (*path, 0))
    if no == _NO_VALUE:
        return walker.made("if", [converted, walker.value(yes, (*path, 1))])
    if yes == _NO_VALUE:
        return walker.made("if", [{"not": converted}, walker.value(no, (*path, 2))])
    return walker.made("if", [converted, walker.value(yes, (*path, 1)), walker.value(no, (*path, 2))])


def _not(walker: Walker, arguments: object, path: Path) -> object:
    return walker.made("not", walker.value(items(arguments, 1)[0], (*path, 0)))


def _named_condition(walker: Walker, name: object, path: Path) -> object:
    return name


def _facade(walker: Walker, part: object, path: Path) -> object:
    if part not in _FACADE:
        raise NotExpressible("the resource or attribute is computed by another function")
    return walker.made("resource_facade", _FACADE[part])


def _base64(walker: Walker, text: object, path: Path) -> object:
    """Return the string unchanged: the compute service's client encodes it in both dialects."""
    if not isinstance(text, str) and not is_call(walker, text):
        raise NotExpressible("takes a string")
    return walker.value(text, path)


def _impossible(walker: Walker, arguments: object, path: Path) -> object:
    raise NotExpressible(f"HOT has no equivalent of {path[-1]}")


CALLS: Mapping[str, Translate] = {
    "Condition": _named_condition,
    "Fn::And": renamed("and"),
    "Fn::Base64": _base64,
    "Fn::Cidr": _impossible,
    "Fn::Equals": renamed("equals"),
    "Fn::FindInMap": _find_in_map,
    "Fn::GetAZs": _impossible,
    "Fn::GetAtt": _get_att,
    "Fn::If": _if,
    "Fn::ImportValue": _impossible,
    "Fn::Join": renamed("list_join"),
    "Fn::Length": _impossible,
    "Fn::MemberListToMap": _impossible,
    "Fn::Not": _not,
    "Fn::Or": renamed("or"),
    "Fn::Replace": _replace,
    "Fn::ResourceFacade": _facade,
    "Fn::Select": _select,
    "Fn::Split": renamed("str_split"),
    "Fn::Sub": _sub,
    "Fn::ToJsonString": _impossible,
    "Ref": _ref,
}
