"""The emulated cloud of a sandbox: what it has, what goes wrong in it, and what it was asked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import orjson

from openstack_emulator.core.dispatch import dispatch
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.faults import Fault, parse_fault
from openstack_emulator.core.http import Request as CloudRequest
from openstack_emulator.core.http import Response
from openstack_emulator.core.outgoing import Answer, RequestSender, SendFailed
from openstack_emulator.identity.rules.catalog import REGION
from openstack_emulator.services import new_cloud
from stoker.base.errors import Invalid
from stoker.cloud.transport import Request
from stoker.engine.running.stop import RESOURCE
from stoker.testing.calls import CloudCalls
from stoker.testing.connections import CLOUD_URL, LoopTransport
from stoker.testing.orchestration import MOUNT, Orchestration
from stoker.testing.orchestration import URL as ORCHESTRATION_URL
from stoker_foundation.clock import ManualClock, sleep

_ORCHESTRATION = {"orchestration": ORCHESTRATION_URL, "cloudformation": "http://stoker-cfn/v1"}
_NEEDED = frozenset({"identity", "orchestration", "cloudformation"})
_EXTENSIONS = "/network/v2.0/extensions"
_IMAGE = {"disk_format": "qcow2", "container_format": "bare", "visibility": "public"}


class EmulatedCloud:
    """A new cloud on a virtual clock, with the users `admin` and `demo`, each in the project of the same name.

    Stacks are those of `demo`. It has an external network `public`, and for `demo` a network `private`; some flavors
    (`m1.small` …) and the image `cirros`. `calls` are the requests of the engine, `inner` is the emulator's cloud.
    `extensions` are the aliases of the extensions of Neutron that it has, None for all that are emulated.
    `orchestration` is the service of stacks.
    """

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.calls = CloudCalls()
        self.extensions: Collection[str] | None = None
        self.orchestration = Orchestration(self.token_data)
        self.inner = new_cloud(clock=clock, endpoint=CLOUD_URL, extra_endpoints=_ORCHESTRATION)
        self.inner.request_sender = _NoRequests(lambda: [CLOUD_URL], True)
        self.inner.start()

    def close(self) -> None:
        """Forget everything."""
        self.inner.close()

    # -- contents of the cloud -----------------------------------------------------------------------------------

    def add_flavor(
        self,
        name: str,
        *,
        ram: int = 2048,
        vcpus: int = 1,
        disk: int = 20,
        extra_specs: Mapping[str, str] | None = None,
    ) -> str:
        """Add a flavor that all projects may use; return its ID. `ram` is in MiB, `disk` in GiB."""
        flavor = {"name": name, "ram": ram, "vcpus": vcpus, "disk": disk}
        identifier = self._added("/compute/v2.1/flavors", "flavor", flavor)
        if extra_specs:
            path = f"/compute/v2.1/flavors/{identifier}/os-extra_specs"
            self.request("POST", path, {"extra_specs": dict(extra_specs)})
        return identifier

    def add_volume_type(self, name: str, *, extra_specs: Mapping[str, str] | None = None) -> str:
        """Add a volume type that all projects may use, or give one that is there these extra specs; return its ID."""
        types = f"/volume/v3/{self.project_id}/types"
        known = {volume_type["name"]: volume_type["id"] for volume_type in self.request("GET", types)["volume_types"]}
        identifier = known.get(name) or self._added(types, "volume_type", {"name": name})
        if extra_specs:
            self.request("POST", f"{types}/{identifier}/extra_specs", {"extra_specs": dict(extra_specs)})
        return identifier

    def add_image(self, name: str, **properties: object) -> str:
        """Add a public image, with further properties such as `min_disk`; return its ID. It has a few bytes of data."""
        created = self.request("POST", "/image/v2/images", {**_IMAGE, "name": name, **properties})
        identifier = str(created["id"])
        self._send("PUT", f"/image/v2/images/{identifier}/file", name.encode(), "application/octet-stream", "admin")
        return identifier

    def add_network(self, name: str, *, cidr: str | None = None, external: bool = False) -> str:
        """Add a network, of `demo` or, if it is `external`, one of the operator; with a subnet if there is a `cidr`.

        Return the ID of the network.
        """
        user = "admin" if external else "demo"
        body = {"name": name, **({"router:external": True} if external else {})}
        identifier = self._added("/network/v2.0/networks", "network", body, user)
        if cidr is not None:
            subnet = {"name": name, "network_id": identifier, "cidr": cidr, "ip_version": 6 if ":" in cidr else 4}
            self._added("/network/v2.0/subnets", "subnet", subnet, user)
        return identifier

    def add_keypair(self, name: str) -> str:
        """Add a key pair of `demo`; return its name."""
        created = self.request("POST", "/compute/v2.1/os-keypairs", {"keypair": {"name": name}}, user="demo")
        return str(created["keypair"]["name"])

    def remove_own(self) -> None:
        """Remove the flavors, images and networks that a new cloud has."""
        for flavor in self.request("GET", "/compute/v2.1/flavors")["flavors"]:
            self.request("DELETE", f"/compute/v2.1/flavors/{flavor['id']}")
        for image in self.request("GET", "/image/v2/images?limit=1000")["images"]:
            self.request("DELETE", f"/image/v2/images/{image['id']}")
        for port in self.request("GET", "/network/v2.0/ports")["ports"]:
            if port["device_owner"] == "network:router_interface":
                path = f"/network/v2.0/routers/{port['device_id']}/remove_router_interface"
                self.request("PUT", path, {"port_id": port["id"]})
        for kind in ("routers", "networks"):
            for row in self.request("GET", f"/network/v2.0/{kind}")[kind]:
                self.request("DELETE", f"/network/v2.0/{kind}/{row['id']}")

    def restrict_services(self, types: Collection[str]) -> None:
        """Remove all other types of services from the catalog, but for those that Stoker itself needs."""
        for service in self.request("GET", "/identity/v3/services")["services"]:
            if service["type"] not in types and service["type"] not in _NEEDED:
                self.request("DELETE", f"/identity/v3/services/{service['id']}")

    def add_region(self, name: str) -> None:
        """Add a region, with the same services as the first one has. What they contain is the same, too."""
        for endpoint in self.request("GET", "/identity/v3/endpoints")["endpoints"]:
            if endpoint["region"] == REGION:
                copied = {key: endpoint[key] for key in ("service_id", "interface", "url")}
                self.request("POST", "/identity/v3/endpoints", {"endpoint": {**copied, "region": name}})

    def grant(self, role: str) -> None:
        """Give the user `demo` a role in its project. Raises Invalid if there is no such role."""
        [project] = self.request("GET", "/identity/v3/projects?name=demo")["projects"]
        [user] = self.request("GET", "/identity/v3/users?name=demo")["users"]
        known = {role["name"]: role["id"] for role in self.request("GET", "/identity/v3/roles")["roles"]}
        if role not in known:
            raise Invalid(f"The emulated cloud has no role {role!r}, but {', '.join(sorted(known))}.")
        self.request("PUT", f"/identity/v3/projects/{project['id']}/users/{user['id']}/roles/{known[role]}")

    @property
    def project_id(self) -> str:
        """The ID of the project `demo`."""
        [project] = self.request("GET", "/identity/v3/projects?name=demo")["projects"]
        return str(project["id"])

    def limit(self, service: str, limits: Mapping[str, int], used: Mapping[str, int] | None = None) -> None:
        """Set quotas of the project `demo`: `service` is compute, network or volume.

        `used` is how much of them is in use by what this cloud does not have; the project may have what is left,
        besides what it has already. Raises Invalid for wrong names, and for what is used of a quota without a limit.
        """
        project = self.project_id
        path, usage, kind = {
            "compute": ("/compute/v2.1/os-quota-sets/{}", "/detail", "quota_set"),
            "network": ("/network/v2.0/quotas/{}", "/details", "quota"),
            "volume": (f"/volume/v3/{project}/os-quota-sets/{{}}", "?usage=true", "quota_set"),
        }[service]
        left = dict(limits)
        if used:
            current = self.request("GET", path.format(project) + usage)[kind]
            for name, amount in used.items():
                if name not in limits:
                    raise Invalid(f"There is no limit of {name} ({service}) of which {amount} could be in use.")
                if limits[name] >= 0:
                    left[name] = max(limits[name] - amount, 0) + _in_use(current[name])
        self.request("PUT", path.format(project), {kind: left})

    def _added(self, path: str, kind: str, body: Mapping[str, object], user: str = "admin") -> str:
        return str(self.request("POST", path, {kind: body}, user=user)[kind]["id"])

    def request(self, method: str, path: str, body: object = None, *, user: str = "admin") -> Any:
        """Send a request as a user, with JSON data as its body; return the JSON data of the answer.

        It is not one of `calls`, and no fault concerns it. Raises Invalid if the service refuses it.
        """
        content = b"" if body is None else orjson.dumps(body)
        payload = self._send(method, path, content, "application/json", user).payload()
        return orjson.loads(payload) if payload else None

    def _send(self, method: str, path: str, content: bytes, kind: str, user: str) -> Response:
        headers = {"Content-Type": kind, "X-Auth-Token": self.token(user)}
        location, _, query = path.partition("?")
        response = dispatch(self.inner, CloudRequest(method, location, query, headers, content))
        if response is None or response.status >= 400:
            answer = b"no answer" if response is None else response.payload()
            raise Invalid(f"The emulated cloud refuses {method} {path}: {answer.decode(errors='replace')}")
        return response

    def token(self, user: str) -> str:
        """A new token of a user for the project of the same name."""
        domain = {"id": "default"}
        known = {"name": user, "domain": domain, "password": self.inner.password_of(user)}
        identity = {"methods": ["password"], "password": {"user": known}}
        auth = {"identity": identity, "scope": {"project": {"name": user, "domain": domain}}}
        content = orjson.dumps({"auth": auth})
        headers = {"Content-Type": "application/json"}
        response = dispatch(self.inner, CloudRequest("POST", "/identity/v3/auth/tokens", "", headers, content))
        if response is None or response.status != 201:
            raise Invalid(f"The emulated cloud has no user {user!r} with a project of this name.")
        return response.headers["X-Subject-Token"]

    def token_data(self, token: str) -> Mapping[str, object] | None:
        """What the identity service says about a token; None for one that it does not know."""
        headers = {"X-Auth-Token": self.token("admin"), "X-Subject-Token": token}
        response = dispatch(self.inner, CloudRequest("GET", "/identity/v3/auth/tokens", "", headers))
        if response is None or response.status != 200:
            return None
        data: Mapping[str, object] = orjson.loads(response.payload())["token"]
        return data

    # -- injected faults -----------------------------------------------------------------------------------------

    def add_fault(self, on: str, do: str, **rule: object) -> None:
        """Add a fault rule for requests of the engine: `on` is a method and path, such as `POST /compute/*`.

        `do` and the other keys are those of the emulator's reference. Raises Invalid for a wrong one.
        """
        self.inner.faults.add(checked_fault({"on": on, "do": do, **rule}))

    def clear_faults(self) -> None:
        """Remove all fault rules."""
        self.inner.faults.clear()

    # -- requests of the engine ----------------------------------------------------------------------------------

    async def answered(self, sent: CloudRequest) -> Response | None:
        """The answer to a request of the engine; None if the connection is closed without one."""
        fault = self.inner.faults.take(sent)
        if fault is not None and fault.do == "delay":
            await sleep(self.clock, fault.seconds)
        response = await self.served(sent, fault)
        self.calls.record(self.clock.now(), sent, response, RESOURCE.get())
        return response

    async def served(self, sent: CloudRequest, fault: Fault | None) -> Response | None:
        """The answer of the service, when it is there; None if the connection breaks."""
        if sent.path.startswith(f"{MOUNT}/"):
            return await self.orchestration.answered(sent, fault)
        response = self.dispatched(sent, fault)
        if response is not None and response.later is not None:
            response.body = await response.later
            self.inner.store.flush()
        return response

    def dispatched(self, sent: CloudRequest, fault: Fault | None) -> Response | None:
        """The answer of the emulator, without the extensions that the cloud is not to have."""
        response = dispatch(self.inner, sent, fault)
        if self.extensions is None or sent.path != _EXTENSIONS or response is None or response.status != 200:
            return response
        listed = [
            extension
            for extension in orjson.loads(response.payload())["extensions"]
            if extension["alias"] in self.extensions
        ]
        return Response({"extensions": listed}, response.status, response.headers)

    def answered_login(self, sent: CloudRequest) -> Response | None:
        """The answer to a request with which the engine logs in."""
        return dispatch(self.inner, sent, self.inner.faults.take(sent))


def _in_use(quota: Mapping[str, int]) -> int:
    """Return how much of a quota is in use, by the word of the service."""
    return quota["used"] if "used" in quota else quota["in_use"]


def checked_fault(rule: Mapping[str, object]) -> Fault:
    """A fault rule from its JSON data. Raises Invalid for anything else."""
    try:
        return parse_fault(dict(rule))
    except ApiError as error:
        raise Invalid(error.message) from error


class CloudTransport(LoopTransport):
    """An engine's requests to an emulated cloud."""

    cloud: EmulatedCloud

    async def _answered(self, request: Request, sent: CloudRequest) -> Response | None:
        return await self.cloud.answered(sent)


class _NoRequests(RequestSender):
    """A tested cloud reaches nothing: webhooks, alarms and workflows get no answer."""

    def send(
        self, url: str, method: str, body: bytes | None, headers: Mapping[str, str], seconds: float, public: bool = True
    ) -> Answer:
        raise SendFailed("the emulated cloud of a test sends no requests")
