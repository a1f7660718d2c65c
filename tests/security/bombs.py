"""Costly templates: one for every function, for every parser, and for every property that is a size.

Each is plain data or text of a template; those for functions are keyed by the functions' variants.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

LONG = "x" * 100_000
WIDE = "\U0001f4a3" * 25_000
COMMAS = "ab," * 80_000
MANY = ["ab"] * 5_000
PAIRS = [{f"k{n}": n} for n in range(5_000)]

Template = str | dict[str, Any]


def hot(value: Any, resources: int = 1, **sections: Any) -> dict[str, Any]:
    """A template with a value in resources, and in an output."""
    return {
        "heat_template_version": "2021-04-16",
        **sections,
        "resources": {f"r{n}": {"type": "OS::Heat::Value", "properties": {"value": value}} for n in range(resources)},
        "outputs": {"o": {"value": value}},
    }


def aws(value: Any, **sections: Any) -> dict[str, Any]:
    """The same in CloudFormation's form, with everything that transforms bring."""
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Transform": "AWS::LanguageExtensions",
        **sections,
        "Resources": {"r": {"Type": "OS::Heat::Value", "Properties": {"value": value}}},
        "Outputs": {"o": {"Value": value}},
    }


def cfn(value: Any) -> dict[str, Any]:
    """The same in Heat's own version of CloudFormation's form."""
    return {
        "HeatTemplateFormatVersion": "2012-12-12",
        "Resources": {"r": {"Type": "OS::Heat::Value", "Properties": {"value": value}}},
        "Outputs": {"o": {"Value": value}},
    }


def nested(levels: int, wrap: Any, value: Any) -> Any:
    """`value` wrapped again and again."""
    for _ in range(levels):
        value = wrap(value)
    return value


def _condition(condition: Any) -> dict[str, Any]:
    return hot({"if": ["c", LONG, "b"]}, conditions={"c": condition})


def _aws_condition(condition: Any) -> dict[str, Any]:
    return aws({"Fn::If": ["C", LONG, "b"]}, Conditions={"D": {"Fn::Equals": [LONG, LONG]}, "C": condition})


def _rule(assertion: Any) -> dict[str, Any]:
    parameters = {
        "P": {"Type": "CommaDelimitedList", "Default": COMMAS[:4_000]},
        "S": {"Type": "String", "Default": "a"},
    }
    return aws("x", Parameters=parameters, Rules={"R": {"Assertions": [{"Assert": assertion}]}})


def _replace(name: str) -> dict[str, Any]:
    def wrap(value: Any) -> Any:
        return {name: {"template": "a" * 20, "params": {"a": value}}}

    return hot(nested(6, wrap, "ab" * 100))


_REPEAT = {"template": {"%a%": "%a%%b%" * 10}, "for_each": {"%a%": ["y" * 300] * 140, "%b%": ["z" * 300] * 140}}
_JOINED = {"list_join": ["," * 100, MANY]}

