"""Clusters and cluster templates as resources, on the emulated service."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import CloudError
from stoker.cloud.session import Cloud
from stoker.engine.planning.decide import can_become
from stoker.plugins.constraints import ConstraintChecker
from stoker.plugins.resource import ResourceType
from stoker.resources.constraints import CONSTRAINTS
from stoker.resources.magnum.cluster import Cluster
from stoker.resources.magnum.cluster_template import BayModel, ClusterTemplate
from stoker_foundation.clock import ManualClock
from tests.resources.crash_support import run_crashing
from tests.resources.resource_harness import ActionFailed, BadProperties, Bench

MakeBench = Callable[[type[ResourceType]], Bench]
SMALL = {"coe": "kubernetes", "image": "fedora-coreos", "external_network": "public", "docker_volume_size": 4}


async def template_id(bench: MakeBench, **more: Any) -> str:
    """The ID of a new cluster template."""
    return str((await bench(ClusterTemplate).create({**SMALL, **more}, "template")).physical_id)


def fail(served: ServedCloud, on: str) -> None:
    """Let the next such request put its object into an error state."""
    fault = Fault(on=on, do="error_state", message="No valid host", times=1)
    served.do(lambda: served.cloud.faults.add(fault))


async def test_a_cluster_template(bench: MakeBench, cloud: Cloud, admin: Cloud, clock: ManualClock) -> None:
    templates = bench(ClusterTemplate)
    body = {
        **SMALL, "flavor": "m1.small", "docker_volume_size": 5, "network_driver": "calico", "volume_driver": "cinder",
        "labels": {"kube_tag": "v1.27.8"}, "fixed_network": "private", "tls_disabled": True,
    }  # fmt: skip
    template = await templates.create(body)
    shown = await cloud.get("magnum", f"/clustertemplates/{template.physical_id}")
    public = await cloud.find("neutron.network", "public")
    assert shown["name"] == templates.call(template, "CHECK", {}).physical_name
    assert (shown["external_network_id"], shown["flavor_id"], shown["labels"]) == (
        public, "m1.small", {"kube_tag": "v1.27.8"}
    )  # fmt: skip
    assert (await templates.attribute(template, "show"))["uuid"] == templates.reference(template)
    with pytest.raises(CloudError, match="Not authorized to set public"):
        await templates.update(template, {**body, "public": True})

    theirs = Bench(ClusterTemplate, admin, clock)
    other = await theirs.create({**SMALL, "name": "shared"})
    await theirs.update(other, {**SMALL, "name": "shared", "public": True})
    assert (await cloud.get("magnum", "/clustertemplates/shared"))["public"] is True
    await theirs.update(other, {**SMALL, "name": "shared"})
    assert (await admin.get("magnum", "/clustertemplates/shared"))["public"] is False

    await templates.run("adopt", template)
    await templates.delete(template)
    await templates.delete(template)
    with pytest.raises(ActionFailed, match="has no object"):
        await templates.run("adopt", template)


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        (ClusterTemplate, {**SMALL, "volume_driver": "rexray"}, "must be 'cinder' for the engine 'kubernetes'"),
        (ClusterTemplate, {**SMALL, "coe": "swarm", "volume_driver": "cinder"}, "must be 'rexray'"),
        (BayModel, {**SMALL, "volume_driver": "rexray"}, "must be 'cinder'"),
        (ClusterTemplate, {"coe": "kubernetes"}, "'image' is required"),
        (Cluster, {"cluster_template": "small", "node_count": 0}, "less than 1"),
    ],
)
async def test_wrong_properties(bench: MakeBench, kind: type[ResourceType], given: Any, words: str) -> None:
    with pytest.raises(BadProperties, match=words):
        await bench(kind).finalized(given)


async def test_a_bay_model_is_a_cluster_template(bench: MakeBench, cloud: Cloud) -> None:
    made = await bench(BayModel).create({**SMALL, "name": "old"})
    shown = await cloud.get("magnum", f"/clustertemplates/{made.physical_id}")
    assert shown["external_network_id"] == "public", "names of networks are sent as they are"
    await bench(ClusterTemplate).run("adopt", made)


@pytest.mark.parametrize(("before", "after"), [(BayModel, ClusterTemplate), (ClusterTemplate, BayModel)])
def test_a_resource_may_change_between_both_names_of_the_type(
    before: type[ResourceType], after: type[ResourceType]
) -> None:
    class Recorded:
        """The state of a resource."""

        def __init__(self, kind: type[ResourceType]) -> None:
            self.implementation, self.type = kind.type_name, kind()

    assert can_become(Recorded(before), after.type_name, after())  # type: ignore[arg-type]
    assert not can_become(Recorded(Cluster), after.type_name, after())  # type: ignore[arg-type]


async def test_cluster_lifecycle(bench: MakeBench, cloud: Cloud, calls: list[str]) -> None:
    template = await template_id(bench, name="small")
    clusters = bench(Cluster)
    body = {"cluster_template": "small", "node_count": 2}
    cluster = await clusters.create(body)
    assert len(clusters.entries) > 2, "the cluster is pending at first"
    names = list(Cluster.attributes)
    read = {key[0]: value for key, value in (await clusters.attributes(cluster, [(name,) for name in names])).items()}
    assert (read["status"], read["node_count"], len(read["node_addresses"])) == ("CREATE_COMPLETE", 2, 2)
    assert (read["cluster_template_id"], read["create_timeout"], read["keypair"]) == (template, 60, None)
    assert read["name"] == clusters.call(cluster, "CHECK", {}).physical_name

    await clusters.update(cluster, {**body, "node_count": 3})
    assert await clusters.attribute(cluster, "node_count") == 3
    assert await clusters.attribute(cluster, "status") == "UPDATE_COMPLETE"
    await clusters.update(cluster, {**body, "node_count": 4})
    assert len(await clusters.attribute(cluster, "node_addresses")) == 4, "the second update is waited for as well"
    calls.clear()
    await clusters.update(cluster, {**body, "node_count": 4, "discovery_url": None})
    assert not [call for call in calls if call.startswith("PATCH")], "nothing to change"
    with pytest.raises(CloudError, match=r"cannot change cluster property\(ies\) master_count"):
        await clusters.update(cluster, {**body, "node_count": 4, "master_count": 3})
    call = clusters.call(cluster, "CHECK", cluster.properties)
    await cloud.post("magnum", f"/clusters/{cluster.physical_id}/actions/resize", {"node_count": 1},
                     headers={"OpenStack-API-Version": "container-infra 1.7"})  # fmt: skip
    assert await clusters.kind.observe(call) == {"node_count": 1}
    await clusters.run("adopt", cluster)
    await clusters.delete(cluster)
    assert await clusters.kind.observe(call) is None
    await clusters.delete(cluster)


async def test_an_update_waits_until_magnum_has_begun_it(bench: MakeBench) -> None:
    template = await template_id(bench)
    clusters = bench(Cluster)
    cluster = await clusters.create({"cluster_template": template})
    kind = clusters.kind
    call = clusters.call(cluster, "UPDATE", cluster.properties, started=clusters.clock.now())
    call.progress = {"sent": True, "before": "then", "wanted": {"node_count": 3}}
    stale = {"status": "UPDATE_COMPLETE", "updated_at": "then", "node_count": 1}
    assert kind.status_outcome(call, stale).__class__.__name__ == "InProgress"  # type: ignore[attr-defined]
    for begun in ({**stale, "node_count": 3}, {**stale, "updated_at": "now"}):
        assert kind.status_outcome(call, begun).__class__.__name__ == "Done"  # type: ignore[attr-defined]
    clusters.advance(61.0)
    late = clusters.call(cluster, "UPDATE", cluster.properties, started=0.0)
    late.progress = call.progress
    assert kind.status_outcome(late, stale).__class__.__name__ == "Done"  # type: ignore[attr-defined]


async def test_failures_have_the_reason_of_the_service(bench: MakeBench, served: ServedCloud) -> None:
    template = await template_id(bench)
    clusters = bench(Cluster)
    fail(served, "POST /container-infra/v1/clusters")
    resource = clusters.resource()
    resource.properties = await clusters.finalized({"cluster_template": template})
    with pytest.raises(ActionFailed, match=r"CREATE_FAILED: No valid host") as caught:
        await clusters.run("create", resource)
    assert caught.value.failed.in_error
    replaced = clusters.kind.needs_replacement_after_failure
    assert await replaced(clusters.call(resource, "UPDATE", resource.properties))

    cluster = await clusters.create({"cluster_template": template}, "other")
    fail(served, "PATCH /container-infra/v1/clusters/*")
    with pytest.raises(ActionFailed, match=r"UPDATE_FAILED: No valid host"):
        await clusters.update(cluster, {"cluster_template": template, "node_count": 2})
    assert not await replaced(clusters.call(cluster, "UPDATE", cluster.properties))
    fail(served, "DELETE /container-infra/v1/clusters/*")
    with pytest.raises(ActionFailed, match=r"DELETE_FAILED: No valid host"):
        await clusters.delete(cluster)
    await clusters.delete(cluster)
    with pytest.raises(CloudError, match=r"Cluster type .* not supported"):
        await template_id(bench, image="cirros")


async def test_names_follow_magnum_rules(bench: MakeBench) -> None:
    template = await template_id(bench)
    clusters = bench(Cluster)
    cluster = await clusters.create({"cluster_template": template}, "größe 1")
    assert str(await clusters.attribute(cluster, "name")).startswith("web-gr--e-1-")


async def test_references_must_exist(bench: MakeBench, cloud: Cloud) -> None:
    template = await template_id(bench, name="small")
    check = ConstraintChecker(CONSTRAINTS.get, cloud)
    assert await check.check("magnum.cluster_template", template) is None
    assert await check.check("magnum.cluster_template", "small") is None
    assert await check.check("magnum.cluster_template", "nothing") is not None


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("kind", [ClusterTemplate, Cluster], ids=lambda kind: kind.__name__)
async def test_an_object_is_created_once_despite_crashes(
    bench: MakeBench, cloud: Cloud, admin: Cloud, clock: ManualClock, kind: type[Any], named: bool
) -> None:
    given: Mapping[str, Any] = SMALL if kind is ClusterTemplate else {"cluster_template": await template_id(bench)}
    given = {**given, **({"name": "equal"} if named else {})}
    twins, resource = bench(kind), bench(kind).resource()
    twin = await twins.create(given, "twin")
    if kind is ClusterTemplate:
        await Bench(kind, admin, clock).create({**given, "public": True}, "foreign")
    resource.properties = await twins.finalized(given)
    await run_crashing(twins, "create", resource)
    path = kind.collection.path.removeprefix("/v1")
    listed = await cloud.list("magnum", path, kind.collection.members)
    mine = {item["uuid"] for item in listed if item.get("project_id", cloud.project_id) == cloud.project_id}
    assert mine == {twin.physical_id, resource.physical_id}


async def test_cluster_show_error_during_deletion_is_tolerated(bench: MakeBench, served: ServedCloud) -> None:
    """Without its node groups, a cluster has an invalid number of masters: Magnum answers 400 for it."""
    clusters = bench(Cluster)
    body = {"cluster_template": await template_id(bench), "keypair": None}
    cluster = await clusters.create(body)
    unshown = Fault(on="GET /container-infra/v1/clusters/*", do="fail", status=400, after=1, times=3)
    served.do(lambda: served.cloud.faults.add(unshown))
    await clusters.delete(cluster)
    assert unshown.hits > 0

    served.do(served.cloud.faults.clear)
    cluster = await clusters.create(body)
    for_good = Fault(on="GET /container-infra/v1/clusters/*", do="fail", status=400, after=1)
    served.do(lambda: served.cloud.faults.add(for_good))
    with pytest.raises(CloudError, match="fault rule"):
        await clusters.delete(cluster)
