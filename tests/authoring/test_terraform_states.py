"""States of Terraform as templates: what is refused, named, hidden and left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from stoker.authoring.terraform.configuration import to_configuration
from stoker.authoring.terraform.importing import Imported, InModules, from_state, in_modules
from stoker.authoring.terraform.parts import StackObject
from stoker.authoring.terraform.state import LARGEST, InvalidState, read_state
from stoker.authoring.terraform.table import composed, rows
from stoker.cli.commands.transfers import import_objects
from stoker.engine.planning.imports import unsuitable
from stoker.plugins.registry import Registry

PROVIDER = 'provider["registry.opentofu.org/terraform-provider-openstack/openstack"]'
REPOSITORY = Path(__file__).parents[2]
TYPES = Registry.from_entry_points().types
NET, PORT = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"


def resource(kind: str, name: str, attributes: Any, **fields: Any) -> dict[str, Any]:
    own = ("index_key", "deposed", "sensitive_attributes")
    more: dict[str, Any] = {key: fields.pop(key) for key in own if key in fields}
    instance: dict[str, Any] = {"attributes": attributes, **more}
    place = {"mode": "managed", "type": f"openstack_{kind}", "name": name, "provider": PROVIDER}
    return {**place, "instances": [instance], **fields}


def state(*resources: dict[str, Any]) -> dict[str, Any]:
    return {"version": 4, "resources": list(resources)}


def imported(*resources: dict[str, Any]) -> Imported:
    return from_state(read_state(json.dumps(state(*resources)).encode()), TYPES)


def nested(*resources: dict[str, Any]) -> InModules:
    found = in_modules(imported(*resources), ())
    assert found is not None
    return found


def network(module: str, name: str, identifier: str) -> dict[str, Any]:
    return resource("networking_network_v2", "main", {"id": identifier, "name": name}, module=module)


def door(module: str, network_id: str, identifier: str) -> dict[str, Any]:
    return resource("networking_port_v2", "door", {"id": identifier, "network_id": network_id}, module=module)


def command(tmp_path: Path, data: Any, *options: str) -> Result:
    file = tmp_path / "terraform.tfstate"
    file.write_text(data if isinstance(data, str) else json.dumps(data))
    return CliRunner().invoke(import_objects, ["--tfstate", str(file), "-o", str(tmp_path / "out"), *options])


def test_every_row_names_existing_types_and_properties() -> None:
    assert len(rows()) >= 100
    for name, row in rows().items():
        assert bool(row.none) != bool(row.types or row.into), name
        kinds = [TYPES[each] for each in row.types.values()]
        assert not [kind.type_name for kind in kinds if unsuitable(kind)], name
        paths = [*row.attributes.values(), *(block.to for block in row.blocks.values() if block.to)]
        kinds += [TYPES[row.writes]] if row.writes else []
        known = {prop for kind in kinds for prop in kind.properties}
        assert {path.partition(".")[0] for path in paths} <= known, name


def test_the_manual_names_what_has_no_equivalent() -> None:
    page = (REPOSITORY / "docs/how-to/terraform.md").read_text()
    versions = {"blockstorage_quotaset_v2", "blockstorage_volume_attach_v2"}
    named = {name.removeprefix("openstack_") for name, row in rows().items() if row.none} - versions
    assert not [name for name in named if f"`{name}`" not in page]
    assert f": {sum(not row.none for row in rows().values())} become a" in page


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "no JSON"),
        (b"[]", "no state"),
        (b"\xff\xfe", "no JSON"),
        (b'{"version": 3}', "only version 4"),
        (b'{"version": 4, "encrypted_data": "x"}', "tofu state pull"),
        (b'{"version": 4, "resources": {}}', "resources is no list"),
        (b'{"version": 4, "resources": [{"type": 7}]}', "resources[0].type is no string"),
        (b'{"version": 4, "outputs": []}', "outputs is no object"),
        (b'{"version": 4, "outputs": {"a": 1}}', "outputs.a is no object"),
        (b"[" * 5000, "levels"),
        (b'{"version": 4, "a":' + b"[" * 200 + b"]" * 200 + b"}", "levels"),
        (b" " * (LARGEST + 1), "larger than"),
    ],
)
def test_an_invalid_state_is_refused_with_the_reason(content: bytes, message: str) -> None:
    with pytest.raises(InvalidState, match=message.replace("[", r"\[")):
        read_state(content)


def test_generated_names_contain_module_name_and_key() -> None:
    net = {"id": NET, "name": "a"}
    found = imported(
        resource("networking_network_v2", "main", net, module='module.env["prod"].module.net'),
        resource("networking_port_v2", "main", {"id": PORT, "network_id": NET}, index_key="blue green"),
        resource("networking_network_v2", "same", {"id": "x1", "name": "x"}),
        resource("dns_zone_v2", "same", {"id": "x2", "name": "x.example.", "email": "a@x.example"}),
    )
    assert set(found.template["resources"]) == {"env_prod_net_main", "main_blue_green", "same_network", "same_zone"}
    port = found.template["resources"]["main_blue_green"]
    assert port["properties"]["network"] == {"get_resource": "env_prod_net_main"}
    assert {"to": "main_blue_green", "id": PORT} in found.environment["imports"]


def test_module_instances_share_a_template_with_parameters() -> None:
    ids = {key: (f"{number}1111111-1111-4111-8111-111111111111", f"{number}2") for number, key in enumerate("ab")}
    found = nested(
        *(network(f'module.env["{key}"].module.net', key, net) for key, (net, _) in ids.items()),
        *(door(f'module.env["{key}"]', net, port) for key, (net, port) in ids.items()),
        resource("networking_trunk_v2", "t", {"id": "t", "name": "t", "port_id": ids["a"][1]}),
    )
    assert {name: each["type"] for name, each in found.template["resources"].items()} == {
        "env_a": "env.yaml", "env_b": "env.yaml", "t": "OS::Neutron::Trunk",
    }  # fmt: skip
    assert found.template["resources"]["env_b"]["properties"] == {"name": "b"}
    env, net = found.files["env.yaml"]["resources"], found.files["net.yaml"]
    assert env["net"] == {"type": "net.yaml", "properties": {"name": {"get_param": "name"}}}
    assert env["door"]["properties"] == {"network": {"get_attr": ["net", "main"]}}
    assert net["resources"]["main"]["properties"] == {"name": {"get_param": "name"}}
    assert net["outputs"] == {"main": {"value": {"get_resource": "main"}}}
    moved = {each["from"]: each["to"] for each in found.environment["moved"]}
    assert moved["env_a_net_main"] == "env_a.net.main"
    assert moved["env_b_door"] == "env_b.door"
    assert "t" not in moved


def test_module_instances_of_another_shape_have_another_template() -> None:
    found = nested(network("module.m[0]", "x", NET), network("module.m[1]", "x", "n2"), door("module.m[1]", "n2", PORT))
    assert [each["type"] for each in found.template["resources"].values()] == ["m.yaml", "m_2.yaml"]
    assert [len(each["resources"]) for each in found.files.values()] == [1, 2]


def test_cyclic_module_has_no_template() -> None:
    found = nested(
        network("module.odd", "x", NET),
        network("module.even", "y", "n2"),
        resource("networking_port_v2", "door", {"id": PORT, "network_id": NET}),
        resource("networking_trunk_v2", "t", {"id": "t", "name": "t", "port_id": PORT}, module="module.odd"),
    )
    assert found.kept == ["module.odd"]
    assert set(found.files) == {"even.yaml"}
    assert {"odd_main", "odd_t", "door", "even"} == set(found.template["resources"])


def test_hidden_parameters_stay_hidden_in_nested_templates() -> None:
    user = resource("identity_user_v3", "me", {"id": "u", "name": "u", "password": "TOP-SECRET"}, module="module.team")
    found = nested(user)
    assert found.files["team.yaml"]["parameters"] == {"password": {"type": "string", "hidden": True}}
    assert found.template["resources"]["team"]["properties"] == {"password": {"get_param": "team_me_password"}}
    assert "TOP-SECRET" not in json.dumps([found.template, found.files, found.environment])


def test_modules_below_the_fifth_level_are_merged() -> None:
    place = ".".join(f"module.m{number}" for number in range(300))
    found = nested(network(place, "deep", NET))
    assert len(found.files) == 5
    [move] = found.environment["moved"]
    assert move["to"].startswith("m0.m1.m2.m3.m4.m5_m6_")


def test_module_and_file_names_are_unique(tmp_path: Path) -> None:
    net = resource("networking_network_v2", "template", {"id": NET, "name": "a"})
    data = state(net, network("module.template", "b", "n2"), network("module.environment", "c", "n3"))
    message = command(tmp_path, data).output
    names = {file.name for file in (tmp_path / "out/modules").iterdir()}
    assert names == {"template.yaml", "environment.yaml", "template_2.yaml", "environment_2.yaml"}
    assert "2 resources in nested templates for modules" in message
    written = yaml.safe_load((tmp_path / "out/modules/template.yaml").read_text())
    assert set(written["resources"]) == {"template", "template_module", "environment"}
    assert not (tmp_path / "out/template_2.yaml").exists()


def test_a_flat_import_has_no_modules(tmp_path: Path) -> None:
    assert command(tmp_path, state(network("module.a", "x", NET)), "--flat").exit_code == 0
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"template.yaml", "environment.yaml"}


def test_sensitive_values_become_hidden_parameters(tmp_path: Path) -> None:
    metadata = {"token": "TOP-SECRET"}
    marked = [[{"type": "get_attr", "value": "metadata"}, {"type": "index", "value": "token"}]]
    volume = {"id": PORT, "name": "v", "size": 1, "metadata": metadata}
    user = {"id": "u", "name": "u", "password": "TOP-SECRET"}
    data = state(
        resource("blockstorage_volume_v3", "data", volume, sensitive_attributes=marked),
        resource("identity_user_v3", "me", user),
        resource("random_password", "other", {"result": "TOP-SECRET"}),
    )
    refused = command(tmp_path, data)
    assert refused.exit_code == 1
    assert not (tmp_path / "out").exists()
    written = command(tmp_path, data, "--skip-unsupported")
    assert written.exit_code == 0, written.output
    template = yaml.safe_load((tmp_path / "out/template.yaml").read_text())
    hidden = {name: each["type"] for name, each in template["parameters"].items() if each.get("hidden")}
    assert hidden == {"data_metadata": "json", "me_password": "string"}
    assert all(f" -P {name}=…" in written.output for name in hidden)
    files = "".join(file.read_text() for file in (tmp_path / "out").iterdir())
    assert "TOP-SECRET" not in refused.output + written.output + files
    again = command(tmp_path, data, "--skip-unsupported")
    assert again.exit_code == 1
    assert "nothing is overwritten" in again.output


def test_outputs_become_references(tmp_path: Path) -> None:
    nics = [{"uuid": NET, "name": "x.y", "fixed_ip_v4": "10.0.0.7"}]
    server = {"id": "s", "name": "s", "flavor_id": "1", "image_id": "i", "network": nics}
    balancers = {"id": PORT, "name": "b", "vip_subnet_id": NET, "vip_address": "10.0.0.9"}
    twins = [{"id": f"{number}{NET[1:]}", "network_id": NET, "all_fixed_ips": ["10.0.0.8"]} for number in (4, 5)]
    data = state(
        network("module.net", "x", NET),
        resource("lb_loadbalancer_v2", "b", balancers),
        resource("compute_instance_v2", "s", server),
        *(resource("networking_port_v2", f"twin{number}", each) for number, each in enumerate(twins)),
    )
    values = {
        "net": NET,
        "all": {"balancer": [PORT, "10.0.0.9"], "port": 80},
        "server": "10.0.0.7",
        "twin": "10.0.0.8",
        "function": {"get_file": "file:///etc/passwd"},
        "empty": None,
    }
    data["outputs"] = {name: {"value": value, "type": "string"} for name, value in values.items()}
    data["outputs"]["secret"] = {"value": "TOP-SECRET", "type": "string", "sensitive": True}
    answer = command(tmp_path, data)
    assert answer.exit_code == 0, answer.output
    assert yaml.safe_load((tmp_path / "out/template.yaml").read_text())["outputs"] == {
        "net": {"value": {"get_resource": "net_main"}},
        "all": {"value": {"balancer": [{"get_resource": "b"}, {"get_attr": ["b", "vip_address"]}], "port": 80}},
        "server": {"value": {"get_attr": ["s", "networks", "x.y", 0]}},
        "twin": {"value": "10.0.0.8"},
    }
    inner = yaml.safe_load((tmp_path / "out/modules/template.yaml").read_text())
    assert sorted(inner["resources"]) == ["b", "net", "s", "twin0", "twin1"]
    assert inner["outputs"]["net"] == {"value": {"get_attr": ["net", "main"]}}
    assert "Outputs with fixed values, which refer to no resource: all, twin." in answer.output
    assert "the output secret: the state marks it as sensitive" in answer.output
    assert "the output function: its value looks like a function" in answer.output
    files = "".join(file.read_text() for file in (tmp_path / "out").rglob("*.yaml"))
    assert "TOP-SECRET" not in answer.output + files


def test_types_without_equivalent_are_listed_with_the_reason(tmp_path: Path) -> None:
    data = state(
        resource("compute_quotaset_v2", "quota", {"id": "p/RegionOne"}),
        resource("networking_network_v2", "old", {"id": NET, "name": "old"}, deposed="0badcafe"),
        resource("compute_volume_attach_v2", "a", {"id": "s/v", "instance_id": "s", "volume_id": "v"}),
        resource("new_thing_v9", "new", {"id": "n"}),
        resource("networking_port_v2", "port", {"id": PORT}),
    )
    answer = command(tmp_path, data, "-f", "json")
    assert answer.exit_code == 1
    shown = json.loads(answer.output)
    reasons = {each["address"]: each["reason"] for each in shown["unsupported"]}
    assert "no identity of its own" in reasons["openstack_compute_quotaset_v2.quota"]
    assert "deposed" in reasons["openstack_networking_network_v2.old"]
    assert "which the state does not have" in reasons["openstack_compute_volume_attach_v2.a"]
    assert "not known" in reasons["openstack_new_thing_v9.new"]
    assert "does not say network" in reasons["openstack_networking_port_v2.port"]
    assert shown["files"] == []


def test_special_values_are_not_interpreted() -> None:
    hostile = {"get_file": "file:///etc/passwd"}
    volume = {"id": PORT, "name": "{get_param: x}", "size": "2", "metadata": hostile, "image_id": ["x"]}
    found = imported(resource("blockstorage_volume_v3", "v", volume))
    assert not found.template.get("resources")
    assert "would be refused" in found.unsupported["openstack_blockstorage_volume_v3.v"]
    found = imported(resource("blockstorage_volume_v3", "v", {**volume, "image_id": ""}))
    properties = found.template["resources"]["v"]["properties"]
    assert properties == {"size": 2, "name": "{get_param: x}", "metadata": {"get_param": "metadata"}}
    values: list[Any] = [None, 7, "x", [], [1], [[]], {"a": 1}, [{"network": 1}]]
    for strange in values:
        for attribute in ("network", "block_device", "security_groups", "scheduler_hints", "metadata", "flavor_id"):
            imported(resource("compute_instance_v2", "s", {"id": "s", "flavor_id": "1", attribute: strange}))


def block(text: str, kind: str, name: str) -> dict[str, str]:
    """The arguments of a resource in a configuration, and those of the blocks in it."""
    inside = text.partition(f'resource "{kind}" "{name}" {{\n')[2].partition("\n}\n")[0]
    pairs = (line.partition(" = ") for line in inside.splitlines())
    return {key.strip(): value for key, equals, value in pairs if equals}


def test_a_configuration_refers_to_other_objects_and_has_no_secrets() -> None:
    rule = {"id": "rule", "direction": "ingress", "ethertype": "IPv4", "protocol": "tcp", "security_group_id": "g"}
    shown = {"name": "tree-group", "security_group_rules": [rule, {**rule, "id": "known"}]}
    disks = [{"boot_index": 0, "image": "i", "volume_size": 3}, {"volume_id": "v"}]
    server = {"flavor": "m1.tiny", "block_device_mapping_v2": disks}
    found = to_configuration(
        [
            StackObject("net", "OS::Neutron::Net", NET, {"name": "${a} %{b}", "admin_state_up": True}),
            StackObject("web.0.port", "OS::Neutron::Port", PORT, {"network": NET, "tags": ["a"]}),
            StackObject("me", "OS::Keystone::User", "u", {"name": "u", "password": "******"}),
            StackObject("group", "OS::Neutron::SecurityGroup", "g", {"rules": [{"protocol": "tcp"}]}, shown),
            StackObject("server", "OS::Nova::Server", "s", server, {"name": "tree-server"}),
            StackObject("wall", "OS::Neutron::FirewallRule", "w", {"action": "deny"}),
            StackObject("pool", "OS::Octavia::Pool", "p", {"lb_algorithm": "ROUND_ROBIN"}),
            StackObject("address", "OS::Neutron::FloatingIP", "f", {"floating_network": "public"}),
            StackObject("rule", "OS::Neutron::SecurityGroupRule", "known", {"security_group": "g"}, rule),
            StackObject("random", "OS::Heat::RandomString", "r", {}),
        ],
        TYPES,
    )
    port = block(found.text, "openstack_networking_port_v2", "web_0_port")
    assert port["network_id"] == "openstack_networking_network_v2.net.id" and "no_fixed_ip" not in port
    net = block(found.text, "openstack_networking_network_v2", "net")
    assert net == {"name": '"$${a} %%{b}"', "admin_state_up": "true", "shared": "false"}
    assert f'  to = openstack_networking_port_v2.web_0_port\n  id = "{PORT}"\n' in found.text
    assert block(found.text, "openstack_identity_user_v3", "me")["password"] == "var.me_password"
    assert found.variables == ["me_password"]
    assert found.resources["group"] == "openstack_networking_secgroup_v2.group"
    assert found.resources["address"] == "openstack_networking_floatingip_v2.address"
    assert found.unsupported["pool"] == "Terraform needs protocol, which the stack does not have"
    assert set(found.unsupported) == {"random", "wall", "pool"}
    assert not found.left_out
    assert found.resources["group.rule_0"] == "openstack_networking_secgroup_rule_v2.group_rule_0"
    assert "group.rule_1" not in found.resources, "the stack has it as a resource of its own"
    assert block(found.text, "openstack_networking_secgroup_rule_v2", "group_rule_0") == {
        "direction": '"ingress"',
        "ethertype": '"IPv4"',
        "protocol": '"tcp"',
        "security_group_id": "openstack_networking_secgroup_v2.group.id",
    }
    assert block(found.text, "openstack_compute_instance_v2", "server") == {
        "name": '"tree-server"',
        "flavor_name": '"m1.tiny"',
        "uuid": '"i"',
        "source_type": '"image"',
        "destination_type": '"volume"',
        "boot_index": "0",
        "volume_size": "3",
    }
    assert '  to = openstack_compute_volume_attach_v2.server_volume_0\n  id = "s/v"\n' in found.text


def test_import_ids_are_composed() -> None:
    assert composed("{a}/{id/-1}", {"a": "x", "id": "y/z"}.__getitem__) == "x/z"
    assert composed("{a}/{id}", {"a": "", "id": "y"}.__getitem__) == ""