FUNCTIONS: Mapping[str, Template] = {
    "Condition/1": _aws_condition({"Condition": "D"}),
    "Fn::Base64/1": cfn(nested(90, lambda value: {"Fn::Base64": value}, LONG)),
    "Fn::Base64/2": aws(
        [{"Fn::Base64": {"Ref": "P"}}] * 5_000, Parameters={"P": {"Type": "Number", "Default": 10**4_000}}
    ),
    "Fn::Cidr/1": aws(nested(3, lambda value: {"Fn::Join": ["", {"Fn::Cidr": [value, 256, 1]}]}, "10.0.0.0/8")),
    "Fn::Contains/1": _rule({"Fn::Contains": [MANY, "b"]}),
    "Fn::EachMemberEquals/1": _rule({"Fn::EachMemberEquals": [MANY, "ab"]}),
    "Fn::EachMemberIn/1": _rule({"Fn::EachMemberIn": [MANY, [str(n) for n in range(10_000)] + ["ab"]]}),
    "Fn::Equals/1": _aws_condition({"Fn::Equals": [MANY, [*MANY, "b"]]}),
    "Fn::FindInMap/1": aws({"Fn::FindInMap": ["M", "a", "b"]}, Mappings={"M": {"a": {"b": MANY}}}),
    "Fn::FindInMap/2": aws({"Fn::FindInMap": ["M", "a", "c", {"DefaultValue": MANY}]}, Mappings={"M": {"a": {"b": 1}}}),
    "Fn::GetAZs/1": aws([{"Fn::GetAZs": ""}] * 10_000),
    "Fn::GetAtt/1": aws([{"Fn::GetAtt": ["r", "value"]}] * 5_000),
    "Fn::GetAtt/2": aws([{"Fn::GetAtt": "r.value"}] * 5_000),
    "Fn::ImportValue/1": aws([{"Fn::ImportValue": "nothing"}] * 7_000),
    "Fn::Join/1": aws({"Fn::Join": [LONG, [7] * 5_000]}),
    "Fn::Length/1": aws({"Fn::Length": {"Fn::Split": [",", COMMAS]}}),
    "Fn::MemberListToMap/1": {
        "HeatTemplateFormatVersion": "2012-12-12",
        "Resources": {
            "r": {
                "Type": "OS::Heat::Value",
                "Properties": {
                    "value": {"Fn::MemberListToMap": ["k", "v", [f".member.{n}.k={n}" for n in range(10_000)]]}
                },
            }
        },
    },
    "Fn::Not/1": _aws_condition(nested(90, lambda value: {"Fn::Not": [value]}, {"Condition": "D"})),
    "Fn::RefAll/1": _rule({"Fn::EachMemberIn": [{"Fn::RefAll": "CommaDelimitedList"}, MANY]}),
    "Fn::Replace/1": {
        "HeatTemplateFormatVersion": "2012-12-12",
        "Resources": {
            "r": {
                "Type": "OS::Heat::Value",
                "Properties": {"value": nested(6, lambda value: {"Fn::Replace": [{"a": value}, "a" * 20]}, "ab" * 100)},
            }
        },
    },
    "Fn::ResourceFacade/1": {
        "HeatTemplateFormatVersion": "2012-12-12",
        "Outputs": {"o": {"Value": [{"Fn::ResourceFacade": "Metadata"}] * 10_000}},
    },
    "Fn::Select/1": aws(nested(5, lambda value: {"Fn::Select": ["0", value]}, "[" + "[]," * 80_000 + "[]]")),
    "Fn::Split/1": cfn({"Fn::Split": [",", COMMAS[:200_000]]}),
    "Fn::Split/2": aws(nested(20, lambda value: {"Fn::Join": ["1", {"Fn::Split": [1, value]}]}, "1" * 100_000)),
    "Fn::Sub/1": aws(nested(9, lambda value: {"Fn::Sub": ["${a}" * 10, {"a": value}]}, "0123456789")),
    "Fn::ToJsonString/1": aws(nested(40, lambda value: {"Fn::ToJsonString": [value]}, '"\\')),
    "Fn::ValueOf/1": _rule({"Fn::Contains": [MANY, {"Fn::ValueOf": ["S", "DefaultTags"]}]}),
    "Fn::ValueOfAll/1": _rule({"Fn::EachMemberIn": [{"Fn::ValueOfAll": ["String", "Tags"]}, MANY]}),
    "Ref/1": {
        "HeatTemplateFormatVersion": "2012-12-12",
        "Parameters": {"P": {"Type": "String", "Default": LONG}},
        "Outputs": {"o": {"Value": [{"Ref": "P"}] * 10_000}},
    },
    "Ref/2": aws([{"Ref": "P"}] * 10_000, Parameters={"P": {"Type": "CommaDelimitedList", "Default": COMMAS[:40_000]}}),
    "Ref/param": _aws_condition({"Fn::Equals": [[{"Ref": "P"}] * 1_000, 1]})
    | {"Parameters": {"P": {"Type": "String", "Default": LONG}}},
    "and/1": _condition({"and": [{"equals": [MANY, MANY]}] * 4}),
    "contains/1": _condition({"contains": ["b", MANY]}),
    "digest/1": hot({"digest": ["sha512", _JOINED]}, 12),
    "equals/1": _condition({"equals": [MANY, [*MANY, "b"]]}),
    "filter/1": hot({"filter": [[str(n) for n in range(5_000)], MANY]}),
    "get_attr/1": {
        **hot([{"get_attr": ["r0", "value", n]} for n in range(5_000)]),
        "heat_template_version": "2013-05-23",
    },
    "get_attr/2": {
        **hot([{"get_attr": ["r0", "value", n]} for n in range(5_000)]),
        "heat_template_version": "2014-10-16",
    },
    "get_attr/3": hot([{"get_attr": ["r0", "value", n]} for n in range(5_000)]),
    "get_file/1": hot([{"get_file": "nothing"}] * 10_000),
    "get_param/1": hot(
        [{"get_param": "p"}] * 100, 100, parameters={"p": {"type": "json", "default": dict.fromkeys(MANY[:1], MANY)}}
    ),
    "get_resource/1": hot([{"get_resource": "r0"}] * 10_000),
    "if/1": {**hot({"if": [True, MANY, "b"]}), "heat_template_version": "2016-10-14"},
    "if/2": hot([{"if": [True, _JOINED]}] * 4),
    "list_concat/1": hot(nested(11, lambda value: {"list_concat": [value, value]}, ["ab"] * 10)),
    "list_concat_unique/1": hot({"list_concat_unique": [PAIRS, PAIRS]}),
    "list_join/1": {**hot({"list_join": [LONG, ["a"] * 5_000]}), "heat_template_version": "2014-10-16"},
    "list_join/2": hot(nested(7, lambda value: {"list_join": ['"\\', [[value], [value, value]]]}, '"\\' * 10)),
    "make_url/1": hot(nested(30, lambda value: {"make_url": {"host": "a", "path": value}}, "%" * 1_000)),
    "map_merge/1": hot([{"map_merge": PAIRS}] * 3),
    "map_replace/1": hot([{"map_replace": [{"a": "b"}, {"values": {str(n): n for n in range(5_000)}}]}] * 3),
    "not/1": _condition(nested(90, lambda value: {"not": value}, {"equals": [MANY, MANY]})),
    "or/1": _condition({"or": [{"equals": [MANY, LONG]}] * 2}),
    "repeat/1": {**hot({"repeat": _REPEAT}), "heat_template_version": "2015-10-15"},
    "repeat/2": {**hot({"repeat": _REPEAT}), "heat_template_version": "2016-10-14"},
    "repeat/3": hot({"repeat": _REPEAT}),
    "resource_facade/1": hot([{"resource_facade": "metadata"}] * 7_000),
    "str_replace/1": {**_replace("str_replace"), "heat_template_version": "2013-05-23"},
    "str_replace/2": _replace("str_replace"),
    "str_replace_strict/1": _replace("str_replace_strict"),
    "str_replace_vstrict/1": _replace("str_replace_vstrict"),
    "str_split/1": hot({"str_split": [",", COMMAS]}),
    "yaql/1": hot(
        {"yaql": {"expression": "range(100).select(range(100).sum()).sum() + $.data.len()", "data": ["a"] * 20}}, 900
    ),
}

