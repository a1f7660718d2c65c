"""Test files: their form, their cases, and what is not as expected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import jsonschema_rs
import pytest
import yaml

from openstack_emulator.core.faults import ACTIONS
from stoker.authoring.document_grammar import schema_of, sections
from stoker.authoring.json_schema.templates import DRAFT
from stoker.authoring.test_files.declarations import FAULTS, FILE
from stoker.authoring.workspace import Workspace
from stoker.base.errors import TemplateInvalid
from stoker.plugins.registry import Registry
from stoker.testing import running
from stoker.testing.cases import Case, found_files, read_cases
from stoker.testing.comparing import differences
from tests.sandbox.templates import DISK, WAITING

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "disk.yaml").write_text(DISK)
    return tmp_path


def written(text: str) -> list[Case]:
    """The cases of a test file whose section `tests` is `text`."""
    Path("disk.test.yaml").write_text(f"template: disk.yaml\ntests:\n{indent(dedent(text).strip(), '  ')}\n")
    return read_cases("disk.test.yaml")


def mistakes(text: str) -> list[str]:
    with pytest.raises(TemplateInvalid) as caught:
        written(text)
    return [item.text() for item in caught.value.diagnostics]


def failures(text: str, update: bool = False) -> list[str]:
    """What is not as expected in the cases of a test file, with its places."""
    return [item.text() for case in written(text) for item in running.run(case, update).failures]


# -- the form ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("t: {paln: {}}", "disk.test.yaml:3:7: tests.t.paln: unknown key 'paln'; did you mean 'plan'?"),
        ("t: {plan: {counts: {crate: 1}}}", "tests.t.plan.counts.crate: unknown key 'crate'; did you mean 'create'?"),
        ("t: {plan: {counts: {create: many}}}", "disk.test.yaml:3:31: tests.t.plan.counts.create: must be a whole"),
        ("t: {plan: {actions: {disk: repalce}}}", "delete, forget, act; did you mean 'replace'?"),
        ("t: {errors: {at: disk.yaml}}", "disk.test.yaml:3:7: tests.t.errors: must be a list"),
        ("t: {drift: [1]}", "tests.t.drift[0]: must be a string"),
        ("t: {deploy: 1}", "must be true or false"),
        ("t: 5", "must be a map with the keys template, environments"),
        ("t: {outputs: 5}", "must be a map by name"),
        ("t: {faults: [{do: fail}]}", "tests.t.faults[0]: needs the key 'request'"),
        ("t: {faults: [{request: POST *, do: explode}]}", "must be one of fail, succeed_but_fail"),
        ("t: {given: {size: []}}", "tests.t.given.size: the list has no values"),
        ("t: {given: {size: {from: 3, to: 1}}}", "the step of a range must lead from its first value to its last"),
        ("t: {given: {size: {from: 1, to: 1, step: 0}}}", "the step of a range must lead"),
        ("t: {given: {size: {from: 1, to: 5000}}}", "there are 5000 combinations of values"),
        ("t: {errors: [{rule: syntax}], outputs: {size: 1}}", "outputs cannot be expected: a template that is refused"),
        ("t: {deploy: false, sent: {}}", "sent cannot be expected: nothing is deployed"),
        ("t: {given: {size: [1, 2]}, plan: {golden: x}}", "t.plan.golden: one golden plan cannot be that of several"),
        ("t: {given: {size: [1]}, parameters: {size: 2}}", "the parameter 'size' has another value under 'parameters'"),
        ("t: {given: {zone: {matching: '[a-z'}}, examples: 1}", "t.given.zone: it is not a regular expression"),
        ("t: {given: {zone: {matching: x}}}", "t.given.zone: there may be more values than can be tried"),
        ("t: {given: {size: allowed}}", "t.given.size: there may be more values than can be tried"),
        ("t: {given: {size: alowed}, examples: 2}", "must be one of allowed; did you mean 'allowed'?"),
        ("t: {deploy: false, changes: []}", "changes cannot be expected: nothing is deployed"),
        ("t: {changes: [{body: {}}]}", "tests.t.changes[0]: needs the key 'request'"),
        ("t: {examples: 3}", "t.examples: there are no given values to choose from"),
        ("t: {given: {size: [1]}, examples: 0}", "t.examples: must be a number from 1 to 1000"),
        ("t: {given: {size: [1]}, examples: 3, plan: {golden: x}}", "one golden plan cannot be that of several"),
        ("t: {deploy: false, updates: [{}]}", "there is no stack to update"),
    ],
)  # fmt: skip
def test_mistakes_in_the_file(folder: Path, text: str, mistake: str) -> None:
    found = mistakes(text)
    assert len(found) == 1
    assert mistake in found[0]


def test_a_file_without_a_template_and_one_that_is_no_yaml(folder: Path) -> None:
    Path("x.test.yaml").write_text("tests: {t: {}}\n")
    with pytest.raises(TemplateInvalid, match=r"x\.test\.yaml:1:9: tests\.t: there is no template"):
        read_cases("x.test.yaml")
    Path("x.test.yaml").write_text("tests: [\n")
    with pytest.raises(TemplateInvalid, match=r"x\.test\.yaml:2:1: not valid YAML"):
        read_cases("x.test.yaml")
    Path("x.test.yaml").write_text("template: x\n")
    with pytest.raises(TemplateInvalid, match="needs the key 'tests'"):
        read_cases("x.test.yaml")


def test_the_schema_accepts_what_the_reader_accepts() -> None:
    validator = jsonschema_rs.validator_for(schema_of(FILE, "Tests", DRAFT))
    example = yaml.safe_load((EXAMPLES / "web-tier" / "web-tier.test.yaml").read_text())
    validator.validate(example)
    assert not validator.is_valid({"template": "x", "tests": {"t": {"paln": {}}}})
    assert not validator.is_valid({"template": "x", "tests": {"t": {"plan": {"counts": {"crate": 1}}}}})
    assert not validator.is_valid({"template": "x"})
    assert {section.name for section in sections(FILE)} >= {"file", "test", "update", "plan", "range", "cloud"}


def test_the_actions_of_faults_are_those_of_the_emulated_cloud() -> None:
    assert FAULTS == ACTIONS


def test_cases_are_made_of_lists_and_ranges(folder: Path) -> None:
    cases = written("t: {given: {size: {from: 1, to: 2, step: 0.5}, zone: [a, b]}}\nu: {}")
    assert [case.title for case in cases] == [
        *(f"t [size={size}, zone={zone}]" for size in (1, 1.5, 2) for zone in "ab"),
        "u",
    ]


def test_failing_values_are_minimized(folder: Path) -> None:
    [case] = written("""
        t:
          given: {size: {from: 1, to: 100000}, zone: {matching: "[a-c]{1,4}"}}
          examples: 20
          deploy: false
    """)
    assert case.title == "t [size, zone: 20 examples]"
    found = running.run(case)
    assert found.title == "t [size=101, zone=a]"
    assert [item.text() for item in found.failures] == ["disk.test.yaml:4:13: parameters.size: 101 is more than 100"]
    again = running.run(case)
    assert (again.title, again.failures) == (found.title, found.failures)


def test_chosen_values_that_all_pass_are_one_test(folder: Path) -> None:
    [case] = written("t: {given: {size: {from: 1, to: 1000000000}}, examples: 5, errors: [{rule: no*}]}")
    assert running.run(case).title == "t [size=1]"
    [case] = written(
        "t: {given: {size: {from: 101, to: 1000000000}}, examples: 5, errors: [{rule: parameter-constraint}]}"
    )
    found = running.run(case)
    assert (found.title, found.failures) == ("t [size: 5 examples]", ())


ALLOWING = """\
heat_template_version: 2021-04-16
parameters:
  even: {type: number, constraints: [{range: {min: 3}}, {modulo: {step: 4, offset: 2}}]}
  below: {type: number, constraints: [{range: {max: -2}}]}
  kind: {type: string, constraints: [{allowed_values: [a, b]}]}
  code: {type: string, constraints: [{allowed_pattern: "[A-Z][0-9]*"}, {length: {min: 2, max: 4}}]}
  word: {type: string, constraints: [{length: {min: 3, max: 5}}]}
  flag: {type: boolean}
  names: {type: comma_delimited_list, constraints: [{length: {min: 1, max: 3}}]}
  flavor: {type: string, default: m1.tiny, constraints: [{custom_constraint: nova.flavor}]}
  any: {type: json, default: {}}
