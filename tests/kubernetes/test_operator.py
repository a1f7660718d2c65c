"""Objects of the kind Stack are deployed, changed, repaired and deleted."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path

import pytest
import yaml

from tests.cli.cli_shell import Shell
from tests.cli.test_cli_approvals import as_manager
from tests.kubernetes.conftest import Cluster, condition, encoded

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group(__name__)]

NET = """\
heat_template_version: 2021-04-16
parameters:
  name: {type: string}
  word: {type: string, default: none, hidden: true}
resources:
  net: {type: OS::Neutron::Net, properties: {name: {get_param: name}}}
outputs:
  id: {value: {get_resource: net}}
  words: {value: [{get_param: word}]}
"""
DISK = "{heat_template_version: 2021-04-16, resources: {disk: {type: 'OS::Cinder::Volume', properties: {size: 1}}}}"
THING = """\
heat_template_version: 2021-04-16
resources:
  thing: {type: OS::Heat::TestResource, properties: {fail: true}}
"""


def networks(shell: Shell) -> list[str]:
    return [row["Name"] for row in yaml.safe_load(shell.openstack("network", "list", "-f", "json").out)]


def test_a_stack_is_deployed_changed_and_deleted_with_its_object(cluster: Cluster) -> None:
    api = cluster.api
    api.apply("Secret", "words", data={"word": encoded("secret-word")})
    more = {"parametersFrom": [{"name": "words"}], "outputsTo": {"name": "results"}}
    cluster.apply("net", NET, parameters={"name": "kube-a"}, **more)
    status = cluster.ready("net", "Deployed")
    assert (status["state"], condition(status, "Ready")["status"]) == ("CREATE_COMPLETE", "True")
    assert [condition(status, kind)["status"] for kind in ("Reconciling", "Stalled")] == ["False", "False"]
    assert "kube-a" in networks(cluster.shell)
    outputs = api.get("results", plural="secrets")
    assert outputs is not None and b64decode(outputs["data"]["words"]).decode() == '["secret-word"]'
    assert outputs["metadata"]["ownerReferences"][0]["name"] == "net"

    cluster.apply("net", NET, parameters={"name": "kube-b"}, **more)
    assert cluster.ready("net", "Deployed")["state"] == "UPDATE_COMPLETE"
    assert "kube-b" in networks(cluster.shell)
    assert "secret-word" not in str(api.get("net"))

    cluster.delete("net")
    assert "kube-b" not in networks(cluster.shell)
    assert "There is no stack net" in cluster.shell.fails("stack", "show", "net")


def test_a_plan_waits_for_its_approval(cluster: Cluster) -> None:
    cluster.apply("held", NET, parameters={"name": "kube-held"}, approval="Manual")
    status = cluster.ready("held", "ApprovalRequired")
    assert "kube-held" not in networks(cluster.shell)
    digest = status["plan"]["digest"]
    assert digest in condition(status, "Ready")["message"] and "1 to create" in status["plan"]["summary"]
    cluster.api.annotate("held", "stoker.dev/approved-plan", digest)
    cluster.ready("held", "Deployed")
    cluster.delete("held")


def test_denied_deployment_is_not_carried_out(cluster: Cluster, tmp_path: Path) -> None:
    cluster.apply("governed", NET, parameters={"name": "kube-allowed"})
    cluster.ready("governed", "Deployed")
    policies = tmp_path / "policies.yaml"
    policies.write_text("policies:\n- {name: calm, for: plan, expression: 'false', message: nothing may change}\n")
    cluster.shell.ok("policies", "governed", "--set", str(policies), variables=as_manager(cluster.shell))
    cluster.apply("governed", NET, parameters={"name": "kube-denied"})
    message = condition(cluster.ready("governed", "PlanFailed"), "Ready")["message"]
    assert "nothing may change" in message
    assert "kube-denied" not in networks(cluster.shell)
    cluster.shell.ok("policies", "governed", "--remove", variables=as_manager(cluster.shell))
    cluster.ready("governed", "Deployed")
    assert "kube-denied" in networks(cluster.shell)
    cluster.delete("governed")


def test_data_loss_requires_permission(cluster: Cluster) -> None:
    api = cluster.api
    cluster.apply("disk", DISK)
    cluster.ready("disk", "Deployed")
    empty = "{heat_template_version: 2021-04-16, resources: {}}"
    cluster.apply("disk", empty)
    status = cluster.ready("disk", "DataLoss")
    assert status["plan"]["dataLost"] == "disk" and condition(status, "Stalled")["status"] == "True"
    cluster.apply("disk", DISK)
    cluster.ready("disk", "Deployed")
    api.delete("disk")
    api.wait_for(lambda: (api.get("disk") or {})["status"]["conditions"][0]["reason"] == "DataLoss")
    assert cluster.shell.ok("stack", "show", "disk").status == 0
    cluster.apply("disk", DISK, deletionPolicy="Retain")
    assert api.wait_for(lambda: api.get("disk") is None, 90)
    cluster.apply("disk", DISK, allowDataLoss=True)  # created again, it has its stack again
    cluster.ready("disk", "Deployed")
    cluster.delete("disk")
    assert "There is no stack disk" in cluster.shell.fails("stack", "show", "disk")


def test_foreign_stacks_are_adopted_only_on_request(cluster: Cluster, tmp_path: Path) -> None:
    template = tmp_path / "disk.yaml"
    template.write_text(DISK)
    cluster.shell.ok("deploy", "found", "-t", str(template), "--yes")
    cluster.apply("found", DISK)
    message = condition(cluster.ready("found", "NotOwned"), "Ready")["message"]
    assert message == "The stack found exists already: set `adopt` to take it over."
    cluster.delete("found")
    cluster.apply("found", DISK, adopt=True, deletionPolicy="Retain")
    cluster.ready("found", "Deployed")
    cluster.apply("second", DISK, stackName="found", adopt=True)
    assert "belongs to another object" in condition(cluster.ready("second", "NotOwned"), "Ready")["message"]
    for name in ("second", "found"):
        cluster.delete(name)
    cluster.shell.ok("delete", "found", "--yes")


def test_mistakes_are_reported_with_positions(cluster: Cluster) -> None:
    wrong = NET.replace("OS::Neutron::Net,", "OS::Neutron::Nat,")
    cluster.apply("wrong", wrong, parameters={"name": "x"})
    message = condition(cluster.ready("wrong", "PlanFailed"), "Ready")["message"]
    assert "template.yaml:6:15: resources.net.type: there is no resource type 'OS::Neutron::Nat'" in message
    cluster.apply("wrong", "{resources: {a: {type: x, properties: {y: {get_file: /etc/passwd}}}}}")
    message = condition(cluster.ready("wrong", "PlanFailed"), "Ready")["message"]
    assert "outside" in message
    cluster.apply("wrong", NET, parametersFrom=[{"name": "missing"}])
    message = condition(cluster.ready("wrong", "Invalid"), "Ready")["message"]
    assert message == 'The Secret missing cannot be read: secrets "missing" not found'
    cluster.apply("wrong", NET, cloud={"secretName": "cloud", "name": "other"})
    assert "has no cloud 'other'" in condition(cluster.ready("wrong", "Invalid"), "Ready")["message"]
    cluster.apply("wrong", NET, suspend=True)
    cluster.ready("wrong", "Suspended")
    cluster.delete("wrong")


def test_a_failed_deployment_is_reported_and_tried_again_after_a_change(cluster: Cluster) -> None:
    cluster.apply("failing", THING)
    status = cluster.ready("failing", "DeploymentFailed")
    assert (status["state"], status["failures"]) == ("CREATE_FAILED", 1)
    cluster.apply("failing", THING.replace("true", "false"))
    assert cluster.ready("failing", "Deployed")["failures"] == 0
    cluster.delete("failing")
