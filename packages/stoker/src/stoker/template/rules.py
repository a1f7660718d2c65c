"""Every rule that a diagnostic can name: its meaning and an example that violates it. Generates a reference page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `severity` is `error` or `warning`; `example` is a part of a template that violates it."""

    name: str
    meaning: str
    example: str
    severity: str = "error"


_ERRORS = (
    Rule("syntax", "The document is neither YAML nor JSON.", "resources: {web: [}"),
    Rule("not-a-mapping", "The document is empty, a list or a single value.", "- just\n- a list"),
    Rule(
        "not-plain-data", "A value is of a type that JSON does not have.", "(only for data that was parsed elsewhere)"
    ),
    Rule("version", "The template does not state its format, or states one that does not exist.", "{}"),
    Rule("section", "The format has no such section, or the section is not a map.", "ressources: {}"),
    Rule("transform", "This service does not support the transform.", "Transform: AWS::Serverless-2016-10-31"),
    Rule("mapping", "A mapping is not a map of maps.", "Mappings: {zones: [a, b]}"),
    Rule("parameter-schema", "The declaration of a parameter is invalid.", "parameters: {size: {type: integer}}"),
    Rule("parameter-groups", "A group names a parameter that does not exist or is in another group.", "[a, a]"),
    Rule("parameter-value", "A value is not of the parameter's type.", "-P size=big for a number"),
    Rule("parameter-missing", "A parameter without default has no value.", "parameters: {key: {type: string}}"),
    Rule("parameter-constraint", "A value violates a constraint of its parameter.", "-P size=0 with range {min: 1}"),
    Rule("unknown-parameter", "A value is given for a parameter that the template does not have.", "-P sise=1"),
    Rule(
        "rule-assertion", "The parameters' values violate an assertion of the Rules section.", "Assert: {Fn::Equals: …}"
    ),
    Rule("rule", "An entry of the Rules section is not a valid rule.", "Rules: {sizes: {Asserts: []}}"),
    Rule(
        "condition",
        "The value is neither a boolean, nor the name of a condition, nor a condition function.",
        "condition: [a]",
    ),
    Rule("condition-cycle", "A condition depends on itself.", "conditions: {a: {not: a}}"),
    Rule("unknown-condition", "There is no condition of that name.", "condition: is_prod"),
    Rule("function-in-condition", "The function cannot be used in a condition.", "conditions: {a: {get_attr: [x, y]}}"),
    Rule("function-arguments", "The arguments do not have the shape that the function takes.", "list_join: a"),
    Rule("removed-function", "The format no longer has the function.", "Fn::Join: [',', [a, b]] in HOT"),
    Rule(
        "unsupported-function", "The function exists elsewhere and is not supported here.", "Fn::Transform: {Name: x}"
    ),
    Rule(
        "dynamic-reference", "The value is in a store of AWS, which is not available.", "name: '{{resolve:ssm:name}}'"
    ),
    Rule("needs-transform", "The function needs Transform: AWS::LanguageExtensions.", "Fn::Length: [a, b]"),
    Rule(
        "loop", "An Fn::ForEach is not a valid loop, or its copies have the same key.", "Fn::ForEach::x: [N, [a, a], …]"
    ),
    Rule("function", "A function cannot be evaluated with the given values.", "digest: [sha0, a]"),
    Rule("resource", "A resource is not a map.", "resources: {web: OS::Nova::Server}"),
    Rule("resource-name", "A resource's name contains a character that is not allowed.", "resources: {a/b: …}"),
    Rule("resource-type", "A resource's type is missing or not a string.", "resources: {web: {properties: {}}}"),
    Rule("resource-key", "A resource has no such key.", "web: {type: …, propertys: {}}"),
    Rule("resource-field", "A key of a resource has a value of the wrong type.", "web: {type: …, properties: []}"),
    Rule("duplicate-name", "A resource and a parameter share a name.", "parameters: {web: …}, resources: {web: …}"),
    Rule("deletion-policy", "There is no such policy, or the type does not support it.", "deletion_policy: Keep"),
    Rule(
        "update-replace-policy",
        "There is no such policy, it is not a literal string, or the type does not support it.",
        "UpdateReplacePolicy: Keep",
    ),
    Rule(
        "ignore-drift",
        "The value is no list of paths, or a path names no property that is compared with the cloud.",
        "ignore_drift: [tagz]",
    ),
    Rule(
        "creation-policy",
        "The policy has no effect with this type (a warning), or it depends on resources.",
        "CreationPolicy: {ResourceSignal: {Count: !GetAtt group.Size}}",
    ),
    Rule("depends-on", "The value is neither the name of a resource nor a list of names.", "depends_on: {a: b}"),
    Rule(
        "output", "An output is not a map with a value, or its description is not a string.", "outputs: {ip: 10.0.0.1}"
    ),
    Rule("export", "An export has no valid name, or two have the same name.", "Export: {Name: [a]}"),
    Rule("unknown-type", "There is no such resource type, or no such template.", "type: OS::Nova::Sever"),
    Rule("unknown-resource", "There is no such resource.", "get_resource: wbe"),
    Rule("unknown-attribute", "The resource's type has no such attribute.", "get_attr: [web, first_adress]"),
    Rule("circular-dependency", "Resources depend on each other.", "a refers to b, b depends on a"),
    Rule("unknown-property", "The type has no such property.", "properties: {flavour: m1.small}"),
    Rule("required-property", "A property that the type requires is missing.", "OS::Neutron::Subnet without network"),
    Rule("conflicting-properties", "Two properties are given that exclude each other.", "network and network_id"),
    Rule("wrong-type", "A value is not of the property's type.", "mtu: large"),
    Rule("constraint", "A value violates a constraint.", "mtu: 1"),
    Rule("service", "The service that checked the properties refuses them.", "context: {region_name: nowhere}"),
    Rule("external-id", "There is no object with the ID.", "external_id: 4f5a0c9b"),
    Rule("properties", "The combination of properties is not valid.", "image and block_device_mapping_v2 missing"),
    Rule("field", "A part of a resource evaluates to a value of the wrong type.", "metadata: {get_param: a_text}"),
    Rule("environment", "The environment is not a map.", "- parameters: {}"),
    Rule("environment-section", "The environment has no such section, or it is of the wrong type.", "parameter: {}"),
    Rule("registry", "An entry of the resource registry is invalid.", "resource_registry: {A::B: [c]}"),
    Rule(
        "transfer",
        "An entry about where an object belongs is invalid, or contradicts another one.",
        "moved: [{from: a}]",
    ),
    Rule("merge-strategy", "Strategies conflict, or one does not fit the parameter.", "merge for a boolean"),
)

