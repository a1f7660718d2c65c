"""`stoker fmt`: one layout, and nothing but the layout."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from stoker.authoring.layout import layout
from stoker.base.errors import TemplateInvalid
from stoker.template.document import Document
from tests.authoring.support import WorkingDirectory
from tests.authoring.yaml_documents import yaml_documents


def laid_out(text: str, sort: bool = False) -> str:
    """The layout of an indented text, which must not change a second time."""
    result = layout(dedent(text).lstrip("\n"), sort=sort)
    assert layout(result, sort=sort) == result
    return result


def test_sections_and_resource_keys_are_sorted_on_request() -> None:
    assert laid_out(
        """
        outputs: {word: {value: 1}}
        resources:
            word:
                metadata: {a: b}
                properties:
                    length: 8
                depends_on: other
                type: OS::Heat::RandomString
            other:
                type: OS::Heat::RandomString
        parameters:
            size: {type: number}
        description: Words
        heat_template_version: 2018-08-31
        """,
        sort=True,
    ) == dedent(
        """\
        heat_template_version: 2018-08-31

        description: Words

        parameters:
          size: {type: number}

        resources:
          word:
            type: OS::Heat::RandomString
            depends_on: other
            properties:
              length: 8
            metadata: {a: b}
          other:
            type: OS::Heat::RandomString

        outputs: {word: {value: 1}}
        """
    )


def test_keys_keep_their_order_and_notation() -> None:
    text = dedent(
        """\
        description: The version is not the first key.

        heat_template_version: 2018-08-31

        resources:
          web:
            properties: {networks: [{port: {get_resource: port}}], security_groups: [{get_resource: sg}], name: 'web'}
            type: OS::Nova::Server

          # about the group
          sg: {type: OS::Neutron::SecurityGroup}
        """
    )
    assert layout(text) == text


def test_comments_move_with_their_subjects() -> None:
    assert laid_out(
        """
        # The licence.

        heat_template_version: 2018-08-31   # the version
        outputs:
            # about the word
            word: {value: 1}
            # at the end of the outputs
        # about resources

        resources:
            # about web
            web:
                properties:
                    networks:
                    - a    # first
                    # about b
                    - b
                # about the type
                type: OS::Nova::Server
        # at the very end
        """,
        sort=True,
    ) == dedent(
        """\
        # The licence.

        heat_template_version: 2018-08-31  # the version

        # about resources

        resources:
          # about web
          web:
            # about the type
            type: OS::Nova::Server
            properties:
              networks:
                - a  # first
                # about b
                - b

        outputs:
          # about the word
          word: {value: 1}
          # at the end of the outputs
        # at the very end
        """
    )


def test_scalars_keep_their_notation() -> None:
    text = dedent(
        """\
        heat_template_version: 2018-08-31

        resources:
          web:
            type: OS::Nova::Server
            properties:
              mode: 0755
              on: yes
              none: ~
              empty:
              date: 2013-05-23
              big: 1_000
              quoted: "yes"
              single: 'it''s'
              version: '2018-08-31'
              escaped: "tab\\there"
              script: |
                #!/bin/sh

                # not a comment
                echo "a: b"  # comment

              folded: >-
                some words
                in one line
              kept: |+
                text

              shared: &shared {a: 1}
              again: *shared
        """
    )
    assert layout(text) == text


def test_lists_in_lists() -> None:
    text = dedent(
        """\
        heat_template_version: 2018-08-31

        outputs:
          text:
            value:
              list_join:
                - ','
                - - a
                  - b
                  - get_param: c
                    # about d
                    d: e
                  - - - deep
                      - er
                    - f: [1, 2]
                  - |
                    a block
              other:
                - g: h
                  i:
                    - j
        """
    )
    assert layout(text) == text


def test_cloudformation_keeps_its_order_and_its_tags() -> None:
    text = dedent(
        """\
        Resources:
          web:
            Properties:
              Name: !Sub "${AWS::StackName}-web"
              Image: !If [large, a, b]
            Type: AWS::EC2::Instance

        Conditions:
          large: !Equals [a, b]

        AWSTemplateFormatVersion: 2010-09-09
        """
    )
    assert layout(text) == text


def test_aliases_stay_behind_their_anchors() -> None:
    text = "outputs:\n  a: {value: &text x}\n\nresources: {}\n\nparameters:\n  b: {type: string, default: *text}\n"
    text = f"heat_template_version: 2018-08-31\n\n{text}"
    assert Document.parse(layout(text)).data == Document.parse(text).data
    assert layout(text, sort=True) == text


def test_json_is_indented() -> None:
    assert laid_out('{"HeatTemplateFormatVersion": "2012-12-12","Resources":{}}') == (
        '{\n  "HeatTemplateFormatVersion": "2012-12-12",\n  "Resources": {}\n}\n'
    )


def test_duplicate_keys_are_kept() -> None:
    text = "heat_template_version: x\n\nresources:\n  a: 1\n  a: {b: 1, b: 2}\n"
    assert layout(text) == text
    assert layout('{"a": 1, "a": [{}, []]}') == '{\n  "a": 1,\n  "a": [{}, []]\n}\n'
    assert layout('{"a": 1, "a": [{},\n []]}') == '{\n  "a": 1,\n  "a": [\n    {},\n    []\n  ]\n}\n'


def test_json_scalars_keep_their_notation() -> None:
    numbers = '{\n  "a": [1E+300, 1.10, "\\u00fc\\/ {"]\n}\n'
    assert layout('{"a": [1E+300,1.10,"\\u00fc\\/ {"]}') == numbers


def test_short_json_stays_on_one_line() -> None:
    text = dedent(
        """\
        {
          "Resources": {
            "web": {"Type": "AWS::EC2::Instance", "Properties": {"ImageId": {"Ref": "image"}}},
            "nothing": {}
          }
        }
        """
    )
    assert layout(text) == text
    assert layout(text.replace('": ', '" : ').replace(", ", ",")) == text
    long = layout(json.dumps({"list": [{"Ref": "x" * 60}, {"Ref": "y" * 60}]}))
    assert long == f'{{\n  "list": [\n    {{"Ref": "{"x" * 60}"}},\n    {{"Ref": "{"y" * 60}"}}\n  ]\n}}\n'
    assert layout(long) == long


AWKWARD = {
    "two spaces in a long plain scalar": f"description: {'some  words ' * 20}\nresources: {{}}\n",
    "a list of one mapping": "a: [{get_resource: sg}]\nb: [ {get_resource: sg} ]\n",
    "a pair in a list": "a: [get_resource: sg]\n",
    "a blank last line in a block scalar": "a:\n   b: |\n      text\n      \n   c: |+\n      text\n\n\nd: 1\n",
    "a whitespace line that is content": "a: |\n    text\n       \nb: >-\n  x\n     \n\n",
    "no line end at the end of a block scalar": "a: |\n     text",
    "blank lines without a line end": "a: |+\n   text\n   ",
    "spaces without a line end": "a: |\n   text\n     ",
    "only blank lines": "a: |+\n\n   \n\nb: |\n\nc: 1\n",
    "kept blank lines before a section": "heat_template_version: x\ndescription: |+\n   text\n\n\nresources: {}\n",
    "an indentation that the header tells": "a:\n- |4\n      text\n    less\n- >-2\n     x\n- |+2\n   x\n\n",
    "a comment after a tagged list": "AWSTemplateFormatVersion: x\na: !Join  # why\n  # more\n  - ''\n  - [b]\n# end\n",
    "a comment after an anchor": "a: &x  # why\n     b: c\nd: &y   # that\n - *x\ne: *y   # alias\n",
    "dashes on their own": "a:\n-\n  b: c\n-\n  - d\n- # why\n  e: f\n-\n- &x\n  g: h\n-\n",
    "explicit keys": "? a\n:   b\n?\n     c\n: - d\n  - e\n",
    "documents marked": "%YAML 1.1\n---\na:   b\n...\n# end\n",
    "tabs": "a:\tb\nc:\t# why\n   d: [e,\tf]\n",
    "unicode line ends": "a: 'b\u2028c'\nd: e\x85f: |\n  g\u2029  h\n",
    "old line ends": "a: |\r  b\r\n  c\rd: 'e\r\r  f'\r",
    "other spaces": "a: b\u00a0\nc: 'd\n  \u3000\n  e'\n",
    "a hash after a comma": "a: [b,#c\n  d]\n",
    "a hash in a tag": "a: !!str x#y\nb: c#d\n",
    "a merge key": "a: &x {b: c}\nd:\n   <<: *x\n   e: f\n",
    "numbers with a point": "a: .5\nb: 1.5e+3\n",
    "the mark of byte order": "\ufeffa:   b\n",
    "a key that is a comma away": "a: {b: , c: '', d}\n",
    "a flow that closes below": "a: {\nb: [\n{c: d},\n# why\n],\n}\n- no: 1\n"[:-8],
}


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD)
def test_unusual_notations_are_formatted(text: str) -> None:
    result = layout(text)
    assert parsed_data(result) == parsed_data(text)
    assert layout(result) == result


def test_a_list_of_one_mapping_keeps_its_braces() -> None:
    assert layout("a: [ {get_resource: sg} ]\n") == "a: [{get_resource: sg}]\n"


def parsed_data(text: str) -> str:
    """The data of a document, in which all NaNs are equal."""
    return json.dumps(Document.parse(text).data, sort_keys=True)


@settings(max_examples=200, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(text=yaml_documents(), sort=st.booleans())
def test_random_valid_documents_are_formatted(text: str, sort: bool) -> None:
    try:
        before = parsed_data(text)
    except TemplateInvalid:
        assume(False)
    result = layout(text, sort=sort)
    assert parsed_data(result) == before
    assert layout(result, sort=sort) == result
    for comment in re.findall(r"# (?:comment|behind|first|second)", result + text):
        assert result.count(comment) == text.count(comment)


def test_invalid_yaml_is_explained() -> None:
    with pytest.raises(TemplateInvalid):
        layout("a: [")


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(
        alphabet=st.characters(codec="ascii", exclude_categories=["Cc"]) | st.sampled_from("\n\u00fc: #-"), max_size=60
    ),
    st.sampled_from(
        ["yes", "0755", "2013-05-23", "null", "# x", "a: b", "x\n\ny\n", " lead", "trail ", "|", "{a}", "=", "<<"]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "type", "properties", "0", "yes", "x y"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(
    data=st.fixed_dictionaries(
        {
            "outputs": VALUES,
            "resources": st.dictionaries(st.sampled_from(["a", "b"]), VALUES),
            "heat_template_version": st.just("2018-08-31"),
        }
    ),
    indent=st.integers(2, 6),
    flow=st.sampled_from([None, False, True]),
    style=st.sampled_from([None, "'", '"', "|", ">"]),
)
def test_random_data_is_formatted(data: dict[str, Any], indent: int, flow: bool | None, style: str | None) -> None:
    text = yaml.safe_dump(data, indent=indent, default_flow_style=flow, default_style=style, sort_keys=False)
    result = layout(text)
    assert Document.parse(result).data == Document.parse(text).data
    assert layout(result) == result


# -- the command -------------------------------------------------------------------------------------------------

UGLY = "heat_template_version: 2018-08-31\nresources:\n     a: {type: OS::Heat::Value}\n"
NICE = "heat_template_version: 2018-08-31\n\nresources:\n  a: {type: OS::Heat::Value}\n"


def test_files_are_rewritten(workdir: WorkingDirectory) -> None:
    workdir.write("templates/a.yaml", UGLY)
    (workdir.folder / "templates/windows.yaml").write_bytes(b"\xef\xbb\xbf" + NICE.replace("\n", "\r\n").encode())
    assert workdir.stoker("fmt", "templates").exit_code == 0
    assert workdir.read("templates/a.yaml") == NICE
    assert (workdir.folder / "templates/windows.yaml").read_bytes() == NICE.encode()
    again = workdir.stoker("fmt", "--check", "templates")
    assert (again.exit_code, again.output) == (0, "")


def test_format_check_writes_nothing(workdir: WorkingDirectory) -> None:
    workdir.write("a.yaml", UGLY)
    assert workdir.stoker("fmt", "--check", "a.yaml").exit_code == 1
    assert workdir.read("a.yaml") == UGLY


def test_format_diff_is_shown(workdir: WorkingDirectory) -> None:
    workdir.write("a.yaml", UGLY)
    result = workdir.stoker("fmt", "--diff", "a.yaml")
    assert result.exit_code == 0
    assert "-     a: {type: OS::Heat::Value}\n+  a: {type: OS::Heat::Value}" in result.stdout
    assert workdir.read("a.yaml") == UGLY
    assert workdir.stoker("fmt", "--diff", "--check", "a.yaml").exit_code == 1


def test_the_standard_input(workdir: WorkingDirectory) -> None:
    assert workdir.stoker("fmt", "-", given=UGLY).stdout == NICE


def test_invalid_file_does_not_stop_formatting_of_others(workdir: WorkingDirectory) -> None:
    workdir.write("a.yaml", "heat_template_version: [x\n")
    workdir.write("b.yaml", UGLY)
    result = workdir.stoker("fmt", "a.yaml", "b.yaml", "c.yaml")
    assert result.exit_code == 1
    assert workdir.read("b.yaml") == NICE
    assert "a.yaml" in result.stderr
    assert "c.yaml: cannot be read" in result.stderr


def test_the_examples_of_the_repository_are_formatted(workdir: WorkingDirectory) -> None:
    repository = Path(__file__).parents[2]
    folders = [str(repository / name) for name in ("examples", "docs")]
    result = workdir.stoker("fmt", "--check", *folders)
    assert (result.exit_code, result.output) == (0, "")
