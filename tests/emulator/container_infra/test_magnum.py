"""Cluster templates, clusters, node groups, certificates and quotas over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from openstack_emulator.container_infra.rules.clusters import SECONDS_TO_CREATE, SECONDS_TO_DELETE, SECONDS_TO_UPDATE
from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import Answer, ServedCloud

TEMPLATE = {"image_id": "fedora-coreos", "external_network_id": "public", "coe": "kubernetes"}


class Magnum:
    """A client of the service for container clusters."""

    def __init__(self, served: ServedCloud, user: str = "demo", version: str = "latest") -> None:
        self.served, self.user, self.version = served, user, version

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        token = self.served.token(self.user, self.user)
        headers = {"OpenStack-API-Version": f"container-infra {self.version}"}
        return self.served.call(method, f"/container-infra/v1{path}", body, token, headers)

    def get(self, path: str) -> Any:
        answer = self.call("GET", path)
        assert answer.status == 200, answer.content
        return answer.json

    def template(self, **more: Any) -> Any:
        answer = self.call("POST", "/clustertemplates", {**TEMPLATE, **more})
        assert answer.status == 201, answer.content
        return answer.json

    def cluster(self, template: str, **more: Any) -> str:
        """The ID of a new cluster, which is complete."""
        answer = self.call("POST", "/clusters", {"cluster_template_id": template, **more})
        assert answer.status == 202, answer.content
        self.served.advance(SECONDS_TO_CREATE)
        assert self.get(f"/clusters/{answer.json['uuid']}")["status"] == "CREATE_COMPLETE"
        return str(answer.json["uuid"])

    def patch(self, path: str, **changes: Any) -> Answer:
        operations = [{"op": "replace", "path": f"/{name}", "value": value} for name, value in changes.items()]
        return self.call("PATCH", path, operations)


@pytest.fixture
def magnum(served: ServedCloud) -> Magnum:
    return Magnum(served)


def refused(answer: Answer, status: int, words: str) -> None:
    """An answer is an error, in the service's form."""
    (error,) = answer.json["errors"]
    assert (answer.status, error["status"]) == (status, status), answer.content
    assert words in error["detail"]
    assert set(error) == {"request_id", "code", "status", "title", "detail", "links"}


def test_versions(served: ServedCloud, magnum: Magnum) -> None:
    (found,) = served.call("GET", "/container-infra/").json["versions"]
    assert (found["id"], found["min_version"], found["max_version"]) == ("v1", "1.1", "1.11")
    assert served.call("GET", "/container-infra/v1/").json["id"] == "v1"
    assert served.call("GET", "/container-infra/v1/clusters").status == 401
    shown = magnum.call("GET", "/clusters").headers["openstack-api-version"]
    assert shown == "container-infrastructure-management 1.11"
    (unsupported,) = Magnum(served, version="1.99").call("GET", "/clusters").json["errors"]
    assert (unsupported["max_version"], unsupported["code"]) == ("1.11", "magnum.microversion-unsupported")
    refused(Magnum(served, "admin", "1.1").call("GET", "/quotas"), 404, "")
    refused(Magnum(served, version="1.6").call("POST", "/clusters/x/actions/resize", {}), 406, "API resize")