conditions:
  fits:
    and:
    - {not: {equals: [{get_param: code}, ""]}}
    - {not: {equals: [{get_param: kind}, c]}}
resources: {}
outputs:
  even: {value: {get_param: even}}
"""
"""Parameters with each kind of constraint."""


def test_values_that_the_template_allows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All values that are chosen satisfy the constraints, so that the template takes each of them."""
    Path("disk.yaml").write_text(ALLOWING)
    tried: list[Mapping[str, Any]] = []

    def checked(case: Case) -> running.Outcome:
        """Only check the values, which is cheaper than a deployment."""
        tried.append(case.given)
        [step] = case.steps
        problems = Workspace(Registry.on_demand(), (), step.parameters).root(step.template).problems
        return running.Outcome(case.file.source, case.title, 0.0, tuple(problems))

    monkeypatch.setattr(running, "_tried", checked)
    names = ("even", "below", "kind", "code", "word", "flag", "names")
    given = ", ".join(f"{name}: allowed" for name in names)
    assert failures(f"t: {{given: {{{given}}}, examples: 40, conditions: {{fits: true}}}}") == []
    assert len(tried) > 20
    for each in tried:
        assert each["even"] % 4 == 2 and each["even"] >= 3 and each["below"] <= -2
        assert (each["kind"] in "ab", 3 <= len(each["word"]) <= 5, 1 <= len(each["names"]) <= 3) == (True, True, True)
        assert re.fullmatch("[A-Z][0-9]{1,3}", each["code"])
    assert {each["kind"] for each in tried} == {"a", "b"}
    assert {each["flag"] for each in tried} == {True, False}