_TEN = ", ".join("*a{0}" for _ in range(10))
_HOT = "heat_template_version: 2021-04-16\n"


def _aliases() -> str:
    levels = "".join(f"  a{n + 1}: &a{n + 1} [{_TEN.format(n)}]\n" for n in range(9))
    return f"{_HOT}x:\n  a0: &a0 [lol]\n{levels}"


PARSERS: Mapping[str, Template] = {
    "aliases": _aliases(),
    "sexagesimal integers": f"{_HOT}x: 1{':59' * 100_000}\n",
    "sexagesimal floats": f"{_HOT}x: 1{':59' * 100_000}.5\n",
    "digits": f"{_HOT}x: {'9' * 500_000}\n",
    "hexadecimal digits": f"{_HOT}x: 0x{'f' * 400_000}\n",
    "underscores": f"{_HOT}x: 1{'_' * 500_000}x\n",
    "nesting": _HOT + "x: " + "[" * 400_000,
    "small values": _HOT + "x: [" + "a," * 250_000 + "]\n",
    "small maps": _HOT + "x: [" + "{a: {}}," * 60_000 + "]\n",
    "merge keys": _HOT + "x: &m {a: 1}\ny:\n" + "".join(f"  k{n}: {{<<: *m}}\n" for n in range(20_000)),
    "calls": _HOT + "outputs: {o: {value: [" + "{get_param: a}," * 30_000 + "]}}\n",
    "aliases of calls": _HOT
    + "outputs:\n  o:\n    value:\n    - &c ["
    + "{get_param: a}," * 1_000
    + "]\n"
    + "    - *c\n" * 200,
    "JSON": json.dumps(hot([[[]]] * 40_000)),
    "JSON nesting": '{"heat_template_version": "2021-04-16", "x": ' + "[" * 400_000,
    "JSON parameter": hot("x", parameters={"p": {"type": "json", "default": "[" + "[]," * 150_000 + "[]]"}}),
    "list parameter": hot("x", parameters={"p": {"type": "comma_delimited_list", "default": "," * 450_000}}),
    "loops": aws(
        "x",
        **{
            "Conditions": {
                "Fn::ForEach::A": [
                    "A",
                    [str(n) for n in range(140)],
                    {
                        "Fn::ForEach::B": [
                            "B",
                            [str(n) for n in range(140)],
                            {"C${A}x${B}": {"Fn::Equals": [LONG, "${A}"]}},
                        ]
                    },
                ]
            }
        },
    ),
    "a pattern that doubles": hot(
        "x",
        parameters={
            "p": {
                "type": "string",
                "default": "a" * 5_000,
                "constraints": [{"allowed_pattern": "((((a{1000}){1000}){1000}){1000})"}],
            }
        },
    ),
    "a pattern that backtracks": hot(
        "x",
        parameters={
            f"p{n}": {
                "type": "string",
                "default": "a" * 60 + "b",
                "constraints": [{"allowed_pattern": r"(?=a)(?:a|aa)+$", "description": "x"}],
            }
            for n in range(50)
        },
    ),
    "a yaql expression": hot({"yaql": {"expression": "1" + " + 1" * 60_000}}),
    "yaql expressions": hot([{"yaql": {"expression": f"{n}" + " + 1" * 4_900}} for n in range(12)]),
    "more yaql expressions": hot([{"yaql": {"expression": f"{n}" + " - 1" * 4_900}} for n in range(12)]),
    "yaql lists of lists": hot(
        {"yaql": {"expression": f"let(x => [1] * 190) -> {'let(x => [$x] * 190) -> ' * 4}str($x)", "data": {}}}
    ),
    "yaql replacements": hot(
        {
            "yaql": {
                "expression": "$.data.text.replace({a => $.data.more, b => $.data.most})",
                "data": {"text": "a" * 200, "more": "b" * 9_500, "most": "c" * 9_500},
            }
        }
    ),
    "a yaql pattern": hot({"yaql": {"expression": "regex('((((a{1000}){1000}){1000}){1000})').search('aaaa')"}}),
    "wide characters": hot({"list_join": [WIDE, ["a"] * 300]}, 2),
}