_WARNINGS = (
    Rule("unused-parameter", "Nothing in the template uses the parameter.", "parameters: {old: {type: string}}"),
    Rule("unused-condition", "Nothing in the template uses the condition.", "conditions: {old: true}"),
    Rule(
        "unchecked-number",
        "A string parameter without constraints is the value of a numeric property, so a value that is not a number "
        "is detected late; declare the parameter as number.",
        "mtu: {get_param: mtu} with mtu: {type: string}",
    ),
    Rule("deprecated-type", "The resource type is deprecated or hidden.", "type: OS::Nova::FloatingIP"),
    Rule("deprecated-property", "The property is deprecated or hidden.", "OS::Neutron::Port: {network_id: …}"),
    Rule(
        "ineffective-property",
        "The property is accepted for old templates and has no effect.",
        "a property without effect",
    ),
    Rule("hidden-output", "An output shows the value of a hidden parameter.", "value: {get_param: password}"),
    Rule("null-output", "An output is the ID of a resource that does not exist.", "value: {get_resource: wbe}"),
    Rule(
        "failing-output",
        "A function in an output fails, so the output is null, with an error.",
        "value: {list_join: [',', {a: b}]}",
    ),
    Rule("implied-dependency", "The order is the same without this depends_on.", "depends_on: net beside network: net"),
    Rule(
        "renumbering-index",
        "An index into a group whose members are removed from the front or middle: it may refer to another one later.",
        "get_attr: [scaling_group, refs, 0]",
    ),
    Rule(
        "unconfigured-server",
        "A deployment is for a server that does not take software configuration, so it fails when it starts.",
        "server: {get_resource: web} without user_data_format: SOFTWARE_CONFIG",
    ),
    Rule(
        "misspelt-function",
        "A map has a single key that is nearly the name of a function; it is taken as data.",
        "value: {get_parm: size}",
    ),
    Rule(
        "unknown-merge-strategy",
        "There is no such merge strategy; the default of the environment is used instead.",
        "parameter_merge_strategies: {labels: deepmerge}",
    ),
    Rule("ignored-key", "The key of a resource has no effect.", "Resources: {web: {Type: …, Notes: x}}"),
)

RULES: Mapping[str, Rule] = {
    **{rule.name: rule for rule in _ERRORS},
    **{rule.name: Rule(rule.name, rule.meaning, rule.example, "warning") for rule in _WARNINGS},
}
"""All rules by name."""