def test_unusable_allowed_value_is_minimized(folder: Path) -> None:
    [case] = written("t: {given: {size: allowed}, examples: 5, deploy: false, plan: {counts: {create: 1}}}")
    outcome = running.run(case)
    assert outcome.title == "t [size=2]"
    assert "1 expected, 3 found" in outcome.failures[0].text()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("flavor", "the values of flavor are not known: what nova.flavor allows, the cloud decides"),
        ("any", "the values of any are not known: its type is json"),
        ("other", "the template has no parameter 'other'"),
    ],
)
def test_values_outside_the_allowed_ones(folder: Path, given: str, message: str) -> None:
    Path("disk.yaml").write_text(ALLOWING)
    [failure] = failures(f"t: {{given: {{{given}: allowed}}, examples: 5}}")
    assert message in failure
    Path("disk.yaml").write_text("heat_template_version: 2021-04-16\nresources: [\n")
    [failure] = failures(f"t: {{given: {{{given}: allowed}}, examples: 5}}")
    assert failure.startswith("disk.yaml:3:1")


def test_external_changes_in_tests(folder: Path) -> None:
    """Drift and the next update find what somebody changes and deletes."""
    text = """
    t:
      parameters: {size: 2}
      changes:
      - {request: "PUT /volume/v3/{project_id}/volumes/{disk}", body: {volume: {name: other}}}
      - {request: "DELETE /volume/v3/{project_id}/volumes/{copy}", user: admin}
      drift: [copy, disk]
      updates:
      - parameters: {zone: nova}
        plan: {actions: {disk: update, copy: create}}
        drift: []
    """
    assert failures(text) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            "{request: 'DELETE /volume/v3/x/volumes/{dusk}'}",
            "t.changes[0].request: the stack has no object 'dusk'; did",
        ),
        ("{request: POST /x, body: {a: [1, '{no}']}}", "t.changes[0].body.a[1]: the stack has no object 'no'"),
        ("{request: DELETE /volume/v3/x/volumes/x}", "t.changes[0].request: The emulated cloud refuses DELETE"),
        ("{request: Nonsense}", "t.changes[0].request: The emulated cloud refuses"),
    ],
)
def test_impossible_external_changes(folder: Path, change: str, message: str) -> None:
    [failure] = failures(f"t: {{changes: [{change}]}}")
    assert message in failure


