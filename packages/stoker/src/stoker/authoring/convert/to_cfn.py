"""Convert HOT's functions to CloudFormation."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.authoring.convert.parameters import MAPPING_TAG
from stoker.authoring.convert.walker import NotExpressible, Translate, Walker, is_call, items, renamed
from stoker.base.diagnostics import Path
from stoker.template.parameter import ParameterSchema
from stoker.template.parameter_types import COMMA_DELIMITED_LIST, JSON

_PSEUDO = {"OS::stack_name": "AWS::StackName", "OS::project_id": "AWS::AccountId"}
_FACADE = {"metadata": "Metadata", "deletion_policy": "DeletionPolicy", "update_policy": "UpdatePolicy"}


def _get_param(walker: Walker, arguments: object, path: Path) -> object:
    name, *keys = arguments if isinstance(arguments, list) and arguments else [arguments]
    if not isinstance(name, str):
        raise NotExpressible("the name of the parameter is computed by another function")
    schema = walker.template.parameters.get(name)
    if schema is None and name not in _PSEUDO:
        if not name.startswith("OS::"):
            raise NotExpressible(f"the template has no parameter {name!r}")
        raise NotExpressible(f"CloudFormation has no equivalent of {name}")
    if schema is not None and is_mapping(schema):
        return _find_in_map(walker, name, keys, path)
    if keys and (schema is None or schema.type.hot not in (JSON.hot, COMMA_DELIMITED_LIST.hot)):
        raise NotExpressible(f"{name} is neither a list nor a map")
    return _within(walker, walker.made("Ref", _PSEUDO.get(name, name)), keys, path)


def is_mapping(schema: ParameterSchema) -> bool:
    """Return whether a parameter was converted from a mapping of CloudFormation."""
    return MAPPING_TAG in schema.tags and schema.type is JSON and isinstance(schema.default, Mapping)


def _find_in_map(walker: Walker, mapping: str, keys: list[object], path: Path) -> object:
    if len(keys) < 2:
        raise NotExpressible(f"{mapping} is a mapping, in which a value has two keys")
    first, second = walker.value(keys[:2], path)
    return _within(walker, walker.made("Fn::FindInMap", [mapping, first, second]), keys[2:], path)


def _within(walker: Walker, value: object, keys: list[object], path: Path) -> object:
    """Return the value at the keys and indexes, with one Fn::Select for each."""
    for number, key in enumerate(keys):
        index = str(key) if isinstance(key, int) else walker.value(key, (*path, number))
        value = walker.made("Fn::Select", [index, value])
    return value


def _get_resource(walker: Walker, name: object, path: Path) -> object:
    return walker.made("Ref", walker.value(name, path))


def _get_attr(walker: Walker, arguments: object, path: Path) -> object:
    if not isinstance(arguments, list) or len(arguments) < 2:
        raise NotExpressible("CloudFormation cannot get all attributes at once")
    resource, attribute, *keys = arguments
    return _within(walker, walker.made("Fn::GetAtt", walker.value([resource, attribute], path)), keys, path)


def _list_join(walker: Walker, arguments: object, path: Path) -> object:
    delimiter, *lists = arguments if isinstance(arguments, list) and len(arguments) > 1 else items(arguments, 2)
    if any(not is_call(walker, item) and isinstance(item, list | Mapping) for part in lists for item in _written(part)):
        raise NotExpressible("CloudFormation joins strings only, not lists and maps")
    if len(lists) == 1:
        return walker.made("Fn::Join", [delimiter, walker.value(lists[0], (*path, 1))])
    if not all(isinstance(part, list) for part in lists):
        raise NotExpressible("CloudFormation joins one list only")
    joined = [item for index, part in enumerate(lists, 1) for item in walker.value(part, (*path, index))]
    return walker.made("Fn::Join", [delimiter, joined])


def _written(part: object) -> list[object]:
    return part if isinstance(part, list) else []


def _str_replace(walker: Walker, arguments: object, path: Path) -> object:
    if not isinstance(arguments, Mapping) or not isinstance(arguments.get("params"), Mapping):
        raise NotExpressible("its arguments are computed by another function")
    params = arguments["params"]
    if not is_call(walker, params) and any(
        isinstance(value, list | Mapping) and not is_call(walker, value) for value in params.values()
    ):
        raise NotExpressible("CloudFormation replaces by strings only, not by lists and maps")
    converted = [walker.value(params, (*path, "params")), walker.value(arguments["template"], (*path, "template"))]
    return walker.made("Fn::Replace", converted)


def _str_split(walker: Walker, arguments: object, path: Path) -> object:
    delimiter, text, *index = items(arguments, 2, 3)
    split = walker.made("Fn::Split", walker.value([delimiter, text], path))
    return _within(walker, split, index, path)


def _if(walker: Walker, arguments: object, path: Path) -> object:
    condition, yes, *no = items(arguments, 2, 3)
    converted = [walker.condition(condition, (*path, 0)), walker.value(yes, (*path, 1))]
    otherwise = walker.value(no[0], (*path, 2)) if no else {"Ref": "AWS::NoValue"}
    return walker.made("Fn::If", [*converted, otherwise])


def _not(walker: Walker, condition: object, path: Path) -> object:
    return walker.made("Fn::Not", [_operand(walker, condition, path)])


def _connective(name: str) -> Translate:
    def translate(walker: Walker, arguments: object, path: Path) -> object:
        if not isinstance(arguments, list):
            raise NotExpressible("its arguments are computed by another function")
        return walker.made(name, [_operand(walker, item, (*path, index)) for index, item in enumerate(arguments)])

    return translate


def _operand(walker: Walker, condition: object, path: Path) -> object:
    """Return a condition inside another; AWS requires a function for its name."""
    return walker.made("Condition", condition) if isinstance(condition, str) else walker.value(condition, path)


def _facade(walker: Walker, part: object, path: Path) -> object:
    if part not in _FACADE:
        raise NotExpressible("the resource or attribute is computed by another function")
    return walker.made("Fn::ResourceFacade", _FACADE[part])


def _impossible(walker: Walker, arguments: object, path: Path) -> object:
    raise NotExpressible(f"CloudFormation has no equivalent of {path[-1]}")


CALLS: Mapping[str, Translate] = {
    **dict.fromkeys(
        (
            "contains",
            "digest",
            "filter",
            "get_file",
            "list_concat",
            "list_concat_unique",
            "make_url",
            "map_merge",
            "map_replace",
            "repeat",
            "str_replace_strict",
            "str_replace_vstrict",
            "yaql",
        ),
        _impossible,
    ),
    "and": _connective("Fn::And"),
    "equals": renamed("Fn::Equals"),
    "get_attr": _get_attr,
    "get_param": _get_param,
    "get_resource": _get_resource,
    "if": _if,
    "list_join": _list_join,
    "not": _not,
    "or": _connective("Fn::Or"),
    "resource_facade": _facade,
    "str_replace": _str_replace,
    "str_split": _str_split,
}