def test_cluster_templates(served: ServedCloud, magnum: Magnum) -> None:
    made = magnum.template(
        name="small",
        flavor_id="m1.small",
        keypair_id="theirs",
        cluster_distro="x",
        labels={"a": 1},
        master_lb_enabled=True,
    )
    assert (made["cluster_distro"], made["keypair_id"]) == ("fedora-coreos", "theirs")
    assert (made["network_driver"], made["driver"], made["labels"]) == ("flannel", "k8s_fedora_coreos_v1", {"a": "1"})
    assert magnum.get("/clustertemplates/small") == magnum.get(f"/clustertemplates/{made['uuid']}") == made
    unnamed = magnum.template(name=None)
    listed = magnum.get("/clustertemplates?limit=1")
    assert [row["uuid"] for row in listed["clustertemplates"]] == [made["uuid"]]
    following = magnum.get(listed["next"].partition("/v1")[2])
    assert [row["uuid"] for row in following["clustertemplates"]] == [unnamed["uuid"]]
    backwards = magnum.get("/clustertemplates/detail?sort_key=created_at&sort_dir=desc")["clustertemplates"]
    assert len(backwards) == 2

    changed = magnum.patch("/clustertemplates/small", dns_nameserver="9.9.9.9", labels={"b": "2"}).json
    assert (changed["dns_nameserver"], changed["labels"]) == ("9.9.9.9", {"b": "2"})
    keys = [{"op": "add", "path": "/labels/c", "value": "3"}, {"op": "remove", "path": "/labels/b"}]
    assert magnum.call("PATCH", "/clustertemplates/small", keys).json["labels"] == {"c": "3"}
    magnum.template(name="small")
    refused(magnum.call("GET", "/clustertemplates/small"), 409, "Multiple ClusterTemplates exist")

    admin = Magnum(served, "admin")
    refused(magnum.patch(f"/clustertemplates/{made['uuid']}", public=True), 403, "public")
    assert admin.patch(f"/clustertemplates/{made['uuid']}", public=True).json["public"] is True
    theirs = admin.template()
    refused(magnum.call("GET", f"/clustertemplates/{theirs['uuid']}"), 404, "could not be found")
    assert admin.patch(f"/clustertemplates/{theirs['uuid']}", public=True).status == 200
    assert magnum.get(f"/clustertemplates/{theirs['uuid']}")["public"] is True
    refused(magnum.call("DELETE", f"/clustertemplates/{theirs['uuid']}"), 403, "clustertemplate:delete")
    assert magnum.call("DELETE", f"/clustertemplates/{made['uuid']}").status == 204
    refused(magnum.call("GET", f"/clustertemplates/{made['uuid']}"), 404, "ClusterTemplate")


@pytest.mark.parametrize(
    ("wrong", "status", "words"),
    [
        ({"image_id": "nothing"}, 400, "Image nothing could not be found"),
        ({"image_id": "cirros"}, 400, "('vm', 'cirros', 'kubernetes') not supported"),
        ({"external_network_id": "nothing"}, 400, "external network nothing"),
        ({"external_network_id": "private"}, 400, "external network private"),
        ({"fixed_subnet": "nothing"}, 400, "fixed subnet"),
        ({"flavor_id": "nothing"}, 400, "flavor nothing"),
        ({"coe": "fleet"}, 400, "coe"),
        ({"network_driver": "docker"}, 400, "Network driver type docker"),
        ({"volume_driver": "rexray"}, 400, "Volume driver type rexray"),
        ({"driver": "k8s_cluster_api"}, 400, "driver k8s_cluster_api"),
        ({"docker_storage_driver": "devicemapper", "docker_volume_size": 2}, 400, "minimum value 3GB"),
        ({"docker_storage_driver": "devicemapper"}, 400, "docker volume size None GB"),
        ({"docker_volume_size": 0}, 400, "greater or equal to 1"),
        ({"labels": ["a"]}, 400, "not a valid dict"),
        ({"colour": "red"}, 400, "Unknown attribute for argument cluster_template: colour"),
        ({"public": True}, 403, "public"),
    ],
)
def test_templates_that_are_refused(magnum: Magnum, wrong: dict[str, Any], status: int, words: str) -> None:
    refused(magnum.call("POST", "/clustertemplates", {**TEMPLATE, **wrong}), status, words)
    assert magnum.get("/clustertemplates")["clustertemplates"] == []


