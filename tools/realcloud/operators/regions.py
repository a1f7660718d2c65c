"""Stacks in another region, which has an installation of its own, and with a credential that Barbican keeps."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tools.realcloud.engine import Refused, Stacks, Stuck
from tools.realcloud.lab import Account, Lab
from tools.realcloud.operators.base import Unexpected, deployed, expect
from tools.realcloud.operators.installation import installed, remove_region
from tools.realcloud.operators.place import Place
from tools.realcloud.operators.rows import FAILED, PASSED, Row

OTHER = "RegionTwo"
_SERVICES = ("identity", "network", "compute", "image", "key-manager")
_INNER = {
    "heat_template_version": "2021-04-16",
    "parameters": {"cidr": {"type": "string", "default": "10.80.0.0/24"}},
    "resources": {
        "net": {"type": "OS::Neutron::Net"},
        "subnet": {
            "type": "OS::Neutron::Subnet",
            "properties": {"network": {"get_resource": "net"}, "cidr": {"get_param": "cidr"}},
        },
        "handle": {"type": "OS::Heat::WaitConditionHandle"},
    },
    "outputs": {"net": {"value": {"get_resource": "net"}}},
}


def rows(place: Place) -> Iterator[Row]:
    """Run each case on an installation in the other region."""
    with second(place):
        for name in filter(place.selection.search, _CASES):
            try:
                _CASES[name](place)
            except (Refused, Stuck, Unexpected) as error:
                yield Row(name, FAILED, str(error))
            else:
                yield Row(name, PASSED)


@contextmanager
def second(place: Place) -> Iterator[None]:
    """Another region with the same services, and an orchestration service of its own."""
    remove_region(place.lab, OTHER)
    try:
        _copy_catalog(place.lab)
        with installed(place.lab, place.servers, place.home / OTHER, OTHER):
            yield
    finally:
        remove_region(place.lab, OTHER)


def _copy_catalog(lab: Lab) -> None:
    """Register the region, and in it the public endpoints of a few services.

    The object store refuses requests with a larger catalog (its `max_header_size`).
    """
    administrator = lab.administrator
    administrator.ask("identity", "POST", "/v3/regions", json={"region": {"id": OTHER}})
    services = administrator.ask("identity", "GET", "/v3/services")["services"]
    copied = {service["id"] for service in services if service["type"] in _SERVICES}
    chosen = {"region_id": administrator.region, "interface": "public"}
    listed = administrator.ask("identity", "GET", "/v3/endpoints", params=chosen)
    for endpoint in listed["endpoints"]:
        if endpoint["service_id"] in copied:
            body = {key: endpoint[key] for key in ("service_id", "interface", "url")} | {"region_id": OTHER}
            administrator.ask("identity", "POST", "/v3/endpoints", json={"endpoint": body})


# -- cases ------------------------------------------------------------------------------------------------------------


def _in_region(place: Place) -> None:
    """The stack is in the other region; it is updated and deleted with the outer one."""
    _lifecycle(place, {"region_name": OTHER}, OTHER)


def _same_region(place: Place) -> None:
    _lifecycle(place, {"region_name": place.user.region}, place.user.region)


def _with_application_credential(place: Place) -> None:
    """The other service cannot create the trust that its stack needs, and the reason says so."""
    other = _in(place.lab.accounts["operator-instances"], place.user.region)
    with _application_credential(place, other) as secret:
        _refused(place, {"credential_secret_id": secret, "region_name": OTHER}, "use a password")


def _with_password(place: Place) -> None:
    """The credential is another user's, in whose project the stack is."""
    other = place.lab.accounts["operator-instances"]
    auth = {"user_domain_name": "Default", "project_domain_name": "Default"} | other.auth
    with _secret(place.user, {"auth_type": "password", "auth": auth}) as secret:
        for region in (place.user.region, OTHER):
            _lifecycle(place, {"credential_secret_id": secret, "region_name": region}, region, other)


def _unknown_region(place: Place) -> None:
    """A region that the catalog does not have."""
    _refused(place, {"region_name": "Nowhere"}, "Nowhere")


