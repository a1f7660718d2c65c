"""Editors check templates with the JSON Schemas that `stoker schema` prints."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from click.testing import CliRunner

from stoker.authoring.sources import find_templates
from stoker.cli.main import cli
from stoker.template.document import Document
from testing import corpus

REPOSITORY = Path(__file__).parents[2]
CORPUS = corpus.folder()


@cache
def schema(*words: str) -> jsonschema_rs.Validator:
    result = CliRunner().invoke(cli, ["schema", *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    jsonschema_rs.meta.validate(printed)
    return jsonschema_rs.validator_for(printed)


def problems(text: str, *words: str) -> list[tuple[Any, ...]]:
    data = Document.parse(text).data
    kind = words or (("hot",) if "heat_template_version" in data else ("cfn",))
    return [tuple(error.instance_path) for error in schema(*kind).iter_errors(data)]


def test_all_valid_templates_are_accepted() -> None:
    known_wrong = {Path(path).name for _, path in corpus.WHY_WRONG} | {"mistakes.yaml", "accounts.yaml"}
    folders = [
        REPOSITORY / "packages/stoker/src/stoker/examples",
        REPOSITORY / "docs",
        REPOSITORY / "tools/bench",
        *([CORPUS] if CORPUS else []),
    ]
    paths = list(find_templates(map(str, folders)))
    assert len(paths) >= (100 if CORPUS else 10)
    for path in paths:
        if Path(path).name not in known_wrong:
            assert problems(Path(path).read_text("utf-8-sig")) == [], path


HOT = """
heat_template_version: {version}
{section}:
  web:
    type: OS::Nova::Server
    properties:
      {properties}
"""


@pytest.mark.parametrize(
    ("properties", "place"),
    [
        ("{flavor: small, image: i, nmae: x}", ()),
        ("{image: i, flavr: small, flavor: f}", ()),
        ("{image: i, name: x}", ()),  # no flavor
        ("{flavor: [small]}", ("flavor",)),
        ("{flavor: small, networks: {network: n}}", ("networks",)),
        ("{flavor: small, networks: [{netwrk: n}]}", ("networks", 0)),
        ("{flavor: small, user_data_format: RWA}", ("user_data_format",)),
        ("{flavor: {get_parm: flavor}}", ("flavor",)),
    ],
)
def test_mistakes_in_properties_are_found_at_their_place(properties: str, place: tuple[Any, ...]) -> None:
    text = HOT.format(version="2021-04-16", section="resources", properties=properties)
    assert problems(text) == [("resources", "web", "properties", *place)]


def test_mistakes_in_the_structure_are_found() -> None:
    right = {"version": "2021-04-16", "section": "resources", "properties": "flavor: {get_param: f}"}
    assert problems(HOT.format(**right)) == []
    assert problems(HOT.format(**right | {"version": "2021-04-17"})) == [("heat_template_version",)]
    assert problems(HOT.format(**right | {"section": "resource"})) == [()]
    assert problems(HOT.format(**right).replace("type:", "tpye:")) == [("resources", "web")] * 2
    assert problems("heat_template_version: pike\nparameters: {a: {type: strin}}") == [("parameters", "a", "type")]
    assert problems("heat_template_version: pike\noutputs: {a: {description: no value}}") == [("outputs", "a")]
    assert problems("heat_template_version: pike\nresources: {a: {type: OS::Nova::Server}}") == [("resources", "a")]
    assert problems("heat_template_version: pike\nresources: {a: {type: my.yaml, properties: {any: x}}}") == []


def test_json_schema_accepts_the_short_tags_of_the_parser() -> None:
    text = "Resources: {a: {Type: 'AWS::EC2::Instance', Properties: {ImageId: !Ref i, %s: x}}}"
    assert problems(text % "InstanceType") == []
    assert problems(text % "InstanceTyp") == [("Resources", "a", "Properties")] * 2
    # An editor that takes `!Ref x` for a string and `!Split [a, b]` for a list finds only the wrong names.
    untagged = "Resources: {a: {Type: 'AWS::EC2::Instance', Properties: {ImageId: [a], InstanceType: x, %s: x}}}"
    assert problems(untagged % "SecurityGroupIds") != []
    assert problems(untagged % "SecurityGroupIds", "cfn", "--short-tags") == []
    assert problems(untagged % "SecurityGroupId", "cfn", "--short-tags") != []


def test_environments_are_checked() -> None:
    right = "{parameters: {a: 1}, resource_registry: {'My::Type': a.yaml, resources: {web: {hooks: pre-create}}}}"
    assert problems(right, "environment") == []
    assert problems(right.replace("parameters", "parameter"), "environment") == [()]
    assert problems(right.replace("pre-create", "pre-crate"), "environment") != []
    assert problems("{resource_registry: {'My::Type': [a.yaml]}}", "environment") != []


def test_short_tags_exist_only_in_cloudformation() -> None:
    result = CliRunner().invoke(cli, ["schema", "hot", "--short-tags"])
    assert result.exit_code == 2
    assert "CloudFormation" in result.stderr
