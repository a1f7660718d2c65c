"""What editors offer at the cursor, in documents that are only half typed. `|` is the cursor."""

from __future__ import annotations

from textwrap import dedent

from lsprotocol import types

from tests.language_server.editor import Editor

HOT = dedent("""\
    heat_template_version: 2021-04-16
    parameters:
      flavor: {type: string}
      count: {type: number, default: 1}
    conditions:
      many: {not: {equals: [{get_param: count}, 1]}}
    resources:
      net:
        type: OS::Neutron::Net
      web:
        type: OS::Nova::Server
        depends_on: net
        properties:
          flavor: {get_param: flavor}
    HERE
    outputs:
      address:
        value: {get_attr: [web, first_address]}
    """)
CFN = dedent("""\
    AWSTemplateFormatVersion: "2010-09-09"
    Parameters:
      Size: {Type: String}
    Mappings:
      Sizes: {small: {ram: 1, disk: 2}, large: {ram: 4}}
    Conditions:
      Big: !Equals [!Ref Size, large]
    Resources:
      Server:
        Type: AWS::EC2::Instance
        Properties:
          ImageId: i
    HERE
    """)
JSON = dedent("""\
    {
      "AWSTemplateFormatVersion": "2010-09-09",
      "Parameters": {"Size": {"Type": "String"}},
      "Resources": {
        "Server": {
          "Type": "AWS::EC2::Instance",
          "Properties": {
            HERE
          }
        }
      }
    }
    """)


HOT_PLACES = [
    # types, keys and values of resources
    ("  x:\n    type: |", "OS::Nova::Server", "    type: OS::Nova::Server"),
    ("  x:\n    type:|", "OS::Nova::Server", "    type: OS::Nova::Server"),
    ("  x:\n    type: OS::No|", "OS::Nova::Server", "    type: OS::Nova::Server"),
    ("  x:\n    |", "properties", "    properties:\n      "),
    ("  x:\n    ty|", "type", "    type: "),
    ("  x: {ty|", "type", "  x: {type: "),
    ("  x:\n    type: OS::Heat::None\n    deletion_policy: |", "retain", "    deletion_policy: retain"),
    ("  x:\n    type: OS::Neutron::Net\n    ignore_drift:\n    - |", "qos_policy", "    - qos_policy"),
    ("  x:\n    type: OS::Heat::None\n    condition: |", "many", "    condition: many"),
    ("  x:\n    depends_on: |", "web", "    depends_on: web"),
    ("  x:\n    depends_on:\n      - |", "web", "      - web"),
    ("  x:\n    depends_on: [net, |", "web", "    depends_on: [net, web"),
    # properties, nested ones and their values
    ("      |", "image", "      image: "),
    ("      ima|", "image", "      image: "),
    ("      networks:\n        |", "network", "        - network: "),
    ("      networks:\n        - |", "network", "        - network: "),
    ("      networks:\n        - network: net\n          |", "fixed_ip", "          fixed_ip: "),
    ("      networks: [{netw|", "network", "      networks: [{network: "),
    ("      networks: [{network: net, |", "port", "      networks: [{network: net, port: "),
    ("      networks:\n      - network: net\n        |", "port", "        port: "),
    ("      user_data_format: |", "RAW", "      user_data_format: RAW"),
    ("      config_drive: |", "true", "      config_drive: true"),
    ("      user_data_format: {if: [many, |", "RAW", "      user_data_format: {if: [many, RAW"),
    # functions and their arguments
    ("      image: |", "get_param", "      image: {get_param: }"),
    ("      image: {|", "get_file", "      image: {get_file: "),
    ("      image: {get_p|", "get_param", "      image: {get_param: "),
    ("      image:\n        |", "get_param", "        get_param: "),
    ("      image: {get_param: |", "flavor", "      image: {get_param: flavor"),
    ("      image: {get_param: |}", "OS::stack_id", "      image: {get_param: OS::stack_id}"),
    ("      image:\n        get_param: fl|", "flavor", "        get_param: flavor"),
    ("      image: {get_resource: |", "net", "      image: {get_resource: net"),
    ("      image: {get_attr: [|", "web", "      image: {get_attr: [web"),
    ("      image: {get_attr: [web, |", "instance_name", "      image: {get_attr: [web, instance_name"),
    ("      image: {get_attr: [net, |]}", "mtu", "      image: {get_attr: [net, mtu]}"),
    ("      image:\n        get_attr:\n          - net\n          - |", "mtu", "          - mtu"),
    ("      image: {if: [|", "many", "      image: {if: [many"),
    ("      name: {str_replace: {template: a, params: {a: {get_param: |", "flavor",
     "      name: {str_replace: {template: a, params: {a: {get_param: flavor"),
]  # fmt: skip


