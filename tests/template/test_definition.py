"""Binding: parameters, conditions, references, and values that are not known yet."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.base.errors import ImmutableParameterModified, TemplateInvalid
from stoker.schema.unknown import Unknown
from stoker.template.expressions import UNDETERMINED, Facade, Reference, UnknownScope
from stoker.template.template import Template
from stoker.template.validation import describe_environment, describe_parameters
from stoker.template.versions import HOT_2021_04_16
from tests.template.support import PSEUDO, bind, invalid, load

HEAD = "heat_template_version: 2021-04-16\n"
PARAMETERS = HEAD + (
    "parameters:\n"
    "  a: {type: string, default: from schema}\n"
    "  secret: {type: string, hidden: true, default: 12345678, constraints: [{length: {min: 8}}]}\n"
)


class MadeScope(UnknownScope):
    """A scope in which some resources exist."""

    def __init__(self, **references: Any) -> None:
        self.references = references

    def reference(self, resource: str) -> Any:
        return self.references.get(resource, Unknown.of(resource))

    def facade(self) -> Facade | None:
        return Facade({"m": 1}, "Retain", {"u": 2})


def resolve(snippet: Any, scope: Any = None, **options: Any) -> Any:
    """A snippet's value in a template with the resources v and w."""
    template = Template.load(
        {
            "heat_template_version": "2021-04-16",
            "parameters": {"on": {"type": "boolean", "default": True}},
            "conditions": {"on": {"get_param": "on"}, "off": {"not": "on"}},
            "resources": {"v": {"type": "T"}, "w": {"type": "T"}},
            "outputs": {"o": {"value": snippet}},
        }
    )
    definition = bind(template, **options)
    return definition.resolve(definition.outputs["o"].value, scope or UnknownScope())


# -- parameters ---------------------------------------------------------------------------------------------------


def test_precedence_of_parameter_values() -> None:
    def value(request: Any, environment: Any, defaults: Any) -> Any:
        data = {"parameters": {"a": environment}, "parameter_defaults": {"a": defaults, "unknown": 1}}
        return bind(PARAMETERS, {"a": request}, data).parameters["a"]

    assert value("request", "environment", "default") == "request"
    assert value(None, "environment", "default") == "environment"
    assert value(None, None, "default") == "default"
    assert value(None, None, None) == "from schema"


@pytest.mark.parametrize(
    ("text", "parameters", "kind", "words"),
    [
        (PARAMETERS, {"secrt": 1, "c": 2}, "UnknownUserParameter", "no parameter 'secrt'; did you mean 'secret'?"),
        (
            HEAD + "parameters: {a: {type: string}}",
            {},
            "UserParameterMissing",
            "parameters.a: the parameter needs a value",
        ),
        (HEAD + "parameters: {a: {type: number}}", {"a": "x"}, "StackValidationFailed", "'x' is not a number"),
        (PARAMETERS, {"secret": "hunter2"}, "StackValidationFailed", "****** does not meet the constraint"),
        (
            HEAD + "parameters: {a: {type: number, hidden: true}}",
            {"a": "hunter2"},
            "StackValidationFailed",
            "****** is not a number",
        ),
        (
            HEAD + "parameters: {a: {type: number, hidden: true, default: '******'}}",
            {},
            "StackValidationFailed",
            "parameters.a: ****** is only the placeholder of a hidden value; give the value itself",
        ),
        (
            PARAMETERS,
            {"secret": "******"},
            "StackValidationFailed",
            "parameters.secret: ****** is only the placeholder of",
        ),
    ],
)
def test_invalid_parameters(text: str, parameters: dict[str, Any], kind: str, words: str) -> None:
    error = invalid(text, parameters)
    assert error.kind == kind
    assert words in error.message
    assert "hunter2" not in error.message