def test_cluster_lifecycle(served: ServedCloud, magnum: Magnum) -> None:
    template = magnum.template(name="small", labels={"a": "1", "b": "2"})["uuid"]
    request_body = {
        "name": "web",
        "cluster_template_id": "small",
        "node_count": 2,
        "keypair": None,
        "discovery_url": None,
    }
    key = magnum.call("POST", "/clusters", {**request_body, "labels": {"a": "9"}, "merge_labels": True}).json["uuid"]
    begun = magnum.get("/clusters/web")
    assert (begun["status"], begun["node_addresses"], begun["api_address"]) == ("CREATE_IN_PROGRESS", [], None)
    assert (begun["labels"], begun["labels_overridden"]) == ({"a": "9", "b": "2"}, {"a": "1"})
    assert magnum.patch(f"/clusters/{key}", node_count=3).status == 202, "accepted, and ignored"
    served.advance(SECONDS_TO_CREATE)
    ready = magnum.get(f"/clusters/{key}")
    assert (ready["status"], ready["cluster_template_id"]) == ("CREATE_COMPLETE", template)
    assert (ready["node_count"], len(ready["node_addresses"])) == (2, 2)
    assert ready["api_address"] == f"https://{ready['master_addresses'][0]}:6443"
    assert ready["coe_version"]
    assert set(magnum.get("/clusters")["clusters"][0]) < set(magnum.get("/clusters/detail")["clusters"][0])

    assert magnum.patch(f"/clusters/{key}", node_count="3").json == {"uuid": key}
    assert magnum.get(f"/clusters/{key}")["status"] == "UPDATE_IN_PROGRESS"
    served.advance(SECONDS_TO_UPDATE)
    grown = magnum.get(f"/clusters/{key}")
    assert (grown["status"], grown["node_addresses"][:2]) == ("UPDATE_COMPLETE", ready["node_addresses"])
    refused(magnum.patch(f"/clusters/{key}", master_count=3), 400, "cannot change cluster property(ies) master_count")
    refused(magnum.patch(f"/clusters/{key}", status="x"), 400, "property(ies) status")
    refused(magnum.patch(f"/clusters/{key}", uuid="x"), 400, "internal attribute")
    assert magnum.patch(f"/clusters/{key}", master_count=1).status == 202

    gone = grown["node_addresses"][0]
    body = {"node_count": 2, "nodes_to_remove": [gone]}
    assert magnum.call("POST", f"/clusters/{key}/actions/resize", body).status == 202
    served.advance(SECONDS_TO_UPDATE)
    assert magnum.get(f"/clusters/{key}")["node_addresses"] == grown["node_addresses"][1:]
    refused(magnum.call("POST", f"/clusters/{key}/actions/resize", {**body, "node_count": 1}), 400, f"Node {gone}")
    refused(magnum.call("DELETE", f"/clustertemplates/{template}"), 400, "referenced by one or multiple clusters")
    refused(magnum.patch(f"/clustertemplates/{template}", flavor_id="m1.tiny"), 400, "referenced")
    assert magnum.get("/stats") == {"clusters": 1, "nodes": 3}

    assert magnum.call("DELETE", f"/clusters/{key}").status == 204
    assert magnum.get(f"/clusters/{key}")["status"] == "DELETE_IN_PROGRESS"
    refused(magnum.call("DELETE", f"/clusters/{key}"), 409, "operation in progress")
    served.advance(SECONDS_TO_DELETE)
    refused(magnum.call("GET", f"/clusters/{key}"), 404, "could not be found")
    assert magnum.call("DELETE", f"/clustertemplates/{template}").status == 204


