"""Descriptions, definitions, references, renaming, formatting, symbols and plans."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from stoker.authoring.lint import lint
from stoker.authoring.sources import find_templates
from stoker.authoring.workspace import Workspace
from stoker.language_server.outline import Outline, Role
from stoker.plugins.registry import Registry
from stoker.template.document import Document
from testing import corpus
from tests.language_server.editor import Editor, applied

REPOSITORY = Path(__file__).parents[2]
HOT = dedent("""\
    heat_template_version: 2021-04-16
    parameter_groups:
      - parameters: [size]
    parameters:
      size:
        type: string
        default: small
    conditions:
      big: {equals: [{get_param: size}, large]}
      small: {not: big}
    resources:
      size_of: {type: OS::Heat::Value, properties: {value: size}}
      web:
        type: OS::Nova::Server
        condition: big
        depends_on: [size_of]
        properties:
          flavor: {get_param: size}
          name:
            str_replace:
              template: size
              params: {size: {get_param: [size]}}
          metadata: {if: [big, {get_attr: [size_of, value]}, {}]}
          user_data: {get_file: start.sh}
    outputs:
      id: {value: {get_resource: web}, condition: small}
    """)
CFN = dedent("""\
    AWSTemplateFormatVersion: "2010-09-09"
    Parameters:
      Size: {Type: String}
    Resources:
      Server:
        Type: AWS::EC2::Instance
        DependsOn: Disk
        Properties:
          ImageId: !Sub "${Size}-${!Size}-${AWS::Region}"
          InstanceType: !Ref Size
          UserData:
            Fn::Base64: !Sub
              - |
                echo ${Size} ${Disk} ${Own}
                mount ${Disk.AvailabilityZone}
              - Own: {Ref: "Size"}
      Disk:
        Type: AWS::EC2::Volume
        Properties: {Size: 1, AvailabilityZone: !GetAtt 'Server.AvailabilityZone'}
    Outputs:
      Id: {Value: {"Fn::GetAtt": [Disk, AvailabilityZone]}}
    """)


async def hover(editor: Editor, name: str, needle: str, offset: int = 0) -> str:
    answer = await editor.client.text_document_hover_async(types.HoverParams(**editor.at(name, needle, offset)))
    assert answer is not None, needle
    assert isinstance(answer.contents, types.MarkupContent)
    return answer.contents.value


async def test_descriptions_in_definitions_inside_of_properties(editor: Editor) -> None:
    editor.open(
        "group.yaml",
        dedent("""\
        heat_template_version: 2021-04-16
        resources:
          group:
            type: OS::Heat::ResourceGroup
            properties:
              resource_def: {type: OS::Nova::Server, properties: {flavor: m1, networks: [{network: abc}]}}
          scaled:
            type: OS::Heat::AutoScalingGroup
            properties:
              max_size: 2
              resource:
                type: OS::Neutron::Port
                properties:
                  security_groups: [default]
        """),
    )
    assert "A virtual machine or" in await hover(editor, "group.yaml", "OS::Nova::Server", 4)
    assert "**flavor**" in await hover(editor, "group.yaml", "flavor", 2)
    assert "**network** " in await hover(editor, "group.yaml", "network: abc", 2)
    assert "**security_groups**" in await hover(editor, "group.yaml", "security_groups", 2)
    assert "**resource_def**" in await hover(editor, "group.yaml", "resource_def", 2)


async def definition(editor: Editor, name: str, needle: str, offset: int = 0) -> str | None:
    params = types.DefinitionParams(**editor.at(name, needle, offset))
    answer = await editor.client.text_document_definition_async(params)
    if answer is None:
        return None
    assert isinstance(answer, types.Location)
    return f"{answer.uri.rpartition('/')[2]}:{answer.range.start.line}:{answer.range.start.character}"


async def renamed(editor: Editor, name: str, needle: str, new: str, offset: int = 0) -> dict[str, str]:
    """The documents after renaming, by name."""
    params: dict[str, Any] = editor.at(name, needle, offset)
    answer = await editor.client.text_document_rename_async(types.RenameParams(**params, new_name=new))
    assert answer is not None
    changes = answer.changes or {}
    names = {uri.rpartition("/")[2]: edits for uri, edits in changes.items()}
    return {changed: applied(editor.text(changed), list(edits)) for changed, edits in names.items()}


async def test_descriptions(editor: Editor) -> None:
    editor.open("web.yaml", HOT)
    assert "OS::Nova::Server" in await hover(editor, "web.yaml", "OS::Nova", 4)
    assert "A change updates the resource in place" in await hover(editor, "web.yaml", "flavor:")
    assert "default: small" in await hover(editor, "web.yaml", "get_param: size", 12)
    assert "**get_param**" in await hover(editor, "web.yaml", "get_param: size", 2)
    assert "**value**" in await hover(editor, "web.yaml", "size_of, value", 10)
    assert "OS::Nova::Server" in await hover(editor, "web.yaml", "  web:", 3)
    assert "```yaml\nbig: {equals" in await hover(editor, "web.yaml", "condition: big", 12)
    editor.open(
        "web.json", '{"Resources": {"A": {"Type": "AWS::EC2::Instance", "Properties": {"ImageId": {"Ref": "x"}}}}}'
    )
    assert "ImageId" in await hover(editor, "web.json", "ImageId")
    editor.open("cfn.yaml", CFN)
    assert "**Fn::GetAtt**" in await hover(editor, "cfn.yaml", "!GetAtt", 3)


async def test_definitions(editor: Editor) -> None:
    (editor.folder / "start.sh").write_text("#!/bin/sh\n")
    editor.open("web.yaml", HOT)
    assert await definition(editor, "web.yaml", "get_param: size", 12) == "web.yaml:4:2"
    assert await definition(editor, "web.yaml", "[size]", 2) == "web.yaml:4:2"
    assert await definition(editor, "web.yaml", "get_resource: web", 15) == "web.yaml:12:2"
    assert await definition(editor, "web.yaml", "not: big", 6) == "web.yaml:8:2"
    assert await definition(editor, "web.yaml", "[size_of]", 3) == "web.yaml:11:2"
    assert await definition(editor, "web.yaml", "start.sh", 3) == "start.sh:0:0"
    editor.open("cfn.yaml", CFN)
    assert await definition(editor, "cfn.yaml", "mount ${Disk", 9) == "cfn.yaml:16:2"


async def test_definitions_in_other_files(tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text("#!/bin/sh\n")
    (tmp_path / "member.yaml").write_text(HOT)
    (tmp_path / "e.yaml").write_text("resource_registry:\n  My::Member: member.yaml\n")
    editor = Editor(tmp_path)
    await editor.connect(environments=["e.yaml"])
    for kind in ("member.yaml", "My::Member"):
        editor.open(
            "web.yaml",
            f"heat_template_version: pike\nresources:\n  m:\n    type: {kind}\n    properties: {{size: large}}\n"
            "outputs:\n  o: {value: {get_attr: [m, id]}}\n",
        )
        assert await definition(editor, "web.yaml", kind, 3) == "member.yaml:0:0"
        assert await definition(editor, "web.yaml", "size: large", 1) == "member.yaml:4:2"
        assert await definition(editor, "web.yaml", "[m, id]", 4) == "member.yaml:25:2"
    editor.open("e.yaml", (tmp_path / "e.yaml").read_text())
    assert await definition(editor, "e.yaml", "member.yaml", 3) == "member.yaml:0:0"
    editor.open("f.yaml", "heat_template_version: pike\noutputs: {a: {value: {get_file: start.sh}}}\n")
    assert await definition(editor, "f.yaml", "start.sh", 3) == "start.sh:0:0"
    await editor.close()


async def test_references_and_renaming(editor: Editor) -> None:
    editor.open("web.yaml", HOT)
    params = types.ReferenceParams(**editor.at("web.yaml", "size:", 1), context=types.ReferenceContext(True))
    found = await editor.client.text_document_references_async(params)
    assert [place.range.start.line for place in found or ()] == [2, 4, 8, 17, 21]
    # Only the parameter is renamed: not the resource that begins so, nor the string, nor the key of str_replace.
    after = (await renamed(editor, "web.yaml", "get_param: size", "flavor_name", 12))["web.yaml"]
    want = HOT.replace("[size]", "[flavor_name]").replace("  size:\n", "  flavor_name:\n")
    assert after == want.replace("get_param: size", "get_param: flavor_name")
    after = (await renamed(editor, "web.yaml", "size_of:", "café_🍵"))["web.yaml"]
    assert after == HOT.replace("size_of", "café_🍵")
    after = (await renamed(editor, "web.yaml", "condition: big", "large_one", 12))["web.yaml"]
    assert after == re.sub(r"\bbig\b", "large_one", HOT)
    editor.change("web.yaml", HOT + "\nbroken: [\n")
    assert "café" in (await renamed(editor, "web.yaml", "size_of:", "café"))["web.yaml"]


async def test_renaming_in_cloudformation(editor: Editor) -> None:
    editor.open("cfn.yaml", CFN)
    after = (await renamed(editor, "cfn.yaml", "!Ref Size", "Kind", 6))["cfn.yaml"]
    for line in (
        '"${Kind}-${!Size}-${AWS::Region}"',
        "  Kind: {Type",
        "!Ref Kind",
        "echo ${Kind} ${Disk} ${Own}",
        '{Ref: "Kind"}',
    ):
        assert line in after
    assert "Properties: {Size: 1" in after  # the property of the volume is not the parameter
    after = (await renamed(editor, "cfn.yaml", "DependsOn: Disk", "Volume", 12))["cfn.yaml"]
    assert after == CFN.replace("Disk", "Volume")
    json = Document.parse(CFN).data
    import json as library

    editor.open("cfn.json", library.dumps(json, indent=1))
    after = (await renamed(editor, "cfn.json", '"Disk"', "Volume", 2))["cfn.json"]
    assert library.loads(after) == library.loads(library.dumps(json).replace("Disk", "Volume"))


async def test_a_parameter_is_renamed_where_open_templates_set_it(editor: Editor) -> None:
    editor.open("member.yaml", HOT)
    parent = "heat_template_version: pike\nresources:\n  m: {type: member.yaml, properties: {size: large}}\n"
    editor.open("web.yaml", parent)
    after = await renamed(editor, "member.yaml", "get_param: size", "flavor", 12)
    assert after["web.yaml"] == parent.replace("size", "flavor")


async def test_renaming_is_refused_with_a_reason(editor: Editor) -> None:
    editor.open("web.yaml", HOT)
    for needle, new, reason in (
        ("OS::Nova", "x", "Only parameters"),
        ("web:", "size", "already an entry"),
        ("web:", "a: b", "cannot be the name"),
        ("web:", "", "cannot be the name"),
    ):
        with pytest.raises(JsonRpcException, match=reason):
            await renamed(editor, "web.yaml", needle, new)
    params = types.PrepareRenameParams(**editor.at("web.yaml", "OS::Nova"))
    with pytest.raises(JsonRpcException, match="Only parameters"):
        await editor.client.text_document_prepare_rename_async(params)


async def test_formatting(editor: Editor) -> None:
    async def edits(name: str, text: str) -> list[types.TextEdit]:
        editor.open(name, text)
        params = types.DocumentFormattingParams(
            types.TextDocumentIdentifier(editor.uri(name)), types.FormattingOptions(2, True)
        )
        return list(await editor.client.text_document_formatting_async(params) or ())

    text = "heat_template_version: 2021-04-16\nresources:\n    🍵: {type: OS::Heat::None}\n"
    found = await edits("web.yaml", text)
    assert applied(text, found) == text.replace("    🍵", "  🍵").replace("16\n", "16\n\n")
    assert await edits("good.yaml", applied(text, found)) == []
    with pytest.raises(JsonRpcException, match="not valid YAML"):
        await edits("bad.yaml", "heat_template_version: [\n")


async def test_symbols_and_plans(editor: Editor) -> None:
    editor.open("web.yaml", HOT)
    document = types.TextDocumentIdentifier(editor.uri("web.yaml"))
    found = await editor.client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
    by_name = {item.name: item for item in found or () if isinstance(item, types.DocumentSymbol)}
    assert list(by_name) == [
        "heat_template_version", "parameter_groups", "parameters", "conditions", "resources", "outputs",
    ]  # fmt: skip
    resources = {item.name: item for item in by_name["resources"].children or ()}
    assert resources["web"].detail == "OS::Nova::Server"
    assert (resources["web"].range.start.line, resources["web"].range.end.line) == (12, 23)
    lenses = await editor.client.text_document_code_lens_async(types.CodeLensParams(document))
    (lens,) = lenses or ()
    assert lens.command is not None
    assert lens.command.title == "plan"
    editor.open("values.yaml", "a: 1\n")
    values = types.TextDocumentIdentifier(editor.uri("values.yaml"))
    assert not await editor.client.text_document_code_lens_async(types.CodeLensParams(values))


@pytest.mark.slow
async def test_the_plan_is_shown(editor: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_DATA_DIR", str(editor.folder / "none"))
    monkeypatch.delenv("OS_CLOUD", raising=False)
    editor.open("web.yaml", HOT)
    arguments = types.ExecuteCommandParams("stoker.plan", [editor.uri("web.yaml")])
    await editor.client.workspace_execute_command_async(arguments)
    (shown,) = editor.shown
    assert shown.type is types.MessageType.Error
    assert "stoker up" in shown.message


# -- the scanner ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": "one\n  two", "b": "c"}', {("a",): "one\n  two", ("b",): "c"}),
        ("{a: one\n  two, b: c}", {("a",): "one\n  two", ("b",): "c"}),
        ("a:\n- '''@''x''\n\n  '\n", {("a", 0): "''@''x''\n\n  "}),
        # The first value is being typed: its quotation mark is not closed by that of the next key.
        ('{"a": "one\n, "b": "c"}', {("a",): "one", ("b",): "c"}),
    ],
)
def test_strings_of_several_lines(text: str, found: dict[tuple[str | int, ...], str]) -> None:
    assert {token.path: token.text for token in Outline.of(text).tokens if token.role is Role.VALUE} == found


def test_the_outline_has_the_keys_and_values_that_the_parser_finds() -> None:
    folders = [
        REPOSITORY / "packages/stoker/src/stoker/examples",
        REPOSITORY / "packages/stoker/src/stoker/template/packaged",
    ]
    paths = list(find_templates([*map(str, folders), *([str(corpus.folder())] if corpus.folder() else [])]))
    differing = []
    for path in paths:
        outline = Outline.of(Path(path).read_text("utf-8-sig"))
        found = {token.path: token.text for token in outline.tokens if token.role is Role.VALUE}
        keys = {token.path for token in outline.tokens if token.role is Role.KEY}
        data = Document.parse(outline.text).data
        wrong = [
            place for place, value in _leaves(data) if isinstance(value, str) and not _same(found.get(place), value)
        ]
        wrong += [place for place in _keys(data) if place not in keys]
        if wrong:
            differing.append((path, wrong))
    # An alias, a key with an escape, a plain string over several lines with colons and a key without a value.
    assert {Path(path).name for path, _ in differing} <= {
        "scaling.yaml",
        "AWS_RDS_DBInstance.yaml",
        "MultiNode_DevStack.yaml",
    }


def _leaves(data: Any, path: tuple[str | int, ...] = ()) -> Any:
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else None
    if entries is None:
        yield path, data
        return
    for key, value in entries:
        yield from _leaves(value, (*path, key))


def _keys(data: Any, path: tuple[str | int, ...] = ()) -> Any:
    for place, _ in _leaves(data):
        yield from (place[: end + 1] for end, part in enumerate(place) if isinstance(part, str))


def _same(found: str | None, value: str) -> bool:
    """Whether a string is the one in the document; escapes, line breaks and indentation are not compared."""
    plain = re.compile(r"['\"#]|\s+|[^ -~]")
    if found is None:
        return False
    unescaped = re.sub(r"\\.", "", found), value.replace("\\", "")
    return any(plain.sub("", one) == plain.sub("", other) for one, other in ((found, value), unescaped))


def test_renaming_keeps_every_template_of_the_corpus_valid() -> None:
    """Rename each parameter and resource of the examples; the linter reports the same as before."""
    from stoker.language_server.navigation import rename
    from stoker.language_server.project import Project

    registry = Registry.on_demand()
    for path in find_templates([str(REPOSITORY / "packages/stoker/src/stoker/examples")]):
        project = Project()
        project.__dict__["registry"] = registry
        document = project.put(path, Path(path).read_text())
        before = [(item.rule, item.position.line if item.position else 0) for item in lint(Workspace(registry), [path])]
        for token in [*document.names.parameters.values(), *document.names.resources.values()]:
            ((_, uses),) = rename(project, document, token.start, f"other_{token.text}")
            changed = document.text
            for use in reversed(uses):
                changed = f"{changed[: use.start]}other_{token.text}{changed[use.end :]}"
            texts = {path: changed}
            workspace = Workspace(registry, reader=lambda name: texts.get(name) or Path(name).read_text())  # noqa: B023
            after = [(item.rule, item.position.line if item.position else 0) for item in lint(workspace, [path])]
            assert after == before, (path, token.text)
