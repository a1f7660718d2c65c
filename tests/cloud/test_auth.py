"""Login at the emulated Keystone with every kind of credential."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import CloudError, Invalid, MissingCredentialError, NoEndpoint, TokenRejected
from stoker.cloud.auth import (
    CloudPool,
    CloudsYamlCredential,
    PluginCredential,
    ServiceCredential,
    StackDomainAdmin,
    TokenCredential,
    TrustCredential,
)
from stoker.cloud.settings import ClientSettings, CloudSettings
from stoker_foundation.clock import ManualClock

TOKENS = "/identity/v3/auth/tokens"


def logins(served: ServedCloud) -> int:
    entries = served.do(lambda: served.cloud.journal.select({}))
    return sum(entry["method"] == "POST" and entry["path"] == TOKENS for entry in entries)


async def test_the_callers_token(pool: CloudPool, served: ServedCloud) -> None:
    cloud = await pool.cloud(TokenCredential(served.token("demo", "demo")))
    assert cloud.project_id
    assert cloud.user_id
    assert "member" in cloud.role_names
    assert cloud.has_service("glance")
    assert await cloud.list("glance", "/v2/images", "images") is not None


async def test_an_invalid_token(pool: CloudPool) -> None:
    with pytest.raises(TokenRejected) as caught:
        await pool.cloud(TokenCredential("made-up"))
    assert caught.value.status == 401
    assert "made-up" not in caught.value.message


async def test_concurrent_callers_share_one_login(pool: CloudPool, served: ServedCloud) -> None:
    clouds = await asyncio.gather(*(pool.cloud(ServiceCredential()) for _ in range(30)))
    assert len(set(clouds)) == 1
    assert logins(served) == 1


async def test_a_failed_login_is_not_cached(pool: CloudPool, served: ServedCloud) -> None:
    served.do(lambda: served.cloud.faults.add(Fault(on=f"POST {TOKENS}", times=1, do="fail", status=503)))
    with pytest.raises(CloudError) as caught:
        await pool.cloud(ServiceCredential())
    assert caught.value.transient
    assert (await pool.cloud(ServiceCredential())).project_id


async def test_a_token_is_renewed_before_it_expires(pool: CloudPool, served: ServedCloud, clock: ManualClock) -> None:
    cloud = await pool.cloud(ServiceCredential())
    first = await cloud.token()
    day = 24 * 3600.0
    clock.advance(day)
    served.advance(day)
    await asyncio.gather(*(cloud.list("glance", "/v2/images", "images") for _ in range(5)))
    assert await cloud.token() != first
    assert logins(served) == 2


async def test_a_token_that_is_refused_is_renewed_once(pool: CloudPool, served: ServedCloud) -> None:
    cloud = await pool.cloud(ServiceCredential())
    first = await cloud.token()
    revoked = served.call("DELETE", TOKENS, token=served.token("admin", "admin"), headers={"X-Subject-Token": first})
    assert revoked.status == 204
    assert await cloud.list("glance", "/v2/images", "images") is not None
    assert await cloud.token() != first


async def test_trust_token_belongs_to_the_trustor(pool: CloudPool, served: ServedCloud) -> None:
    user = await pool.cloud(TokenCredential(served.token("demo", "demo")))
    trust = await pool.create_trust(user)
    cloud = await pool.cloud(TrustCredential(trust))
    assert (cloud.project_id, cloud.user_id) == (user.project_id, user.user_id)
    assert set(cloud.role_names) <= set(user.role_names)
    await pool.delete_trust(trust, TokenCredential(served.token("demo", "demo")))
    with pytest.raises(CloudError):
        await pool.cloud(TrustCredential(trust))
    await pool.delete_trust(trust, TokenCredential(served.token("demo", "demo")))


async def test_the_token_of_a_trust_is_used_as_it_was_checked(pool: CloudPool, served: ServedCloud) -> None:
    user = await pool.cloud(TokenCredential(served.token("demo", "demo")))
    lent = await pool.cloud(TrustCredential(await pool.create_trust(user)))
    checked = TokenCredential(await lent.token(), lent.project_id, lent.user_id, tuple(lent.role_names))
    caller = await pool.cloud(checked)
    assert (caller.user_id, caller.role_names) == (user.user_id, lent.role_names)
    assert await caller.list("glance", "/v2/images", "images")


async def test_a_trust_with_a_role_that_the_user_lacks(pool: CloudPool, served: ServedCloud) -> None:
    user = await pool.cloud(TokenCredential(served.token("demo", "demo")))
    with pytest.raises(MissingCredentialError, match="no-such-role"):
        await pool.create_trust(user, ["no-such-role"])


async def test_the_stack_domains_administrator(pool: CloudPool, served: ServedCloud) -> None:
    user = await pool.cloud(TokenCredential(served.token("demo", "demo")))
    admin = await user.as_stack_domain_admin()
    assert admin.project_id is None
    domain = next(d["id"] for d in await admin.list("keystone", "/domains", "domains", {"name": "heat"}))
    made = await admin.post("keystone", "/projects", {"project": {"name": "of-a-stack", "domain_id": domain}})
    assert made["project"]["domain_id"] == domain


async def test_no_service_user_is_configured(served: ServedCloud, clock: ManualClock) -> None:
    pool = CloudPool(CloudSettings(auth_url=f"{served.url}/identity"), clock)
    with pytest.raises(Invalid, match="service user"):
        await pool.cloud(ServiceCredential())
    with pytest.raises(Invalid, match="stack_domain_admin"):
        await pool.cloud(StackDomainAdmin())
    await pool.close()


def password_options(served: ServedCloud) -> dict[str, str]:
    return {
        "auth_url": f"{served.url}/identity",
        "username": "demo",
        "password": served.cloud.password_of("demo"),
        "project_name": "demo",
        "user_domain_name": "Default",
        "project_domain_name": "Default",
    }


async def test_any_plugin_of_keystoneauth(pool: CloudPool, served: ServedCloud) -> None:
    cloud = await pool.cloud(
        PluginCredential.of("v3password", {**password_options(served), "auth_url": f"{served.url}/identity/v3"})
    )
    assert "member" in cloud.role_names
    assert served.cloud.password_of("demo") not in repr(PluginCredential.of("password", password_options(served)))


async def test_a_plugin_that_does_not_exist(pool: CloudPool) -> None:
    with pytest.raises(Invalid, match="v9magic"):
        await pool.cloud(PluginCredential.of("v9magic", {}))


@pytest.mark.parametrize("pem", ["nonsense", "é"])
async def test_an_invalid_ca_certificate(pool: CloudPool, served: ServedCloud, pem: str) -> None:
    with pytest.raises(Invalid, match="PEM"):
        await pool.cloud(PluginCredential.of("password", password_options(served), ca_cert=pem))


async def test_clouds_yaml(
    pool: CloudPool, served: ServedCloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = password_options(served)
    secret = options.pop("password")
    lines = "\n".join(f"      {name}: {value}" for name, value in options.items())
    (tmp_path / "clouds.yaml").write_text(f"clouds:\n  lab:\n    region_name: RegionOne\n    auth:\n{lines}\n")
    (tmp_path / "secure.yaml").write_text(f"clouds:\n  lab:\n    auth:\n      password: {secret}\n")
    monkeypatch.chdir(tmp_path)
    cloud = await pool.cloud(CloudsYamlCredential("lab"))
    assert cloud.region == "RegionOne"
    assert await cloud.list("glance", "/v2/images", "images") is not None
    with pytest.raises(Invalid, match="no cloud 'work'; its clouds are: lab"):
        await pool.cloud(CloudsYamlCredential("work"))


async def test_a_cloud_of_clouds_yaml_has_the_url_of_this_service(
    served: ServedCloud, clock: ManualClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The catalog of a cloud on which Stoker runs for one user has no orchestration service."""
    options = "\n".join(f"      {name}: {value}" for name, value in password_options(served).items())
    (tmp_path / "clouds.yaml").write_text(f"clouds:\n  lab:\n    region_name: RegionOne\n    auth:\n{options}\n")
    monkeypatch.chdir(tmp_path)
    clients = {"heat": ClientSettings(url="http://127.0.0.1:8004/v1/%(tenant_id)s")}
    pool = CloudPool(CloudSettings(auth_url=f"{served.url}/identity/v3/", clients=clients), clock)
    try:
        cloud = await pool.cloud(CloudsYamlCredential("lab"))
        assert cloud.endpoint("heat") == f"http://127.0.0.1:8004/v1/{cloud.project_id}"
    finally:
        await pool.close()