def test_clusters_of_other_projects_and_wrong_requests(served: ServedCloud, magnum: Magnum) -> None:
    template = magnum.template()["uuid"]
    key = magnum.cluster(template)
    admin = Magnum(served, "admin")
    assert [row["uuid"] for row in admin.get("/clusters")["clusters"]] == [key]
    theirs = admin.cluster(admin.template()["uuid"])
    refused(magnum.call("GET", f"/clusters/{theirs}"), 404, "could not be found")
    assert [row["uuid"] for row in magnum.get("/clusters")["clusters"]] == [key]
    for body, status, words in (
        ({}, 400, "cluster_template_id"),
        ({"cluster_template_id": "nothing"}, 404, "ClusterTemplate nothing"),
        ({"cluster_template_id": template, "name": "1st"}, 400, "match the pattern"),
        ({"cluster_template_id": template, "master_count": 0}, 400, "greater or equal to 1"),
        ({"cluster_template_id": template, "keypair": "nothing"}, 404, "keypair nothing"),
        ({"cluster_template_id": template, "flavor_id": "nothing"}, 400, "flavor nothing"),
    ):
        refused(magnum.call("POST", "/clusters", body), status, words)
    refused(magnum.call("GET", "/clusters?name=web"), 400, "Unknown argument")
    refused(magnum.call("GET", "/clusters?sort_key=colour"), 400, "sort_key")
    refused(magnum.call("GET", "/clusters?marker=nothing"), 400, "marker")
    refused(Magnum(served, version="1.9").patch(f"/clusters/{key}", node_count=0), 400, "to zero is not supported")
    wrong: list[Any] = [{}, [], [{"op": "move"}], [{"op": "replace", "path": "x"}], [{"op": "add", "path": "/a"}]]
    refused(magnum.call("PATCH", "/clusters/nothing", wrong[0]), 400, "not a valid list")
    refused(magnum.call("PATCH", "/clustertemplates/nothing", wrong[3]), 400, "pattern")
    for document in wrong:
        assert magnum.call("PATCH", f"/clusters/{key}", document).status == 400
    refused(magnum.call("GET", "/mservices"), 403, "magnum-service:get_all")
    assert admin.get("/mservices")["mservices"][0]["binary"] == "magnum-conductor"


def test_faults_put_clusters_into_failed_states(served: ServedCloud, magnum: Magnum) -> None:
    def fail(on: str) -> None:
        served.do(lambda: served.cloud.faults.add(Fault(on=on, do="error_state", message="No valid host", times=1)))

    template = magnum.template()["uuid"]
    fail("POST /container-infra/v1/clusters")
    broken = magnum.call("POST", "/clusters", {"cluster_template_id": template}).json["uuid"]
    served.advance(SECONDS_TO_CREATE)
    shown = magnum.get(f"/clusters/{broken}")
    assert (shown["status"], shown["status_reason"]) == ("CREATE_FAILED", "No valid host")
    assert magnum.patch(f"/clusters/{broken}", node_count=3).status == 202
    assert magnum.get(f"/clusters/{broken}")["node_count"] == 1

    key = magnum.cluster(template)
    for query, status, count in (("?rollback=True", "ROLLBACK_COMPLETE", 1), ("", "UPDATE_FAILED", 2)):
        fail("PATCH /container-infra/v1/clusters/*")
        assert magnum.patch(f"/clusters/{key}{query}", node_count=2).status == 202
        served.advance(SECONDS_TO_UPDATE)
        shown = magnum.get(f"/clusters/{key}")
        assert (shown["status"], shown["node_count"]) == (status, count)
    fail("DELETE /container-infra/v1/clusters/*")
    assert magnum.call("DELETE", f"/clusters/{key}").status == 204
    served.advance(SECONDS_TO_DELETE)
    assert magnum.get(f"/clusters/{key}")["status"] == "DELETE_FAILED"