@pytest.mark.parametrize(
    ("declared", "given", "words"),
    [
        ("type: string, constraints: [{allowed_values: [small, large]}]", "smal",
         "'smal' is not one of 'small', 'large'; did you mean 'small'?"),
        ("type: string, constraints: [{allowed_values: [small, large], description: a size}]", "smal",
         "a size ('smal' is not one of 'small', 'large'); did you mean 'small'?"),
        ("type: number, constraints: [{allowed_values: [1, 2, 8]}]", "6", "6 is not one of 1, 2, 8; the nearest is 8"),
        ("type: comma_delimited_list, constraints: [{allowed_values: [north, south]}]", "north,soth",
         "'soth' is not one of 'north', 'south'; did you mean 'south'?"),
        ("type: number, constraints: [{range: {min: 1, max: 5}, description: Few.}]", "7", "Few. (7 is more than 5)"),
        ("type: number, constraints: [{modulo: {step: 2, offset: 0}, description: even}]", 7,
         "even (7 is not 0 more than a multiple of 2)"),
        ("type: string, constraints: [{length: {min: 5}}]", "abc", "length 3 of 'abc' is less than 5"),
        ("type: string, constraints: [{length: {max: 2}, description: short}]", "abc",
         "short (length 3 of 'abc' is more than 2)"),
        ("type: string, constraints: [{length: {max: 2}}]", "x" * 100, "length 100 is more than 2"),
        ("type: string, constraints: [{length: {max: 2}}]", "a'\nb\"", "length 5 is more than 2"),
        ("type: json, constraints: [{length: {min: 2}}]", {"a": 1}, "length 1 is less than 2"),
        ("type: string, constraints: [{allowed_pattern: '[a-z]+', description: letters}]", "1",
         "letters ('1' does not match the pattern '[a-z]+')"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_reported_with_what_is_allowed(declared: str, given: Any, words: str) -> None:
    text = HEAD + f"parameters: {{a: {{{declared}}}}}"
    (found,) = invalid(text, {"a": given}).diagnostics
    assert found.text().endswith(f": parameters.a: {words}")
    assert found.replacement is None, "the value does not stand in the template"


@pytest.mark.parametrize("description", ["", ", description: told"])
@pytest.mark.parametrize(
    ("kind", "constraint", "given"),
    [
        ("string", "allowed_values: [hunter1, other]", "hunter2"),
        ("string", "length: {max: 3}", "hunter2"),
        ("string", "allowed_pattern: '[a-z]+'", "hunter2"),
        ("number", "range: {max: 10000}", "7531975"),
        ("number", "modulo: {step: 2, offset: 0}", "7531975"),
        ("number", "allowed_values: [7531974]", "7531975"),
    ],
)
def test_a_wrong_hidden_value_is_not_shown(kind: str, constraint: str, given: str, description: str) -> None:
    text = HEAD + f"parameters: {{a: {{type: {kind}, hidden: true, constraints: [{{{constraint}{description}}}]}}}}"
    found = invalid(text, {"a": given}).diagnostics
    assert given not in str([one.to_dict() for one in found])
    assert [(one.message == "told", one.hint) for one in found] == [(bool(description), "")]


def test_a_wrong_default_has_a_hint() -> None:
    text = HEAD + "parameters: {a: {type: string, default: smal, constraints: [{allowed_values: [small, large]}]}}"
    (found,) = invalid(text).diagnostics
    assert (found.message, found.hint) == (
        "the default violates a constraint: 'smal' is not one of 'small', 'large'",
        "did you mean 'small'?",
    )
    assert found.replacement == ("smal", "small")


@pytest.mark.parametrize(
    ("hidden", "message"),
    [(False, "D (there is no flavor 'm1')"), (True, "D")],
)
def test_a_check_by_a_plug_in_has_the_description_and_the_value_unless_it_is_hidden(hidden: bool, message: str) -> None:
    constraint = "constraints: [{custom_constraint: nova.flavor, description: D}]"
    text = HEAD + f"parameters: {{a: {{type: string, hidden: {str(hidden).lower()}, {constraint}}}}}"
    (check,) = bind(text, {"a": "m1"}).parameters.custom_checks
    assert check.message("there is no flavor 'm1'") == message


def test_all_invalid_parameters_are_reported_together() -> None:
    error = invalid(
        HEAD + "parameters:\n  a: {type: number}\n  b: {type: json}\n  c: {type: string}\n", {"a": "x", "b": "{"}
    )
    assert [diagnostic.path for diagnostic in error.diagnostics] == [("parameters", name) for name in "abc"]
    assert [diagnostic.position.line for diagnostic in error.diagnostics if diagnostic.position] == [3, 4, 5]


def test_values_that_are_shown_and_values_that_are_stored() -> None:
    parameters = bind(PARAMETERS, {"a": 5, "secret": "correct horse"}).parameters
    assert parameters.hidden == {"secret"}
    assert parameters.stored() == {"a": 5, "secret": "correct horse"}
    assert parameters.values() == {"a": "5", "secret": "correct horse"}
    assert parameters.as_text() == {
        "OS::stack_id": "uuid",
        "OS::stack_name": "web",
        "OS::project_id": "project",
        "a": "5",
        "secret": "******",
    }
    assert parameters.redacted({"secret": 1, "a": 2}) == {"secret": "******", "a": 2}


def test_pseudo_parameters_of_cfn_templates() -> None:
    template = Template.load({"AWSTemplateFormatVersion": "2010-09-09"})
    assert bind(template).parameters.as_text() == {
        "AWS::StackId": PSEUDO.arn,
        "AWS::StackName": "web",
        "AWS::Region": "ap-southeast-1",
        "AWS::AccountId": "project",
        "AWS::Partition": "openstack",
        "AWS::URLSuffix": "amazonaws.com",
    }
    template = Template.load({"HeatTemplateFormatVersion": "2012-12-12"})
    assert list(bind(template).parameters.as_text()) == ["AWS::StackId", "AWS::StackName", "AWS::Region"]


def test_immutable_parameters() -> None:
    text = HEAD + "parameters: {a: {type: number, immutable: true}}"
    before = bind(text, {"a": 1}).parameters
    bind(text, {"a": "1"}).parameters.refuse_changes_to_immutable(before)
    with pytest.raises(ImmutableParameterModified, match="'a'"):
        bind(text, {"a": 2}).parameters.refuse_changes_to_immutable(before)
    bind(text, {"a": 2}).parameters.refuse_changes_to_immutable(bind(HEAD).parameters)


def test_custom_constraints_are_left_to_plug_ins() -> None:
    text = HEAD + "parameters: {a: {type: string, constraints: [{custom_constraint: nova.flavor, description: D}]}}"
    (check,) = bind(text, {"a": "m1"}).parameters.custom_checks
    assert (check.constraint, check.value, check.path, check.description) == (
        "nova.flavor",
        "m1",
        ("parameters", "a"),
        "D",
    )


def test_missing_values_may_be_unknown() -> None:
    definition = bind(
        HEAD + "parameters: {a: {type: string}}\nresources: {r: {type: T, condition: {equals: [{get_param: a}, x]}}}",
        missing_ok=True,
    )
    assert definition.parameters["a"] == UNDETERMINED
    assert definition.parameters.stored() == {}
    assert set(definition.resources) == {"r"}


def test_values_of_a_parent_may_be_unknown() -> None:
    text = PARAMETERS + "resources: {r: {type: T, properties: {x: {get_param: a}}}}\n"
    waiting = Unknown.of("parent")
    definition = bind(text, {"a": waiting, "secret": waiting})
    assert definition.resolve(definition.resources["r"].properties, UnknownScope()) == {"x": waiting}


def test_values_are_not_checked_without_strictness() -> None:
    definition = bind(PARAMETERS, {"secret": "short", "gone": 1}, strict=False)
    assert definition.parameters["secret"] == "short"
    unfit = bind(
        HEAD + "parameters: {n: {type: number}}\noutputs: {o: {value: {get_param: n}}}", {"n": "x"}, strict=False
    )
    assert "n" not in unfit.parameters.as_text()
    assert unfit.parameters.values() == {}
    with pytest.raises(TemplateInvalid, match="the parameter 'n': 'x' is not a number"):
        unfit.resolve(unfit.outputs["o"].value, UnknownScope())


# -- unknowns -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ({"get_resource": "v"}, Unknown.of("v")),
        ({"get_attr": ["v", "a", 0]}, Unknown.of("v", "a", 0)),
        ({"list_join": [",", ["x", {"get_resource": "v"}]]}, Unknown.of("v")),
        ({"a": {"get_resource": "v"}, "b": 1}, {"a": Unknown.of("v"), "b": 1}),
        ({"map_merge": [{"a": 1}, {"b": {"get_resource": "v"}}]}, {"a": 1, "b": Unknown.of("v")}),
        ({"list_concat": [[1], [{"get_resource": "v"}]]}, [1, Unknown.of("v")]),
        ({"list_concat": [[1], {"get_attr": ["v", "l"]}]}, Unknown.of("v", "l")),
        (
            {"repeat": {"template": {"%x%": {"get_resource": "v"}}, "for_each": {"%x%": ["p", "q"]}}},
            [{"p": Unknown.of("v")}, {"q": Unknown.of("v")}],
        ),
        ({"repeat": {"template": "%x%", "for_each": {"%x%": {"get_attr": ["v", "l"]}}}}, Unknown.of("v", "l")),
        ({"if": ["on", "yes", {"get_resource": "v"}]}, "yes"),
        ({"get_param": [{"get_resource": "v"}]}, Unknown.of("v")),
        (
            {"str_replace": {"template": "$a$b", "params": {"$a": {"get_resource": "v"}, "$b": {"get_resource": "w"}}}},
            Unknown(Unknown.of("v").sources | Unknown.of("w").sources),
        ),
        ({"resource_facade": "metadata"}, UNDETERMINED),
    ],
)
def test_unknown_values_propagate(snippet: Any, expected: Any) -> None:
    assert resolve(snippet) == expected


def test_values_become_known() -> None:
    snippet = {"list_join": ["-", [{"get_resource": "v"}, {"get_resource": "w"}]]}
    assert resolve(snippet, MadeScope(v="1")) == Unknown.of("w")
    assert resolve(snippet, MadeScope(v="1", w="2")) == "1-2"


def test_conditions_on_unknown_parameters_leave_both_branches_open() -> None:
    snippet = {"if": ["on", {"get_resource": "v"}, {"get_resource": "w"}]}
    assert resolve(snippet, parameters={"on": Unknown.of("parent")}) == Unknown.of("parent")


@pytest.mark.parametrize("name", sorted(HOT_2021_04_16.functions))
def test_arguments_that_are_unknown_as_a_whole(name: str) -> None:
    if name in ("if", "resource_facade"):
        pytest.skip("takes no such arguments")
    template = Template.load(
        {
            "heat_template_version": "wallaby",
            "parameters": {"p": {"type": "json"}},
            "outputs": {"o": {"value": {name: {"get_param": "p"}}}},
        }
    )
    definition = bind(template, {"p": Unknown.of("parent")})
    assert definition.resolve(definition.outputs["o"].value, UnknownScope()) == Unknown.of("parent")


def test_facade_of_a_nested_stack() -> None:
    snippet = [{"resource_facade": part} for part in ("metadata", "deletion_policy", "update_policy")]
    assert resolve(snippet, MadeScope()) == [{"m": 1}, "Retain", {"u": 2}]


def test_omitted_values() -> None:
    gone = {"if": ["off", "x"]}
    assert resolve([1, gone, {"a": gone, "b": 2}]) == [1, {"b": 2}]
    assert resolve(gone) is None
    assert resolve({"map_merge": [{"a": 1}, gone]}) == {"a": 1}


# -- resources ----------------------------------------------------------------------------------------------------


def test_references_and_requirements() -> None:
    definition = bind(
        """
        heat_template_version: 2021-04-16
        parameters: {which: {type: string, default: c}}
        conditions: {never: {equals: [1, 2]}}
        resources:
          a: {type: T}
          b: {type: T}
          c: {type: T}
          d: {type: T, condition: never}
          e:
            type: T
            depends_on: [a, d]
            metadata: {x: {get_attr: [b, ip, 0]}}
            properties:
              chosen: {if: [never, {get_resource: b}, {get_resource: {get_param: which}}]}
              deep: {list_join: [",", [{str_replace: {template: x, params: {x: {get_attr: [c]}}}}]]}
          f: {type: T, external_id: an-id, properties: {x: {get_resource: a}}}
        """
    )
    resource = definition.resources["e"]
    assert resource.references == {Reference("b", "ip", (0,)), Reference("c"), Reference("c", "")}
    assert resource.requires == {"a", "b", "c"}
    assert definition.resources["f"].requires == frozenset()
    assert definition.resources["f"].references == {Reference("a")}
    assert definition.in_order() == ["a", "b", "c", "e", "f"]
    assert Reference("b", "ip", (0,)) in set(definition.all_references())


def test_policies_and_external_ids_are_resolved_by_binding() -> None:
    text = HEAD + (
        "parameters: {p: {type: string}, e: {type: string, default: some-id}}\n"
        "resources: {r: {type: T, deletion_policy: {get_param: p}, external_id: {get_param: e}}}\n"
    )
    resource = bind(text, {"p": "retain"}).resources["r"]
    assert (resource.deletion_policy, resource.external_id) == ("Retain", "some-id")
    error = invalid(text, {"p": "keep"})
    assert error.diagnostics[0].path == ("resources", "r", "deletion_policy")
    assert bind(HEAD + "resources: {r: {type: T}}").resources["r"].deletion_policy == "Delete"


def test_an_external_resource_has_no_dependencies() -> None:
    error = invalid(HEAD + "resources: {a: {type: T}, r: {type: T, external_id: x, depends_on: a}}")
    assert error.kind == "InvalidExternalResourceDependency"


def test_outputs_with_conditions() -> None:
    outputs = bind(
        HEAD + "conditions: {c: false}\noutputs: {x: {value: 1, condition: c, description: D}, y: {value: 2}}"
    ).outputs
    assert (outputs["x"].enabled, outputs["x"].value, outputs["x"].description) == (False, None, "D")
    assert (outputs["y"].enabled, outputs["y"].value) == (True, 2)


def test_a_condition_must_evaluate_to_a_boolean() -> None:
    text = HEAD + "parameters: {p: {type: string, default: x}}\nconditions: {c: {get_param: p}}"
    bind(text)
    error = invalid(text + "\nresources: {r: {type: T, condition: c}}")
    assert error.diagnostics[0].path == ("conditions", "c")


def test_errors_of_functions_have_a_position() -> None:
    definition = bind(HEAD + "outputs:\n  o:\n    value: {list_join: [',', [{get_file: nowhere}]]}\n")
    with pytest.raises(TemplateInvalid) as caught:
        definition.resolve(definition.outputs["o"].value, UnknownScope())
    assert caught.value.kind == "ValueError"
    assert caught.value.message.startswith(
        "web.yaml:4:42: outputs.o.value.list_join[1][0].get_file: get_file: the request contains no file 'nowhere'"
    )


def test_one_template_serves_many_definitions() -> None:
    template = load(PARAMETERS + "resources: {r: {type: T, properties: {x: {get_param: a}}}}\n")
    definitions = [bind(template, {"a": str(number)}) for number in range(3)]
    values = [item.resolve(item.resources["r"].properties, UnknownScope()) for item in definitions]
    assert values == [{"x": "0"}, {"x": "1"}, {"x": "2"}]


def test_the_response_of_the_validate_call() -> None:
    template = load(
        """
        heat_template_version: 2021-04-16
        description: Web
        parameter_groups: [{label: G, parameters: [a]}]
        parameters:
          a:
            type: number
            label: A
            tags: [t]
            constraints:
            - {range: {min: 1}, description: positive}
            - {modulo: {step: 2, offset: 1}}
            - {allowed_values: [1, 3]}
          b:
            type: string
            hidden: true
            default: secret
            constraints: [{length: {max: 9}}, {allowed_pattern: "[a-z]+"}]
          c: {type: string, default: x, constraints: [{custom_constraint: nova.flavor}]}
        """
    )
    answer = describe_parameters(bind(template, {"a": 3, "b": "other"}, strict=False, missing_ok=True))
    assert answer["Description"] == "Web"
    assert answer["ParameterGroups"] == [{"label": "G", "parameters": ["a"]}]
    assert answer["Parameters"] == {
        "a": {
            "Type": "Number",
            "Description": "",
            "NoEcho": "false",
            "Label": "A",
            "Value": 3,
            "Tags": ["t"],
            "MinValue": 1,
            "Step": 2,
            "Offset": 1,
            "AllowedValues": [1, 3],
            "ConstraintDescription": "positive",
        },
        "b": {
            "Type": "String",
            "Description": "",
            "NoEcho": "true",
            "Label": "b",
            "Default": "secret",
            "Value": "******",
            "MaxLength": 9,
            "AllowedPattern": "[a-z]+",
        },
        "c": {
            "Type": "String",
            "Description": "",
            "NoEcho": "false",
            "Label": "c",
            "Default": "x",
            "CustomConstraint": "nova.flavor",
        },
    }


def test_the_environment_of_a_validate_call_names_the_templates_that_are_types() -> None:
    template = load(
        "heat_template_version: 2021-04-16\nresources: {a: {type: member.yaml}, b: {type: 'OS::Heat::None'}}"
    )
    environment = {"resource_registry": {"OS::A::B": "OS::Heat::None"}, "parameter_defaults": {"p": 1}}
    definition = bind(template, environment=environment, strict=False)
    assert describe_environment(definition) == {
        "parameters": {},
        "parameter_defaults": {"p": 1},
        "resource_registry": {"resources": {}, "member.yaml": "member.yaml", "OS::A::B": "OS::Heat::None"},
        "event_sinks": [],
    }


def test_cfn_parameters() -> None:
    template = Template.load(
        {
            "HeatTemplateFormatVersion": "2012-12-12",
            "Parameters": {
                "a": {"Type": "String", "NoEcho": "TRUE", "MinLength": "2", "ConstraintDescription": "too short"},
                "b": {"Type": "Number", "MinValue": 1, "MaxValue": "5", "Default": 2, "AllowedValues": ["1", "2", "9"]},
                "c": {"Type": "CommaDelimitedList", "Default": "x,y", "NoEcho": "false"},
            },
        }
    )
    assert bind(template, {"a": "abc"}).parameters.values() == {"a": "abc", "b": 2, "c": ["x", "y"]}
    assert bind(template, {"a": "abc"}).parameters.hidden == {"a"}
    with pytest.raises(TemplateInvalid) as caught:
        bind(template, {"a": "x", "b": 9})
    assert [diagnostic.text() for diagnostic in caught.value.diagnostics] == [
        "template: Parameters.a: too short",
        "template: Parameters.b: 9 is more than 5",
    ]


@pytest.mark.parametrize(
    ("schema", "path", "words"),
    [
        ({"Type": "AWS::EC2::KeyPair::Id"}, ("Type",), "no parameter type"),
        ({"Type": "String", "MinLength": "x"}, ("MinLength",), "not a number"),
        (
            {"Type": "String", "MaxValue": 5},
            ("MaxValue",),
            "MinValue/MaxValue does not fit the type String; use one of",
        ),
        ({"Type": "String", "AllowedPattern": "["}, ("AllowedPattern",), "not a regular expression"),
        ({"Type": "String", "Dfault": 1}, ("Dfault",), "did you mean 'Default'?"),
    ],
)
def test_wrong_cfn_parameters(schema: dict[str, Any], path: tuple[str, ...], words: str) -> None:
    with pytest.raises(TemplateInvalid) as caught:
        Template.load({"AWSTemplateFormatVersion": "2010-09-09", "Parameters": {"p": schema}})
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.kind, diagnostic.path) == ("InvalidSchemaError", ("Parameters", "p", *path))
    assert words in diagnostic.text()


