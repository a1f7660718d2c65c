"""The sections, keys, functions and condition functions of each template version: one table.

A HOT version is its predecessor with changes. Functions map the name that templates use to a variant in
`stoker.template.functions`. `tests/parity/test_tables.py` compares the table with Heat's. Packages offer further
versions by entry points in the group `stoker.template_versions`: iterables of `Version` objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from stoker.base.extensions import Offer, PluginInvalid, offers, remembered, twice
from stoker.template.document import VERSION_KEYS
from stoker.template.functions.base import Function
from stoker.template.functions.registered import functions
from stoker.template.parameter_types import BY_AWS_NAME, BY_CFN_NAME, BY_HOT_NAME, ParameterType
from stoker.template.transfers import TRANSFERS

GROUP = "stoker.template_versions"


@dataclass(frozen=True, slots=True)
class Dialect:
    """The names of sections and keys in one family of formats: HOT's name → the format's name."""

    name: str
    sections: Mapping[str, str]
    resource_keys: Mapping[str, str]
    output_keys: Mapping[str, str]
    parameter_function: str = "get_param"
    unknown_resource_keys_allowed: bool = False
    pseudo_parameters: tuple[str, ...] = ()


HOT = Dialect(
    name="hot",
    sections={
        name: name for name in ("description", "parameter_groups", "parameters", "resources", "outputs", "conditions")
    },
    resource_keys={
        name: name
        for name in (
            "type",
            "properties",
            "metadata",
            "depends_on",
            "deletion_policy",
            "update_policy",
            "description",
            "external_id",
            "condition",
            "ignore_drift",
        )
    },
    output_keys={name: name for name in ("description", "value", "condition")},
    pseudo_parameters=("OS::stack_id", "OS::stack_name", "OS::project_id", "OS::region"),
)

CFN = Dialect(
    name="cfn",
    sections={
        "description": "Description",
        "mappings": "Mappings",
        "parameters": "Parameters",
        "resources": "Resources",
        "outputs": "Outputs",
        "conditions": "Conditions",
    },
    resource_keys={
        "type": "Type",
        "properties": "Properties",
        "metadata": "Metadata",
        "depends_on": "DependsOn",
        "deletion_policy": "DeletionPolicy",
        "update_policy": "UpdatePolicy",
        "description": "Description",
        "condition": "Condition",
        "ignore_drift": "IgnoreDrift",
    },
    output_keys={"description": "Description", "value": "Value", "condition": "Condition"},
    parameter_function="Ref",
    unknown_resource_keys_allowed=True,
    pseudo_parameters=("AWS::StackId", "AWS::StackName", "AWS::Region"),
)


AWS = replace(
    CFN,
    resource_keys={
        **CFN.resource_keys,
        "creation_policy": "CreationPolicy",
        "update_replace_policy": "UpdateReplacePolicy",
    },
    sections={**CFN.sections, "rules": "Rules", "transform": "Transform"},
    output_keys={**CFN.output_keys, "export": "Export"},
    pseudo_parameters=(*CFN.pseudo_parameters, "AWS::AccountId", "AWS::Partition", "AWS::URLSuffix"),
)
"""CloudFormation templates as AWS defines them now; Heat supports a part of them."""


RETAIN_EXCEPT_ON_CREATE = "RetainExceptOnCreate"
"""The deletion policy that deletes what was never in use: see AWS's reference of the attribute DeletionPolicy."""


