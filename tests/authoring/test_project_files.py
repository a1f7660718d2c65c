"""Project files: their mistakes with places, and the order of their stacks."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from stoker.authoring.document_grammar import schema_of
from stoker.authoring.graph import to_mermaid
from stoker.authoring.json_schema.templates import DRAFT
from stoker.authoring.project_files.checking import draw_project, is_project, problems_of
from stoker.authoring.project_files.declarations import FILE
from stoker.authoring.project_files.ordering import Exported, Shared, order_of, removal_order
from stoker.authoring.project_files.project import read_project
from stoker.base.errors import BadValue, TemplateInvalid

NET = """
heat_template_version: 2021-04-16
parameters: {size: {type: number, default: 1}}
resources: {net: {type: OS::Neutron::Net}}
outputs: {id: {value: {get_resource: net}}}
"""
EXPORTER = """
AWSTemplateFormatVersion: 2010-09-09
Resources: {net: {Type: 'OS::Neutron::Net'}}
Outputs: {id: {Value: {Ref: net}, Export: {Name: {'Fn::Sub': '${AWS::StackName}-id'}}}}
"""
IMPORTER = """
AWSTemplateFormatVersion: 2010-09-09
Parameters: {from: {Type: String, Default: x}}
Resources: {port: {Type: 'OS::Neutron::Port', Properties: {network: {'Fn::ImportValue': {'Fn::Sub': '${from}-id'}}}}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in {"net.yaml": NET, "exporter.yaml": EXPORTER, "importer.yaml": IMPORTER}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def problems(text: str) -> list[str]:
    Path("project.yaml").write_text(text)
    return [item.text() for item in problems_of("project.yaml")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stacks: {a: {}}", "project.yaml:1:10: stacks.a: needs the key 'template'"),
        ("stacks: {a: {template: no.yaml}}", "project.yaml:1:24: stacks.a.template: no.yaml cannot be read: "),
        ("stacks: {a: {template: net.yaml, depends_on: [b]}}", "1:47: stacks.a.depends_on[0]: there is no stack 'b'"),
        (
            "stacks:\n  a: {template: net.yaml, parameters: {size: {from: {stack: nett, output: id}}}}\n"
            "  net: {template: net.yaml}",
            "project.yaml:2:61: stacks.a.parameters.size.from.stack: there is no stack 'nett'; did you mean 'net'?",
        ),
        (
            "stacks:\n  a: {template: net.yaml, parameters: {size: {from: {stack: net, output: ids}}}}\n"
            "  net: {template: net.yaml}",
            "project.yaml:2:74: stacks.a.parameters.size.from.output: the stack 'net' has no output 'ids'",
        ),
        ("stacks: {a: {template: net.yaml, parameters: {sise: 1}}}", "has no parameter 'sise'; did you mean 'size'?"),
        ("stacks: {a: {template: net.yaml, environments: [e.yaml]}}", "there is no environment e.yaml"),
        (
            "stacks: {a: {template: net.yaml, name: x}, b: {template: net.yaml, name: x}}",
            "the stack has the name 'x' in the cloud, as has 'a'",
        ),
        (
            "stacks: {a: {template: net.yaml, depends_on: [b]}, b: {template: net.yaml, depends_on: [a]}}",
            "the stacks depend on each other: a → b (depends_on), b → a (depends_on)",
        ),
        (
            "stacks: {}\nstages: {test: {stacks: {a: {parameters: {size: 1}}}}}",
            "a stack of this stage alone needs a template",
        ),
    ],
)  # fmt: skip
def test_mistakes_have_positions(folder: Path, text: str, message: str) -> None:
    found = problems(text)
    assert any(message in each for each in found), found


def test_stage_overrides_named_settings(folder: Path) -> None:
    Path("e.yaml").write_text("parameters: {size: 5}\n")
    text = (
        "stacks: {net: {template: net.yaml, parameters: {size: 1}, tags: [a]}}\n"
        "stages: {test: {}, live: {environments: [e.yaml], stacks: {net: {parameters: {size: 3}, name: 'n-{stage}'}}}}"
    )
    assert problems(text) == []
    test, live = (read_project("project.yaml", stage).stacks["net"] for stage in ("test", "live"))
    assert (test.name, test.parameters, test.environments) == ("net-test", {"size": 1}, ())
    assert (live.name, live.parameters, live.environments, live.tags) == ("n-live", {"size": 3}, ("e.yaml",), ("a",))
    with pytest.raises(BadValue, match="choose one with --stage"):
        read_project("project.yaml")
    with pytest.raises(BadValue, match="no stage 'x'"):
        read_project("project.yaml", "x")