def test_node_groups_and_upgrades(served: ServedCloud, magnum: Magnum) -> None:
    template, newer = magnum.template(name="old")["uuid"], magnum.template(name="new")["uuid"]
    key = magnum.cluster(template)
    path = f"/clusters/{key}/nodegroups"
    groups = magnum.get(path)["nodegroups"]
    assert [(group["name"], group["role"], group["is_default"]) for group in groups] == [
        ("default-master", "master", True),
        ("default-worker", "worker", True),
    ]
    made = magnum.call("POST", path, {"name": "large", "role": "db", "node_count": 2, "max_node_count": 3})
    assert (made.status, magnum.get(f"{path}/large")["status"]) == (202, "CREATE_IN_PROGRESS")
    served.advance(SECONDS_TO_UPDATE)
    assert magnum.get(f"{path}/large")["status"] == "CREATE_COMPLETE"
    assert magnum.get(f"/clusters/{key}")["node_count"] == 3
    assert [group["name"] for group in magnum.get(f"{path}?role=db")["nodegroups"]] == ["large"]
    resize = f"/clusters/{key}/actions/resize"
    refused(magnum.call("POST", resize, {"node_count": 4, "nodegroup": "large"}), 400, "max_node_count = 3")
    refused(magnum.call("POST", resize, {"node_count": 3, "nodegroup": "default-master"}), 400, "master")
    refused(magnum.call("POST", path, {"name": "large"}), 409, "already exists")
    refused(magnum.patch(f"{path}/large", max_node_count=1), 409, "max_node_count for large is invalid")
    assert magnum.patch(f"{path}/large", max_node_count=9).json["max_node_count"] == 9
    served.advance(SECONDS_TO_UPDATE)

    upgrade = f"/clusters/{key}/actions/upgrade"
    refused(magnum.call("POST", upgrade, {"cluster_template": "new", "nodegroup": "large"}), 409, "template (old)")
    assert magnum.call("POST", upgrade, {"cluster_template": "new", "max_batch_size": 2}).status == 202
    served.advance(SECONDS_TO_UPDATE)
    assert magnum.get(f"/clusters/{key}")["status"] == "UPDATE_IN_PROGRESS", "three nodes are two batches"
    served.advance(SECONDS_TO_UPDATE)
    shown = magnum.get(f"/clusters/{key}")
    assert (shown["status"], shown["cluster_template_id"]) == ("UPDATE_COMPLETE", newer)

    refused(magnum.call("DELETE", f"{path}/default-worker"), 400, "default nodegroup")
    assert magnum.call("DELETE", f"{path}/large").status == 204
    served.advance(SECONDS_TO_UPDATE)
    refused(magnum.call("GET", f"{path}/large"), 404, "Nodegroup large")


def test_certificates(served: ServedCloud, magnum: Magnum) -> None:
    key = magnum.cluster(magnum.template()["uuid"], name="web")
    authority = x509.load_pem_x509_certificate(magnum.get(f"/certificates/{key}")["pem"].encode())
    private = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "admin")])
    asked = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(private, hashes.SHA256())
    csr = asked.public_bytes(serialization.Encoding.PEM).decode()
    answer = magnum.call("POST", "/certificates", {"cluster_uuid": key, "csr": csr})
    assert answer.status == 201
    issued = x509.load_pem_x509_certificate(answer.json["pem"].encode())
    issued.verify_directly_issued_by(authority)
    assert issued.subject == subject
    refused(magnum.call("POST", "/certificates", {"cluster_uuid": key, "csr": "x"}), 400, "csr")
    assert magnum.call("PATCH", f"/certificates/{key}").status == 202
    assert magnum.get("/certificates/web")["pem"].encode() != authority.public_bytes(serialization.Encoding.PEM)


def test_quotas(served: ServedCloud, magnum: Magnum) -> None:
    admin = Magnum(served, "admin")
    template = magnum.template()
    project = template["project_id"]
    path = f"/quotas/{project}/Cluster"
    assert magnum.get(path)["hard_limit"] == 20
    body = {"project_id": project, "resource": "Cluster", "hard_limit": 1}
    refused(magnum.call("POST", "/quotas", body), 403, "quota:create")
    assert admin.call("POST", "/quotas", body).status == 201
    refused(admin.call("POST", "/quotas", body), 409, "already exists")
    magnum.cluster(template["uuid"])
    refused(
        magnum.call("POST", "/clusters", {"cluster_template_id": template["uuid"]}), 403, "maximum clusters per project"
    )
    assert admin.call("PATCH", path, {**body, "hard_limit": 2}).json["hard_limit"] == 2
    assert [row["hard_limit"] for row in admin.get("/quotas?all_tenants=true")["quotas"]] == [2]
    magnum.cluster(template["uuid"])
    assert admin.call("DELETE", path).status == 204
    refused(admin.call("DELETE", path), 404, "Quota could not be found")
    refused(magnum.call("GET", "/quotas/someone/Cluster"), 403, "Not authorized")
