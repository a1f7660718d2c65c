"""Collecting a template with what it refers to."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
import yaml

from stoker.base.diagnostics import Diagnostic, Position
from stoker.cli.client.sources import collect
from stoker.cli.terminal.errors import CommandFailed
from stoker.cli.terminal.places import short, url_of

VERSION = "heat_template_version: 2021-04-16\n"


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_template_that_refers_to_nothing_is_sent_as_it_is(tmp_path: Path) -> None:
    text = VERSION + "# Grüße\nresources: {a: {type: OS::Heat::None}}\n"
    sources = collect(write(tmp_path, "top.yaml", text))
    assert sources.template == text
    assert sources.files == {}


def test_references_become_urls_and_nothing_else_in_the_document_changes(tmp_path: Path) -> None:
    text = VERSION + (
        "resources:\n"
        "  größe: {type: 'lib/a b.yaml', properties: {x: 1}}   # ünïcode before and behind\n"
        "  group:\n"
        "    type: OS::Heat::ResourceGroup\n"
        "    properties: {resource_def: {type: lib/member.template}}\n"
        "outputs:\n"
        "  text: {value: {get_file: ../notes.txt}}\n"
    )
    write(tmp_path, "top/lib/a b.yaml", VERSION)
    write(tmp_path, "top/lib/member.template", VERSION)
    write(tmp_path, "notes.txt", "Hällo")
    sources = collect(write(tmp_path, "top/top.yaml", text))
    base = tmp_path.as_uri()
    assert sources.template == (
        text.replace("'lib/a b.yaml'", f'"{base}/top/lib/a%20b.yaml"')
        .replace("lib/member.template", f'"{base}/top/lib/member.template"')
        .replace("../notes.txt", f'"{base}/notes.txt"')
    )
    assert sources.files == {
        f"{base}/top/lib/a%20b.yaml": VERSION,
        f"{base}/top/lib/member.template": VERSION,
        f"{base}/notes.txt": "Hällo",
    }


def test_nested_template_paths_are_relative_to_their_file(tmp_path: Path) -> None:
    write(tmp_path, "lib/middle.yaml", VERSION + "resources: {leaf: {type: ../leaf.yaml}}\n")
    write(tmp_path, "leaf.yaml", VERSION + "outputs: {text: {value: {get_file: lib/data.txt}}}\n")
    write(tmp_path, "lib/data.txt", "data")
    sources = collect(write(tmp_path, "top.yaml", VERSION + "resources: {m: {type: lib/middle.yaml}}\n"))
    base = tmp_path.as_uri()
    middle = yaml.safe_load(sources.files[f"{base}/lib/middle.yaml"])
    assert middle["resources"]["leaf"]["type"] == f"{base}/leaf.yaml"
    assert sources.files[f"{base}/lib/data.txt"] == "data"


def test_mutually_recursive_templates_terminate(tmp_path: Path) -> None:
    write(tmp_path, "b.yaml", VERSION + "resources: {a: {type: a.yaml}}\n")
    sources = collect(write(tmp_path, "a.yaml", VERSION + "resources: {b: {type: b.yaml}}\n"))
    assert set(sources.files) == {f"{tmp_path.as_uri()}/{name}.yaml" for name in "ab"}


def test_only_template_files_are_followed(tmp_path: Path) -> None:
    write(tmp_path, "stack.yaml", VERSION + "resources: {leaf: {type: leaf.yaml}}\n")
    write(tmp_path, "cloud-init.yaml", "type: missing.yaml  # heat_template_version\n")
    write(tmp_path, "leaf.yaml", VERSION)
    text = VERSION + "outputs: {a: {value: [{get_file: stack.yaml}, {get_file: cloud-init.yaml}]}}\n"
    sources = collect(write(tmp_path, "top.yaml", text))
    base = tmp_path.as_uri()
    assert set(sources.files) == {f"{base}/stack.yaml", f"{base}/cloud-init.yaml", f"{base}/leaf.yaml"}
    assert sources.files[f"{base}/cloud-init.yaml"] == "type: missing.yaml  # heat_template_version\n"


def test_binary_files_are_sent_as_base64(tmp_path: Path) -> None:
    raw = bytes(range(128, 256))
    (tmp_path / "image.bin").write_bytes(raw)
    text = VERSION + "outputs: {a: {value: {get_file: image.bin}}}\n"
    sources = collect(write(tmp_path, "top.yaml", text))
    assert sources.files[f"{tmp_path.as_uri()}/image.bin"] == base64.b64encode(raw).decode()


def test_registries_of_environments_are_followed(tmp_path: Path) -> None:
    for name in ("types/net.yaml", "own.yaml", "other/here.yaml"):
        write(tmp_path, name, VERSION)
    first = write(tmp_path, "first.yaml", "resource_registry: {base_url: types, 'My::Net': net.yaml}\n")
    second = write(
        tmp_path,
        "other/second.yaml",
        "parameters: {type: not-a-file.yaml}\n"
        "resource_registry:\n"
        "  My::Own: ../own.yaml\n"
        "  OS::Nova::Server: OS::Heat::None\n"
        "  resources: {a: {'My::Here': here.yaml, hooks: pre-create}}\n",
    )
    sources = collect(write(tmp_path, "top.yaml", VERSION), [first, second])
    base = tmp_path.as_uri()
    assert sources.environments == [f"{base}/first.yaml", f"{base}/other/second.yaml"]
    registry = yaml.safe_load(sources.files[f"{base}/first.yaml"])["resource_registry"]
    assert registry["My::Net"] == f"{base}/types/net.yaml"
    environment = yaml.safe_load(sources.files[f"{base}/other/second.yaml"])
    assert environment == {
        "parameters": {"type": "not-a-file.yaml"},
        "resource_registry": {
            "My::Own": f"{base}/own.yaml",
            "OS::Nova::Server": "OS::Heat::None",
            "resources": {"a": {"My::Here": f"{base}/other/here.yaml", "hooks": "pre-create"}},
        },
    }
    assert {f"{base}/types/net.yaml", f"{base}/own.yaml", f"{base}/other/here.yaml"} < set(sources.files)


def test_a_missing_file_is_reported_with_the_place_of_the_reference(tmp_path: Path) -> None:
    write(tmp_path, "middle.yaml", VERSION + "resources:\n  a:\n    type: gone.yaml\n")
    top = write(tmp_path, "top.yaml", VERSION + "resources: {m: {type: middle.yaml}}\n")
    with pytest.raises(CommandFailed) as failure:
        collect(top)
    assert f"{tmp_path}/middle.yaml:4:11: {tmp_path}/gone.yaml cannot be read" in failure.value.message


def test_invalid_yaml_is_sent_unchanged(tmp_path: Path) -> None:
    text = "resources: {a: [\n"
    assert collect(write(tmp_path, "top.yaml", text)).template == text


def test_remote_templates_cannot_read_local_files() -> None:
    with pytest.raises(CommandFailed, match="must not refer to local files"):
        url_of("file:///etc/passwd", "https://example.org/top.yaml")
    assert url_of("lib/a.yaml", "https://example.org/t/top.yaml") == "https://example.org/t/lib/a.yaml"


def test_files_are_named_relative_to_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert short(f"{tmp_path.as_uri()}/a/b%20c.yaml") == "a/b c.yaml"
    assert short("https://example.org/a.yaml") == "https://example.org/a.yaml"
    assert short("OS::Heat::None") == "OS::Heat::None"


def test_positions_refer_to_local_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = VERSION + (
        "resources:\n"
        "  a: {type: x.yaml, properties: {one: {get_file: lib/n}, wrong: {get_file: lib/n}}}  # end\n"
        "  b: {type: OS::Heat::None}\n"
    )
    write(tmp_path, "x.yaml", VERSION)
    write(tmp_path, "lib/n", "note")
    write(tmp_path, "top.yaml", text)
    sources = collect("top.yaml")
    for name in ("a:", "x.yaml", "one", "lib/n}, wrong", "wrong", "lib/n}}}", "}}}", "end", "b:", "OS::Heat::None"):
        place = position(text, text.index(name))
        url = f"{tmp_path.as_uri()}/{name.rstrip('},')}"
        sent = name.replace("x.yaml", f'"{url}"').replace("lib/n", f'"{tmp_path.as_uri()}/lib/n"')
        start = sources.template.index("wrong") if name in ("lib/n}}}",) else 0
        found = position(sources.template, sources.template.index(sent, start))
        message = f"there is no template {tmp_path.as_uri()}/x.yaml"
        shown = sources.as_written(Diagnostic("r", message, position=found, source=""))
        assert (shown.position, shown.message) == (place, "there is no template x.yaml"), name
    assert sources.named()[""] == (f"{tmp_path.as_uri()}/top.yaml", text)


def position(text: str, offset: int) -> Position:
    before = text[:offset]
    return Position(before.count("\n") + 1, offset - before.rfind("\n"))