def test_exports_and_imports_are_dependencies(folder: Path) -> None:
    text = (
        "stacks:\n  user: {template: importer.yaml, parameters: {from: net-1}}\n"
        "  net: {template: exporter.yaml, name: net-1}"
    )
    assert problems(text) == []
    project = read_project("project.yaml")
    assert project.requires == {"user": {"net": "net-1-id"}, "net": {}}
    assert "n1 -.-> n0" in to_mermaid(draw_project(project))
    assert "user/port" not in to_mermaid(draw_project(project))
    assert "port" in to_mermaid(draw_project(project, nested=True))
    assert is_project("project.yaml")
    assert not is_project("net.yaml")


def test_the_schema_accepts_what_the_reader_accepts(folder: Path) -> None:
    schema = schema_of(FILE, "Projects", DRAFT)
    good = {"stacks": {"a": {"template": "net.yaml", "parameters": {"size": {"from": {"stack": "b", "output": "x"}}}}}}
    jsonschema.validate(good, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"stacks": {"a": {"templat": "net.yaml"}}}, schema)
    Path("project.yaml").write_text(yaml.safe_dump({"stacks": {"a": {"templat": "net.yaml"}}}))
    with pytest.raises(TemplateInvalid, match="templat"):
        read_project("project.yaml")


# -- order ---------------------------------------------------------------------------------------------------------

STACKS = ("a", "b", "c", "d", "e")
EXPORTS = ("x", "y", "z", "w")


class Cloud:
    """The rules of a service for exports: none is imported that is not there, none removed that is imported."""

    def __init__(self, shared: dict[str, Shared]) -> None:
        self.shared = dict(shared)

    def owners(self) -> dict[str, str]:
        return {export: stack for stack, found in self.shared.items() for export in found.exports}

    def importers(self, export: str) -> frozenset[str]:
        return frozenset(stack for stack, found in self.shared.items() if export in found.imports)

    def deploy(self, stack: str, shared: Shared) -> None:
        lost = self.shared.get(stack, Shared()).exports - shared.exports
        assert not [name for name in lost if self.importers(name) - {stack}], "an export in use is removed"
        there = self.owners().keys() | shared.exports
        assert shared.imports <= there, "an import is not there"
        self.shared[stack] = shared

    def delete(self, stack: str) -> None:
        self.deploy(stack, Shared())

    def present(self) -> dict[str, Exported]:
        return {name: Exported(stack, 1, self.importers(name)) for name, stack in self.owners().items()}


@st.composite
def projects(draw: st.DrawFn) -> dict[str, Shared]:
    """Stacks of which each imports from earlier ones in an order of its own."""
    order = draw(st.permutations(STACKS))
    owners = {export: draw(st.sampled_from(STACKS)) for export in draw(st.sets(st.sampled_from(EXPORTS)))}
    found = {}
    for number, stack in enumerate(order):
        offered = sorted(export for export, owner in owners.items() if owner in order[:number])
        imports = draw(st.sets(st.sampled_from(offered))) if offered else set()
        found[stack] = Shared(frozenset(e for e, owner in owners.items() if owner == stack), frozenset(imports))
    return {stack: found[stack] for stack in STACKS}


def requirements(shared: dict[str, Shared]) -> dict[str, set[str]]:
    owners = {export: stack for stack, found in shared.items() for export in found.exports}
    return {stack: {owners[name] for name in found.imports} for stack, found in shared.items()}


@given(projects(), projects())
def test_deployment_order_never_blocks_on_exports(before: dict[str, Shared], after: dict[str, Shared]) -> None:
    """Exports stay with their stacks; they come and go, as do their users, in one deployment."""
    owners = {export: stack for stack, found in before.items() for export in found.exports}
    moved = {name for stack, found in after.items() for name in found.exports if owners.get(name, stack) != stack}
    after = {stack: Shared(found.exports - moved, found.imports - moved) for stack, found in after.items()}
    cloud = Cloud(before)
    order = order_of(requirements(after), after, cloud.present())
    done: set[str] = set()
    for name, step in order.steps.items():
        assert order.before[name] <= done
        shared = after[step.stack]
        cloud.deploy(step.stack, Shared(shared.exports | step.kept.keys(), shared.imports))
        done.add(name)
    assert cloud.shared == after


@given(projects())
def test_stacks_are_deleted_after_their_dependents(shared: dict[str, Shared]) -> None:
    cloud = Cloud(shared)
    before = removal_order(STACKS, requirements(shared), cloud.present())
    gone: set[str] = set()
    while len(gone) < len(STACKS):
        ready = [stack for stack in STACKS if stack not in gone and before[stack] <= gone]
        assert ready
        cloud.delete(ready[0])
        gone.add(ready[0])