async def test_hot(editor: Editor) -> None:
    for typed, label, result in HOT_PLACES:
        text = HOT.replace("HERE", typed)
        items = await editor.complete("web.yaml", text)
        assert label in items, (typed, sorted(items))
        assert result in items[label], typed
        prefix = text[: text.index("|")].rpartition("\n")[0]
        assert items[label].startswith(prefix)


async def test_sections_parameters_outputs_and_conditions(editor: Editor) -> None:
    start = await editor.complete("new.yaml", "|")
    assert start["heat_template_version"] == "heat_template_version: 2021-04-16\n"
    assert "2018-08-31" in await editor.complete("new.yaml", "heat_template_version: |")
    assert "outputs" in await editor.complete("new.yaml", "heat_template_version: pike\n|")
    assert "resources" in await editor.complete("new.yaml", "heat_template_version: pike\nreso|\n")
    sections = await editor.complete("new.yaml", "heat_template_version: 2014-10-16\nresources: {}\n|")
    assert "outputs" in sections
    assert not {"conditions", "resources"} & set(sections)
    head = "heat_template_version: 2021-04-16\nparameters:\n  a:\n    "
    assert "constraints" in await editor.complete("new.yaml", head + "|")
    assert "comma_delimited_list" in await editor.complete("new.yaml", head + "type: |")
    assert "allowed_values" in await editor.complete("new.yaml", head + "type: string\n    constraints:\n      - |")
    constraint = await editor.complete("new.yaml", head + "constraints:\n    - custom_constraint: |")
    assert "nova.flavor" in constraint
    assert "equals" in await editor.complete("new.yaml", "heat_template_version: pike\nconditions:\n  a: {|")
    assert "get_resource" not in await editor.complete("new.yaml", "heat_template_version: pike\nconditions:\n  a: {|")
    outputs = await editor.complete("new.yaml", "heat_template_version: pike\noutputs:\n  a:\n    |")
    assert set(outputs) == {"value", "description", "condition"}


async def test_only_functions_of_the_version_are_offered(editor: Editor) -> None:
    old = await editor.complete("old.yaml", HOT.replace("HERE", "      image: |").replace("2021-04-16", "2013-05-23"))
    assert "Fn::Join" in old
    assert "list_concat" not in old
    new = await editor.complete("new.yaml", HOT.replace("HERE", "      image: |"))
    assert "Fn::Join" not in new
    assert "list_concat" in new


async def test_nothing_is_offered_in_comments_and_scripts(editor: Editor) -> None:
    assert await editor.complete("web.yaml", HOT.replace("HERE", "      # image: |")) == {}
    assert await editor.complete("web.yaml", HOT.replace("HERE", "      image: x # |")) == {}
    script = await editor.complete("web.yaml", HOT.replace("HERE", "      user_data: >\n        #!/bin/sh\n        |"))
    assert "image" not in script