def test_a_pattern_that_matches_nothing_is_a_failure(folder: Path) -> None:
    [failure] = failures("t: {given: {zone: {matching: 'a(?=b)c'}}, examples: 5}")
    assert "disk.test.yaml:3:7: tests.t.given: no value was found that matches the pattern" in failure


def test_files_are_found_below_folders(folder: Path) -> None:
    for name in ("b.test.yaml", "a/x.test.yml", "a/y.yaml", ".git/z.test.yaml"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    assert found_files(["."]) == ["a/x.test.yml", "b.test.yaml"]
    assert found_files(["b.test.yaml", "."]) == ["b.test.yaml", "a/x.test.yml"]


@pytest.mark.parametrize(
    ("expected", "found", "wrong"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, {}),
        ({"a": {"b": [1, "x*"]}}, {"a": {"b": [1, "xyz"]}}, {}),
        ("a[1]*", "a[1]b", {}),
        ("a*", "b", {(): '"a*" was expected, and "b" was found'}),
        ([1], [1, 2], {(): "[1] was expected, and [1,2] was found"}),
        ({"a": {"b": 1}}, {"a": {"c": 1}}, {("a", "b"): "1 was expected, and there is no such key besides c"}),
        ({"a": {"b": 1}}, {"a": {}}, {("a", "b"): "1 was expected, and there is no such key"}),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, {("a", 0, "b"): "1 was expected, and 2 was found"}),
        (1, True, {(): "1 was expected, and true was found"}),
        (None, None, {}),
        ("1", 1, {(): '"1" was expected, and 1 was found'}),
    ],
)
def test_comparisons(expected: Any, found: Any, wrong: Mapping[Any, str]) -> None:
    assert dict(differences(expected, found)) == wrong


# -- what is found -----------------------------------------------------------------------------------------------------

RIGHT = """
t:
  parameters: {size: 2}
  plan:
    counts: {create: 3, replace: 0}
    actions: {disk: create, copy: create}
  conditions: {large: true}
  outputs: {size: "2", id: "*-*"}
  sent: {disk: {size: 2, name: disk}}
  calls:
    - {request: POST /volume/*/volumes, times: 2}
    - {request: POST /volume/*/volumes, body: {name: disk}}
    - {request: "* /compute/*", times: 0}
  drift: []
  updates:
    - parameters: {size: 3}
      plan: {actions: {copy: update}}
      replaces: [word]
    - plan: {actions: {disk: keep}}
      replaces: []
"""