async def test_repr_omits_secrets() -> None:
    assert "s3cret" not in repr(TokenCredential("s3cret"))
    assert "s3cret" not in repr(CloudSettings(password="s3cret", stack_domain_admin_password="s3cret"))


async def test_new_catalog_entries_are_found_after_login(
    pool: CloudPool, served: ServedCloud, clock: ManualClock
) -> None:
    cloud = await pool.cloud(ServiceCredential(), "RegionTwo")
    admin = await pool.cloud(TokenCredential(served.token()), "RegionTwo")
    await admin.post("keystone", "/regions", {"region": {"id": "RegionTwo"}})
    listed = await admin.get("keystone", "/services", params={"type": "network"})
    endpoint = {
        "service_id": listed["services"][0]["id"],
        "interface": "public",
        "region_id": "RegionTwo",
        "url": f"{served.url}/network",
    }
    await admin.post("keystone", "/endpoints", {"endpoint": endpoint})
    before = logins(served)
    assert "networks" in await cloud.get("neutron", "/networks")
    for seconds, expected in ((0, 1), (61, 2), (1, 2)):
        clock.advance(seconds)
        with pytest.raises(NoEndpoint):
            await cloud.get("nova", "/servers")
        with pytest.raises(NoEndpoint):  # a token of a request stays as it is
            await admin.get("nova", "/servers")
        assert logins(served) == before + expected