def _group(type_name: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "heat_template_version": "2021-04-16",
        "resources": {"g": {"type": type_name, "properties": properties}},
    }


_MEMBER = {"type": "OS::Heat::Value", "properties": {"value": "%index%"}}
SIZES: Mapping[str, Template] = {
    "count": _group("OS::Heat::ResourceGroup", {"count": 10**9, "resource_def": _MEMBER}),
    "count of much": _group(
        "OS::Heat::ResourceGroup",
        {"count": 900, "resource_def": {"type": "OS::Heat::Value", "properties": {"value": "%index%" * 7_000}}},
    ),
    "desired_capacity": _group(
        "OS::Heat::AutoScalingGroup",
        {"min_size": 0, "max_size": 10**9, "desired_capacity": 10**9, "resource": _MEMBER},
    ),
    "min_size": _group("OS::Heat::AutoScalingGroup", {"min_size": 10**8, "max_size": 10**9, "resource": _MEMBER}),
    "groups of groups": _group(
        "OS::Heat::ResourceGroup",
        {
            "count": 1000,
            "resource_def": {
                "type": "OS::Heat::ResourceGroup",
                "properties": {"count": 1000, "resource_def": _MEMBER},
            },
        },
    ),
    "length": _group("OS::Heat::RandomString", {"length": 10**9}),
}


def hiding(secrets: Any, number: int) -> dict[str, Any]:
    """A template that hides strings, and shows long other ones. Each number makes them different."""
    return hot(
        [LONG, f"{number}"],
        parameters={"p": {"type": "json", "hidden": True, "default": {"number": f"number {number}", "all": secrets}}},
        outputs={"o": {"value": {"get_param": "p"}}},
    )


SECRETS: Mapping[str, Any] = {
    "many": [f"{n:08x}" for n in range(30_000)],
    "one that JSON and URLs write far longer": 'é"\\/' * 60_000,
    "many with one beginning": ["a" * 60 + f"{n:06x}" for n in range(5_000)],
    "each the beginning of the next": ["a" * length for length in range(4, 800)],
}

ALL: Mapping[str, Template] = {
    **{f"function {name}": template for name, template in FUNCTIONS.items()},
    **{f"parser: {name}": template for name, template in PARSERS.items()},
    **{f"size: {name}": template for name, template in SIZES.items()},
}