WRONG = """
t:
  parameters: {size: 2}
  plan:
    counts: {create: 1}
    actions: {disk: keep}
  conditions: {large: false, larg: true}
  state: CREATE_FAILED
  outputs: {size: "3", siez: 1}
  sent: {disk: {size: 3}, dsk: {}}
  calls:
    - {request: POST /volume/*/volumes, times: 3}
    - {request: POST /volume/*/volumes, body: {name: d}}
  drift: [copy]
  updates:
    - parameters: {size: 3}
      replaces: [copy]
"""
FOUND = [
    "disk.test.yaml:6:24: tests.t.plan.counts.create: 1 expected, 3 found: disk, copy, word",
    'disk.test.yaml:7:23: tests.t.plan.actions.disk: "keep" was expected, and "create" was found',
    "disk.test.yaml:8:25: tests.t.conditions.large: false was expected, and true was found",
    "disk.test.yaml:8:38: tests.t.conditions.larg: the template has no condition 'larg'; did you mean 'large'?",
    "disk.test.yaml:9:12: tests.t.state: the stack is CREATE_COMPLETE, and CREATE_FAILED was expected: "
    "Stack CREATE completed successfully",
    'disk.test.yaml:10:21: tests.t.outputs.size: "3" was expected, and "2" was found',
    "disk.test.yaml:10:32: tests.t.outputs.siez: there is no output 'siez'; did you mean 'size'?",
    "disk.test.yaml:11:25: tests.t.sent.disk.size: 3 was expected, and 2 was found",
    "disk.test.yaml:11:29: tests.t.sent.dsk: the stack has no resource 'dsk'; did you mean 'disk'?",
    "disk.test.yaml:13:9: tests.t.calls[0]: 3 expected, 2 found",
    "disk.test.yaml:14:9: tests.t.calls[1]: at least one was expected, 0 found, besides 2 with other bodies",
    "disk.test.yaml:15:13: tests.t.drift[0]: copy was expected to be different from its definition, and is not",
    "disk.test.yaml:18:20: tests.t.updates[0].replaces[0]: copy was expected to be replaced, and is not",
    "disk.test.yaml:18:9: tests.t.updates[0].replaces: word is replaced, which was not expected",
]


def test_met_expectations_pass(folder: Path) -> None:
    assert failures(RIGHT) == []


def test_unmet_expectations_are_reported(folder: Path) -> None:
    assert failures(WRONG) == FOUND


def test_errors_of_inputs(folder: Path) -> None:
    Path("large.yaml").write_text("parameters: {size: 500}\n")
    refused = "t: {parameters: {size: 500}, errors: [{%s}]}"
    assert failures(refused % "path: parameters.size, rule: parameter-constraint, message: '*100*'") == []
    assert failures(refused % "at: disk.test.yaml:3:26") == []
    assert failures("t: {environments: [large.yaml], errors: [{at: large.yaml:1:20}]}") == []
    other = failures(refused % "at: disk.test.yaml:9")
    assert len(other) == 2 and "this error is not reported, but: disk.test.yaml:3:26" in other[0]
    unexpected = failures("t: {parameters: {size: 500}}")
    assert len(unexpected) == 1 and unexpected[0].startswith("disk.test.yaml:3:26: parameters.size: ")
    assert "the template was accepted" in failures("t: {errors: [{at: disk.yaml}]}")[0]
    given = failures("t: {given: {size: [1, 500]}, deploy: false}")
    assert len(given) == 1 and given[0].startswith("disk.test.yaml:3:15: parameters.size: ")


def test_refusals_without_a_place(folder: Path) -> None:
    template = DISK.replace("zone: {type", "zone: {immutable: true, type")
    Path("disk.yaml").write_text(template)
    text = "t: {updates: [{parameters: {zone: b}, errors: [{rule: ImmutableParameterModified, message: '*zone*'}]}]}"
    assert failures(text) == []
    assert failures("t: {template: none.yaml, errors: [{rule: Invalid, message: 'none.yaml cannot be read*'}]}") == []
    (other,) = failures("t: {template: none.yaml}")
    assert other.startswith("none.yaml: none.yaml cannot be read")


def test_signals(folder: Path) -> None:
    Path("waiting.yaml").write_text(WAITING)
    text = "t: {template: waiting.yaml, signals: [{resource: handle, details: {status: FAILURE, reason: broken}}]%s}"
    assert failures(text % ", failures: {wait: '*broken*'}") == []
    assert "CREATE_COMPLETE was expected: wait: " in failures(text % "")[0]


def test_faults_are_those_of_their_step(folder: Path) -> None:
    text = """
    t:
      faults: [{request: POST /volume/*/volumes, do: error_state}]
      failures: {disk: "*error*"}
      updates: [{state: UPDATE_COMPLETE}]
    u:
      faults: [{request: POST /volume/*/volumes, do: error_state}]
      rollback: true
      state: ROLLBACK_COMPLETE
    """
    assert failures(text) == []
    assert "disk is CREATE_COMPLETE" in failures("t: {state: CREATE_COMPLETE, failures: {disk: x}}")[0]