@dataclass(frozen=True, slots=True)
class Version:
    """One template format. Names in `sections`, `resource_keys` and `output_keys` are the template's own.

    `rule_functions` are those of the Rules section. `extended_functions` and `extended_condition_functions` are
    available if the template names a transform of `transforms`; `unsupported_functions` maps names to hints what to do
    instead.
    """

    key: str
    value: str
    dialect: Dialect
    aliases: tuple[str, ...] = ()
    sections: frozenset[str] = frozenset()
    resource_keys: frozenset[str] = frozenset()
    output_keys: frozenset[str] = frozenset()
    parameter_keys: frozenset[str] = frozenset()
    parameter_constraints: frozenset[str] = frozenset()
    deletion_policies: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, str] = field(default_factory=dict)
    condition_functions: Mapping[str, str] = field(default_factory=dict)
    removed_functions: frozenset[str] = frozenset()
    parameter_types: Mapping[str, ParameterType] = field(default_factory=lambda: BY_HOT_NAME)
    transforms: frozenset[str] = frozenset()
    transformed: bool = False
    extended_functions: Mapping[str, str] = field(default_factory=dict)
    extended_condition_functions: Mapping[str, str] = field(default_factory=dict)
    unsupported_functions: Mapping[str, str] = field(default_factory=dict)
    rule_functions: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The version as the API lists it."""
        return f"{self.key}.{self.value}"

    @property
    def replace_policies(self) -> Mapping[str, str]:
        """The update replace policies: the deletion policies but the one that depends on who created the object."""
        return {name: policy for name, policy in self.deletion_policies.items() if policy != RETAIN_EXCEPT_ON_CREATE}

    @property
    def extended(self) -> Version:
        """Return the format extended by the functions of its transform."""
        return replace(
            self,
            functions={**self.functions, **self.extended_functions},
            condition_functions={**self.condition_functions, **self.extended_condition_functions},
            extended_functions={},
            transformed=True,
        )

    def variant(self, name: str) -> type[Function] | None:
        """Return the function with the name `name` in templates of this version; None if there is none."""
        found = self.functions.get(name)
        return functions()[found] if found else None


_POLICIES = {name: name for name in ("Delete", "Retain", "Snapshot")}
_AS_CFN = {
    "Fn::Base64": "Fn::Base64/1",
    "Fn::GetAZs": "Fn::GetAZs/1",
    "Fn::Join": "list_join/1",
    "Fn::MemberListToMap": "Fn::MemberListToMap/1",
    "Fn::Replace": "Fn::Replace/1",
    "Fn::ResourceFacade": "Fn::ResourceFacade/1",
    "Fn::Select": "Fn::Select/1",
    "Fn::Split": "Fn::Split/1",
    "Ref": "Ref/1",
}

_HOT_2013_05_23 = Version(
    key="heat_template_version",
    value="2013-05-23",
    dialect=HOT,
    sections=frozenset({"heat_template_version", *HOT.sections} - {"conditions"}),
    resource_keys=frozenset({*HOT.resource_keys} - {"external_id", "condition"}),
    output_keys=frozenset({"description", "value"}),
    parameter_keys=frozenset(
        {"type", "description", "default", "schema", "constraints", "hidden", "label", "immutable"}
    ),
    parameter_constraints=frozenset({"length", "range", "allowed_values", "allowed_pattern", "custom_constraint"}),
    deletion_policies=_POLICIES,
    functions=_AS_CFN
    | {
        "get_attr": "get_attr/1",
        "get_file": "get_file/1",
        "get_param": "get_param/1",
        "get_resource": "get_resource/1",
        "list_join": "list_join/1",
        "resource_facade": "resource_facade/1",
        "str_replace": "str_replace/1",
    },
)


def next_version(
    before: Version, value: str, *aliases: str, removed: frozenset[str] = frozenset(), **added: object
) -> Version:
    """Return a version that has all of the version `before`, with additions and without `removed` functions.

    `added` has the additions to the mappings and sets of `Version`, by their names.
    """
    merged = {name: _joined(getattr(before, name), extra) for name, extra in added.items()}
    called = merged.pop("functions", before.functions)
    return replace(
        before,
        value=value,
        aliases=aliases,
        functions={name: variant for name, variant in called.items() if name not in removed},
        removed_functions=before.removed_functions | removed,
        **merged,
    )


def _joined(before: Any, extra: Any) -> Any:
    return {**before, **extra} if isinstance(before, Mapping) else before | frozenset(extra)


_HOT_2014_10_16 = next_version(
    _HOT_2013_05_23,
    "2014-10-16",
    removed=frozenset(_AS_CFN) - {"Fn::Select"},
    functions={"get_attr": "get_attr/2"},
)
_HOT_2015_04_30 = next_version(_HOT_2014_10_16, "2015-04-30", functions={"digest": "digest/1", "repeat": "repeat/1"})
_HOT_2015_10_15 = next_version(
    _HOT_2015_04_30,
    "2015-10-15",
    removed=frozenset({"Fn::Select"}),
    functions={
        "get_attr": "get_attr/3",
        "list_join": "list_join/2",
        "str_replace": "str_replace/2",
        "str_split": "str_split/1",
    },
)
_HOT_2016_04_08 = next_version(_HOT_2015_10_15, "2016-04-08", functions={"map_merge": "map_merge/1"})
_HOT_2016_10_14 = next_version(
    _HOT_2016_04_08,
    "2016-10-14",
    "newton",
    sections={"conditions"},
    resource_keys={"external_id", "condition"},
    output_keys={"condition"},
    deletion_policies={name.lower(): name for name in _POLICIES},
    functions={"if": "if/1", "map_replace": "map_replace/1", "repeat": "repeat/2", "yaql": "yaql/1"},
    condition_functions={
        "and": "and/1",
        "equals": "equals/1",
        "get_param": "get_param/1",
        "not": "not/1",
        "or": "or/1",
    },
)
_HOT_2017_02_24 = next_version(
    _HOT_2016_10_14,
    "2017-02-24",
    "ocata",
    parameter_constraints={"modulo"},
    functions={"filter": "filter/1", "str_replace_strict": "str_replace_strict/1"},
)
_HOT_2017_09_01 = next_version(
    _HOT_2017_02_24,
    "2017-09-01",
    "pike",
    functions={
        "contains": "contains/1",
        "list_concat": "list_concat/1",
        "list_concat_unique": "list_concat_unique/1",
        "make_url": "make_url/1",
        "repeat": "repeat/3",
        "str_replace_vstrict": "str_replace_vstrict/1",
    },
    condition_functions={"contains": "contains/1", "yaql": "yaql/1"},
)
_HOT_2018_03_02 = next_version(_HOT_2017_09_01, "2018-03-02", "queens", parameter_keys={"tags"})
_HOT_2018_08_31 = next_version(_HOT_2018_03_02, "2018-08-31", "rocky")
HOT_2021_04_16 = next_version(_HOT_2018_08_31, "2021-04-16", "wallaby", functions={"if": "if/2"})
HOT_2026_11_01 = next_version(HOT_2021_04_16, "2026-11-01", sections=TRANSFERS)
"""The first version of Stoker itself."""

_HEAT_2012_12_12 = Version(
    key="HeatTemplateFormatVersion",
    value="2012-12-12",
    dialect=CFN,
    sections=frozenset(
        {"AWSTemplateFormatVersion", "HeatTemplateFormatVersion", *CFN.sections.values()} - {"Conditions"}
    ),
    resource_keys=frozenset({*CFN.resource_keys.values()} - {"Condition"}),
    output_keys=frozenset({"Description", "Value"}),
    parameter_keys=frozenset(
        {
            "Type",
            "Default",
            "NoEcho",
            "AllowedValues",
            "AllowedPattern",
            "MaxLength",
            "MinLength",
            "MaxValue",
            "MinValue",
            "Description",
            "ConstraintDescription",
            "Label",
        }
    ),
    parameter_constraints=frozenset({"length", "range", "allowed_values", "allowed_pattern"}),
    deletion_policies=_POLICIES,
    parameter_types=BY_CFN_NAME,
    functions=_AS_CFN | {"Fn::FindInMap": "Fn::FindInMap/1", "Fn::GetAtt": "Fn::GetAtt/1"},
)
_TRANSFORM = "AWS::LanguageExtensions"
_EXTENDED = {"Fn::FindInMap": "Fn::FindInMap/2", "Fn::Length": "Fn::Length/1", "Fn::ToJsonString": "Fn::ToJsonString/1"}
AWS_2010_09_09 = replace(
    _HEAT_2012_12_12,
    key="AWSTemplateFormatVersion",
    value="2010-09-09",
    dialect=AWS,
    deletion_policies={**_POLICIES, RETAIN_EXCEPT_ON_CREATE: RETAIN_EXCEPT_ON_CREATE},
    sections=_HEAT_2012_12_12.sections | {"Conditions", "Metadata", "Rules", "Transform"},
    resource_keys=_HEAT_2012_12_12.resource_keys | {"Condition", "CreationPolicy", "UpdateReplacePolicy"},
    output_keys=_HEAT_2012_12_12.output_keys | {"Condition", "Export"},
    functions={
        **_HEAT_2012_12_12.functions,
        "Fn::Base64": "Fn::Base64/2",
        "Fn::Cidr": "Fn::Cidr/1",
        "Fn::GetAtt": "Fn::GetAtt/2",
        "Fn::If": "if/1",
        "Fn::ImportValue": "Fn::ImportValue/1",
        "Fn::Join": "Fn::Join/1",
        "Fn::Split": "Fn::Split/2",
        "Fn::Sub": "Fn::Sub/1",
        "Ref": "Ref/2",
    },
    condition_functions={
        "Condition": "Condition/1",
        "Fn::And": "and/1",
        "Fn::Equals": "Fn::Equals/1",
        "Fn::FindInMap": "Fn::FindInMap/1",
        "Fn::Not": "Fn::Not/1",
        "Fn::Or": "or/1",
        "Fn::Sub": "Fn::Sub/1",
        "Ref": "Ref/param",
    },
    parameter_types=BY_AWS_NAME,
    transforms=frozenset({_TRANSFORM}),
    extended_functions=_EXTENDED,
    extended_condition_functions=_EXTENDED,
    unsupported_functions={"Fn::Transform": "macros run on AWS only; replace the call with the result of the macro"},
    rule_functions={
        "Fn::And": "and/1",
        "Fn::Contains": "Fn::Contains/1",
        "Fn::EachMemberEquals": "Fn::EachMemberEquals/1",
        "Fn::EachMemberIn": "Fn::EachMemberIn/1",
        "Fn::Equals": "Fn::Equals/1",
        "Fn::Not": "Fn::Not/1",
        "Fn::Or": "or/1",
        "Fn::RefAll": "Fn::RefAll/1",
        "Fn::ValueOf": "Fn::ValueOf/1",
        "Fn::ValueOfAll": "Fn::ValueOfAll/1",
        "Ref": "Ref/param",
    },
)

VERSIONS: tuple[Version, ...] = (
    AWS_2010_09_09,
    _HEAT_2012_12_12,
    _HOT_2013_05_23,
    _HOT_2014_10_16,
    _HOT_2015_04_30,
    _HOT_2015_10_15,
    _HOT_2016_04_08,
    _HOT_2016_10_14,
    _HOT_2017_02_24,
    _HOT_2017_09_01,
    _HOT_2018_03_02,
    _HOT_2018_08_31,
    HOT_2021_04_16,
    HOT_2026_11_01,
)
"""The formats of Heat and CloudFormation, and of Stoker, each available under its own value and its aliases."""

EMPTY_TEMPLATE: Mapping[str, object] = {"heat_template_version": "2015-04-30"}
"""The template of a stack without one."""


@remembered
def by_name() -> Mapping[tuple[str, str], Version]:
    """Return the formats that the installed packages offer, by the key and value that a template begins with.

    Raises PluginInvalid.
    """
    known: dict[tuple[str, str], Offer[Version]] = {}
    problems: list[str] = []
    for offer in offers(GROUP):
        for version in offer.value:
            if not isinstance(version, Version):
                problems.append(f"{offer.origin}: {version!r} must be a Version")
                continue
            problems += (f"{offer.origin}: {version.name}: {problem}" for problem in _problems(version))
            for value in (version.value, *version.aliases):
                entry = Offer(f"{version.key}: {value}", version, offer.package, offer.entry_point)
                if (first := known.setdefault((version.key, value), entry)) is not entry:
                    problems.append(twice(entry.name, first, entry))
    if problems:
        raise PluginInvalid(problems)
    return {name: offer.value for name, offer in known.items()}


def _problems(version: Version) -> Iterator[str]:
    """Return what is wrong with a version, one sentence each."""
    if version.key not in VERSION_KEYS:
        yield f"a template states its version with {', '.join(VERSION_KEYS)}, not with {version.key!r}"
    elif version.key not in version.sections:
        yield f"its sections must contain {version.key}"
    for each in (version, version.extended):
        for called in (each.functions, each.condition_functions, each.rule_functions):
            for name, variant in called.items():
                if variant not in functions():
                    yield f"the function {name} is the variant {variant!r}, which no installed package offers"


def versions() -> list[Version]:
    """Return the formats that the installed packages offer, Stoker's own first. Raises PluginInvalid."""
    return list({id(version): version for version in by_name().values()}.values())


def list_versions() -> list[dict[str, Any]]:
    """Return every format as the Orchestration API lists it."""
    return [
        {
            "version": version.name,
            "type": version.dialect.name,
            "aliases": [f"{version.key}.{alias}" for alias in version.aliases],
        }
        for version in versions()
    ]


def functions_of(name: str, *, with_condition_functions: bool = False) -> list[dict[str, str]] | None:
    """Return the functions of the format `name` (`heat_template_version.queens`) as the Orchestration API lists them,
    by name; None if there is no such format.
    """
    key, _, value = name.partition(".")
    version = by_name().get((key, value))
    if version is None:
        return None
    called = {**(version.condition_functions if with_condition_functions else {}), **version.functions}
    return [{"functions": name, "description": _summary(functions()[called[name]])} for name in sorted(called)]


def _summary(function: type[Function]) -> str:
    return " ".join((function.__doc__ or "").split())