def _refused(place: Place, context: Mapping[str, str], words: str) -> None:
    """Try to create a stack, which must be refused or fail with these words, and leave nothing."""
    stacks = Stacks(_again(place.user))
    try:
        stack = stacks.create("op-regions", _outer(context), {})
    except Refused as error:
        reason = str(error)
    else:
        status, reason = stacks.ended(stack)
        stacks.send("DELETE", stack)
        expect(stacks, stack, "DELETE_COMPLETE")
        if status != "CREATE_FAILED":
            raise Unexpected(f"{status}: {reason}")
    if words not in reason:
        raise Unexpected(f"the reason does not say {words!r}: {reason}")


_CASES: Mapping[str, Callable[[Place], None]] = {
    "a stack in another region": _in_region,
    "a stack in the same region, named": _same_region,
    "an application credential in Barbican, with which Keystone creates no trust": _with_application_credential,
    "a stack of another user, with a password in Barbican": _with_password,
    "a region that does not exist": _unknown_region,
}


def _outer(context: Mapping[str, str], cidr: str = "10.80.0.0/24") -> dict[str, Any]:
    properties = {"context": dict(context), "template": json.dumps(_INNER), "parameters": {"cidr": cidr}}
    return {
        "heat_template_version": "2021-04-16",
        "resources": {"remote": {"type": "OS::Heat::Stack", "properties": properties}},
        "outputs": {"net": {"value": {"get_attr": ["remote", "outputs", "net"]}}},
    }


def _lifecycle(place: Place, context: Mapping[str, str], region: str, owner: Account | None = None) -> None:
    """Create, check, update in place, suspend, resume and delete a stack, and look for the inner stack in `region`."""
    stacks = Stacks(_again(place.user))
    there = Stacks(_in(owner or place.user, region))
    with deployed(stacks, "op-regions", _outer(context)) as stack:
        inner = stacks.resource(stack, "remote")["physical_resource_id"]
        shown = there.show(f"/stacks/{inner}")
        if shown["stack_status"] != "CREATE_COMPLETE":
            raise Unexpected(f"the inner stack is {shown['stack_status']}")
        if region != place.user.region and _holds(Stacks(_in(owner or place.user, place.user.region)), inner):
            raise Unexpected("the stack is also in the region of the outer one")
        stacks.act(stack, "check")
        expect(stacks, stack, "CHECK_COMPLETE")
        stacks.update(stack, _outer(context, "10.81.0.0/24"), {})
        expect(stacks, stack, "UPDATE_COMPLETE")
        if stacks.resource(stack, "remote")["physical_resource_id"] != inner:
            raise Unexpected("the inner stack was replaced")
        for action in ("suspend", "resume"):
            stacks.act(stack, action)
            expect(stacks, stack, f"{action.upper()}_COMPLETE")
    if _holds(there, inner):
        raise Unexpected("the inner stack is left")


def _holds(stacks: Stacks, stack_id: str) -> bool:
    listed = stacks.send("GET", "/stacks", params={"show_nested": "true"})["stacks"]
    return stack_id in [one["id"] for one in listed]


def _again(account: Account) -> Account:
    return _in(account, account.region)


def _in(account: Account, region: str) -> Account:
    """Return the account with a new login, in a region."""
    return Account(account.auth, region)


@contextmanager
def _secret(account: Account, credential: Mapping[str, Any]) -> Iterator[str]:
    """A credential that the key manager keeps; yields the ID of the secret."""
    body = {
        "name": "op-credential",
        "payload": json.dumps(credential),
        "payload_content_type": "text/plain",
    }
    reference = account.ask("key-manager", "POST", "/v1/secrets", json=body)["secret_ref"]
    identifier = str(reference).rpartition("/")[2]
    try:
        yield identifier
    finally:
        account.ask("key-manager", "DELETE", f"/v1/secrets/{identifier}")


@contextmanager
def _application_credential(place: Place, account: Account) -> Iterator[str]:
    """An application credential of the account in a secret of the user; yields the ID of the secret."""
    path = f"/v3/users/{account.user_id}/application_credentials"
    body = {"application_credential": {"name": "op-regions", "unrestricted": True}}
    made = account.ask("identity", "POST", path, json=body)["application_credential"]
    auth = {
        "auth_url": account.auth["auth_url"],
        "application_credential_id": made["id"],
        "application_credential_secret": made["secret"],
    }
    try:
        with _secret(place.user, {"auth_type": "v3applicationcredential", "auth": auth}) as secret:
            yield secret
    finally:
        account.ask("identity", "DELETE", f"{path}/{made['id']}")