def test_golden_plans(folder: Path) -> None:
    text = "t: {deploy: false, plan: {golden: plans/disk.txt}}"
    assert "plans/disk.txt does not exist; `stoker test --update` writes it" in failures(text)[0]
    assert failures(text, update=True) == []
    assert "Plan: 1 to create." in (folder / "plans" / "disk.txt").read_text()
    assert failures(text) == []
    changed = failures(text.replace("deploy", "parameters: {size: 2}, deploy"))[0]
    assert "the plan differs from plans/disk.txt:" in changed
    assert "+  + copy  OS::Cinder::Volume" in changed


def test_the_cloud_of_a_test(folder: Path) -> None:
    Path("server.yaml").write_text(
        "heat_template_version: 2021-04-16\n"
        "resources:\n"
        "  server:\n"
        "    type: OS::Nova::Server\n"
        "    properties: {image: debian, flavor: c8, networks: [{network: office}], key_name: mine}\n"
    )
    text = """
    t:
      template: server.yaml
      cloud:
        images: {debian: {min_disk: 1}}
        flavors: {c8: {vcpus: 8, ram: 4096}}
        networks: {office: {cidr: 10.9.0.0/24}}
        keypairs: [mine]
      sent: {server: {key_name: mine}}
    """
    assert failures(text) == []
    assert "debian" in failures(text.replace("debian: {", "fedora: {"))[0]


def cases_of_examples() -> Iterator[Case]:
    for path in found_files([str(EXAMPLES)]):
        yield from read_cases(path)


@pytest.mark.parametrize("case", list(cases_of_examples()), ids=lambda case: case.title)
def test_the_examples_pass(case: Case) -> None:
    assert running.run(case).failures == ()


def test_policies_on_plans_are_expected_exactly(folder: Path) -> None:
    expression = "step.path != 'disk' || step.properties.size < 5"
    policies = f"policies: [{{name: small, types: ['OS::Cinder::Volume'], expression: {expression}}}]"
    (folder / "policies.yaml").write_text(policies)
    head = "template: disk.yaml\npolicy_files: [policies.yaml]\ntests:\n"
    large = "{deploy: false, parameters: {size: 50}, policies: [{policy: small, path: disk}]}"
    none = "{deploy: false, parameters: {size: 50}, policies: []}"
    other = "{deploy: false, parameters: {size: 1}, policies: [{policy: small, path: disk}]}"
    Path("disk.test.yaml").write_text(f"{head}  large: {large}\n  none: {none}\n  other: {other}\n")
    found = [[item.message for item in running.run(case).failures] for case in read_cases("disk.test.yaml")]
    denied = "Denied by the policy small: disk: the plan does not satisfy the policy's expression."
    assert found == [[], [f"this was not expected: {denied}"], ["small does not say this of the plan"]]
    (folder / "policies.yaml").write_text("policies: [{name: small}]")
    assert "the policy has no expression" in running.run(read_cases("disk.test.yaml")[0]).failures[0].message


def test_policy_denial_is_an_error_at_its_place(folder: Path) -> None:
    """A test whose plan is denied fails, whether it deploys or not, unless it expects that."""
    denied = "{name: small, types: ['OS::Cinder::Volume'], expression: step.properties.size < 20, message: too large}"
    Path("policies.yaml").write_text(f"policies: [{denied}]")
    expected = "{errors: [{rule: small, at: 'disk.yaml:8'}, {rule: small, path: resources.copy}]}"
    head = "template: disk.yaml\npolicy_files: [policies.yaml]\nparameters: {size: 50}\ntests:\n"
    Path("disk.test.yaml").write_text(f"{head}  a: {{}}\n  b: {{deploy: false}}\n  c: {expected}\n")
    output = [[item.text() for item in running.run(case).failures] for case in read_cases("disk.test.yaml")]
    both = ["disk.yaml:14:3: resources.copy: too large", "disk.yaml:8:3: resources.disk: too large"]
    assert [sorted(each) for each in output] == [both, both, []]
