"""What the linter reports while templates are typed, saved or not."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from lsprotocol import types

from tests.language_server.editor import Editor, applied

WEB = dedent("""\
    heat_template_version: 2021-04-16
    parameters:
      size: {type: string, default: small}
    resources:
      café_🍵: {type: OS::Heat::RandomString}
      web:
        type: member.yaml
        properties:
          flavour: {get_param: size}
    """)
MEMBER = dedent("""\
    heat_template_version: 2021-04-16
    parameters:
      flavor: {type: string}
    resources:
      server:
        type: OS::Nova::Server
        properties: {flavor: {get_param: flavor}, image: i}
    """)


def place(found: types.Diagnostic, text: str) -> str:
    """The string that a diagnostic marks."""
    assert found.range.start.line == found.range.end.line
    line = text.split("\n")[found.range.start.line].encode("utf-16-le")
    return line[2 * found.range.start.character : 2 * found.range.end.character].decode("utf-16-le")


async def test_mistakes_of_unsaved_documents_and_of_their_nested_templates(editor: Editor) -> None:
    (editor.folder / "member.yaml").write_text("heat_template_version: 2021-04-16\n")
    editor.open("member.yaml", MEMBER)
    await editor.diagnostics("member.yaml")
    editor.open("web.yaml", WEB)
    _, found = await editor.diagnostics("web.yaml", "required-property", "unknown-property")
    assert place(found, WEB) == "flavour"
    assert "did you mean 'flavor'" in found.message

    editor.change("web.yaml", WEB.replace("flavour", "flavor"))
    await editor.diagnostics("web.yaml")
    # A mistake in the nested template is reported there, and a change of its parameters in the template that uses it.
    editor.change("member.yaml", MEMBER.replace("get_param: flavor", "get_param: flavr"))
    found = (await editor.diagnostics("member.yaml", "function", "unused-parameter"))[1]
    assert place(found, editor.text("member.yaml")) == "flavr"
    editor.change(
        "member.yaml", MEMBER.replace("flavor: {type", "flavour: {type").replace("param: flavor", "param: flavour")
    )
    await editor.diagnostics("web.yaml", "required-property", "unknown-property")
    await editor.diagnostics("member.yaml")


async def test_positions_count_in_units_of_utf_16(editor: Editor) -> None:
    text = WEB.replace("{type: OS::Heat::RandomString}", "{type: OS::Heat::Random🍵}").replace("flavour", "flavor")
    (editor.folder / "member.yaml").write_text(MEMBER)
    editor.open("web.yaml", text)
    (found,) = await editor.diagnostics("web.yaml", "unknown-type")
    assert place(found, text) == "OS::Heat::Random🍵"
    assert found.severity is types.DiagnosticSeverity.Error
    assert found.source == "stoker"


async def test_invalid_yaml_and_other_documents(editor: Editor) -> None:
    editor.open("web.yaml", "heat_template_version: 2021-04-16\nresources: {a: [}\n")
    (found,) = await editor.diagnostics("web.yaml", "syntax")
    assert found.range.start.line == 1
    editor.open("values.yaml", "replicas: [1, 2\nresources: x\n")
    await editor.diagnostics("values.yaml")
    editor.open("empty.yaml", "")
    await editor.diagnostics("empty.yaml")
    editor.open(
        "web.json", '{"AWSTemplateFormatVersion": "2010-09-09", "Resources": {"A": {"Type": "AWS::EC2::Instanc"}}}'
    )
    (found,) = await editor.diagnostics("web.json", "unknown-type")
    assert place(found, editor.text("web.json")) == "AWS::EC2::Instanc"


async def test_environments(tmp_path: Path) -> None:
    (tmp_path / "e.yaml").write_text("resource_registry: {'My::Server': member.yaml}\n")
    (tmp_path / "member.yaml").write_text(MEMBER)
    editor = Editor(tmp_path)
    await editor.connect(environments=["e.yaml"])
    text = WEB.replace("member.yaml", "My::Server").replace("flavour", "flavor")
    editor.open("web.yaml", text)
    await editor.diagnostics("web.yaml")
    # Unsaved environments count as well.
    editor.open("e.yaml", "resource_registry: {'My::Servers': member.yaml}\n")
    await editor.diagnostics("e.yaml")
    await editor.diagnostics("web.yaml", "unknown-type")
    editor.change("e.yaml", "resource_registry: {'My::Server': member.yaml}\nparametrs: {}\n")
    (found,) = await editor.diagnostics("e.yaml", "environment-section")
    assert found.range.start.line == 1
    await editor.close()


async def test_closed_documents_lose_their_diagnostics(editor: Editor) -> None:
    editor.open("web.yaml", "heat_template_version: 2021-04-15\n")
    await editor.diagnostics("web.yaml", "version")
    editor.client.text_document_did_close(
        types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(editor.uri("web.yaml")))
    )
    assert await editor.diagnostics("web.yaml") == []


async def test_oversized_document_is_refused(editor: Editor) -> None:
    bomb = "heat_template_version: 2021-04-16\na: &a [x, x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(
        f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}, *{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    editor.open("bomb.yaml", bomb)
    await editor.diagnostics("bomb.yaml", "limit")
    editor.open("large.yaml", f"heat_template_version: 2021-04-16\ndescription: {'x' * 600_000}\n")
    await editor.diagnostics("large.yaml", "limit")
    assert await editor.complete("large.yaml", editor.text("large.yaml") + "|") == {}


@pytest.mark.slow
async def test_the_command_serves_an_editor(tmp_path: Path) -> None:
    editor = Editor(tmp_path)
    answer = await editor.start()
    assert answer.server_info is not None
    assert answer.server_info.name == "stoker"
    editor.open("web.yaml", "heat_template_version: 2021-04-15\n")
    await editor.diagnostics("web.yaml", "version")
    await editor.close()


async def actions(editor: Editor, name: str, needle: str) -> list[types.CodeAction]:
    """The quick fixes at a place."""
    asked = editor.at(name, needle)
    whole = types.Range(asked["position"], asked["position"])
    params = types.CodeActionParams(asked["text_document"], whole, types.CodeActionContext([]))
    found = await editor.client.text_document_code_action_async(params) or []
    assert all(isinstance(item, types.CodeAction) for item in found)
    return [item for item in found if isinstance(item, types.CodeAction)]


async def test_quick_fixes_correct_a_name_or_suppress_a_rule(editor: Editor) -> None:
    editor.open("web.yaml", WEB.replace("member.yaml", "OS::Nova::Server") + "      image: cirros\n")
    await editor.diagnostics("web.yaml", "unknown-property", "required-property")
    change, ignore = [item for item in await actions(editor, "web.yaml", "flavour") if "required" not in item.title]
    assert (change.title, change.is_preferred) == ("Change to 'flavor'", True)
    assert ignore.title == "Ignore unknown-property on this line"

    def after(action: types.CodeAction) -> str:
        assert action.edit is not None and action.edit.changes is not None
        ((uri, edits),) = action.edit.changes.items()
        return applied(editor.text(uri.rpartition("/")[2]), list(edits))

    corrected, ignored = after(change), after(ignore)
    assert "          flavor: {get_param: size}\n" in corrected.replace("      flavor", "          flavor")
    assert "flavour: {get_param: size}  # stoker: ignore[unknown-property]\n" in ignored
    editor.change("web.yaml", corrected)
    assert await editor.diagnostics("web.yaml") == []
    assert await actions(editor, "web.yaml", "flavor") == []