CFN_PLACES = [
    ("  X:\n    Type: AWS::EC2::|", "AWS::EC2::Instance", "    Type: AWS::EC2::Instance"),
    ("  X:\n    |", "Properties", "    Properties:\n      "),
    ("      Inst|", "InstanceType", "      InstanceType: "),
    ("      InstanceType: |", "!Ref", "      InstanceType: !Ref "),
    ("      InstanceType: !Ref |", "Size", "      InstanceType: !Ref Size"),
    ("      InstanceType: !Ref |", "AWS::NoValue", "      InstanceType: !Ref AWS::NoValue"),
    ("      InstanceType: {Ref: |", "Server", "      InstanceType: {Ref: Server"),
    ("      InstanceType: !GetAtt Server.|", "Server.PublicIp", "      InstanceType: !GetAtt Server.PublicIp"),
    ("      InstanceType: !GetAtt [Server, |", "PublicIp", "      InstanceType: !GetAtt [Server, PublicIp"),
    ("      InstanceType: !Sub 'a-${Si|", "Size", "      InstanceType: !Sub 'a-${Size"),
    ("      UserData: !Sub >\n        x ${|", "Server", "        x ${Server"),
    ("      InstanceType: !If [|", "Big", "      InstanceType: !If [Big"),
    ("      InstanceType: !FindInMap [|", "Sizes", "      InstanceType: !FindInMap [Sizes"),
    ("      InstanceType: !FindInMap [Sizes, |", "large", "      InstanceType: !FindInMap [Sizes, large"),
    ("      InstanceType: !FindInMap [Sizes, small, |", "disk", "      InstanceType: !FindInMap [Sizes, small, disk"),
    ("      InstanceType: {Fn::Select: [0, |", "!Ref", "      InstanceType: {Fn::Select: [0, !Ref "),
]  # fmt: skip


async def test_cloudformation(editor: Editor) -> None:
    for typed, label, result in CFN_PLACES:
        items = await editor.complete("web.yaml", CFN.replace("HERE", typed))
        assert label in items, (typed, sorted(items))
        assert result in items[label], typed


JSON_PLACES = [
    ("|", "InstanceType", '"InstanceType": '),
    ('"Inst|"', "InstanceType", '"InstanceType"'),
    ('"Inst|', "InstanceType", '"InstanceType'),
    ('"InstanceType": |', "Ref", '"InstanceType": {"Ref": }'),
    ('"InstanceType": {"Ref": "|"}', "Size", '"InstanceType": {"Ref": "Size"}'),
    ('"InstanceType": {"Fn::GetAtt": ["Server", |', "PublicIp", '"InstanceType": {"Fn::GetAtt": ["Server", "PublicIp"'),
]  # fmt: skip


async def test_cloudformation_in_json(editor: Editor) -> None:
    for typed, label, result in JSON_PLACES:
        items = await editor.complete("web.json", JSON.replace("HERE", typed))
        assert label in items, (typed, sorted(items))
        assert result in items[label], typed


async def test_environments(editor: Editor) -> None:
    assert "resource_registry" in await editor.complete("e.yaml", "parameters: {}\n|")
    assert "OS::Nova::Server" in await editor.complete("e.yaml", "resource_registry:\n  OS::Nova::|")
    assert "OS::Nova::Server" in await editor.complete("e.yaml", "resource_registry:\n  My::Server: |")
    hooks = await editor.complete("e.yaml", "resource_registry:\n  resources:\n    web:\n      hooks: |")
    assert "pre-create" in hooks


async def test_nested_templates_have_properties_and_attributes(editor: Editor) -> None:
    (editor.folder / "member.yaml").write_text(
        "heat_template_version: pike\nparameters: {port: {type: number}}\noutputs: {address: {value: x}}\n"
    )
    (editor.folder / "start.sh").write_text("#!/bin/sh\n")
    resource = HOT.replace("OS::Nova::Server", "member.yaml")
    assert "member.yaml" in await editor.complete("web.yaml", HOT.replace("HERE", "  x:\n    type: |"))
    assert "port" in await editor.complete("web.yaml", resource.replace("HERE", "      |"))
    assert "address" in await editor.complete("web.yaml", resource.replace("HERE", "      a: {get_attr: [web, |"))
    assert "start.sh" in await editor.complete("web.yaml", resource.replace("HERE", "      a: {get_file: |"))


async def test_the_documentation_of_a_type_is_resolved(editor: Editor) -> None:
    editor.open("web.yaml", HOT.replace("HERE", "  x:\n    type: "))
    params = types.CompletionParams(**editor.at("web.yaml", "  x:\n    type: ", len("  x:\n    type: ")))
    answer = await editor.client.text_document_completion_async(params)
    assert isinstance(answer, types.CompletionList)
    (item,) = [item for item in answer.items if item.label == "OS::Nova::Server"]
    found = await editor.client.completion_item_resolve_async(item)
    assert isinstance(found.documentation, types.MarkupContent)
    assert "`flavor`" in found.documentation.value