def test_an_undecidable_condition_of_an_output_is_reported() -> None:
    text = HEAD + "parameters: {a: {type: string}}\noutputs: {out: {value: 1, condition: {get_param: a}}}"
    error = invalid(text, {"a": "word"})
    assert "get_param returns a string, not a boolean" in error.message
    assert error.diagnostics[0].path[:2] == ("outputs", "out")


# -- what definitions of a template share ----------------------------------------------------------------------------

SHARED = HEAD + (
    "parameters:\n"
    "  short: {type: boolean, default: true}\n"
    "  to: {type: string, default: v}\n"
    "conditions: {is_short: {get_param: short}}\n"
    "resources:\n"
    "  v: {type: T}\n"
    "  w: {type: T, condition: is_short}\n"
    "  plain: {type: T, depends_on: w, properties: {a: {get_resource: v}}}\n"
    "  chosen: {type: T, properties: {a: {if: [is_short, {get_resource: v}, {get_attr: [plain, x]}]}}}\n"
    "  inline: {type: T, properties: {a: {if: [{get_param: short}, {get_resource: v}, {get_resource: plain}]}}}\n"
    "  named: {type: T, properties: {a: {get_resource: {get_param: to}}}}\n"
)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0)])
def test_definitions_of_a_template_have_the_references_of_their_own_parameters(order: tuple[int, ...]) -> None:
    template = load(SHARED)
    parameters: list[dict[str, object]] = [{}, {"short": False}, {"to": "w"}, {"short": False, "to": "plain"}]
    expected = [
        {"plain": {"v", "w"}, "chosen": {"v"}, "inline": {"v"}, "named": {"v"}},
        {"plain": {"v"}, "chosen": {"plain"}, "inline": {"plain"}, "named": {"v"}},
        {"plain": {"v", "w"}, "chosen": {"v"}, "inline": {"v"}, "named": {"w"}},
        {"plain": {"v"}, "chosen": {"plain"}, "inline": {"plain"}, "named": {"plain"}},
    ]
    for number in order:
        definition = bind(template, parameters[number])
        found = {name: set(definition.resources[name].requires) for name in expected[number]}
        assert found == expected[number]
        names = definition.in_order()
        assert all(names.index(first) < names.index(name) for name, firsts in found.items() for first in firsts)
        redefined = definition.with_parameters({"to": "v"})
        assert redefined.resources["named"].requires == {"v"}


def test_references_that_no_parameter_decides_are_found_once_for_a_template() -> None:
    template = load(SHARED)
    first, second, other = bind(template), bind(template, {"to": "w"}), bind(template, {"short": False})
    for name in ("plain", "chosen"):
        assert first.resources[name].placed_references is second.resources[name].placed_references
    assert first.resources["plain"].placed_references is not other.resources["plain"].placed_references
    assert bind(load(SHARED + "  more: {type: T}\n")).in_order()[-1] == "more"


def test_a_template_with_many_combinations_of_conditions_keeps_few() -> None:
    count = 10
    names = [f"c{number}" for number in range(count)]
    template = Template.load(
        {
            "heat_template_version": "2021-04-16",
            "parameters": {f"has_{name}": {"type": "boolean"} for name in names},
            "conditions": {name: {"get_param": f"has_{name}"} for name in names},
            "resources": {
                "v": {"type": "T"},
                **{name: {"type": "T", "condition": name, "depends_on": "v"} for name in names},
            },
        }
    )
    for number in range(100):
        values = {f"has_{name}": bool(number >> place & 1) for place, name in enumerate(names)}
        assert bind(template, values).in_order() == ["v", *(name for name in names if values[f"has_{name}"])]
    assert len(template.structures) <= 16
