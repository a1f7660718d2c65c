"""The identity service: its records with seed and catalog, and its table of routes."""

from __future__ import annotations

from openstack_emulator.core.cloud import Cloud, Routes, Service
from openstack_emulator.core.http import Phrases
from openstack_emulator.identity import discovery, token_routes
from openstack_emulator.identity.application_credentials import APPLICATION_CREDENTIAL_ROUTES, admit
from openstack_emulator.identity.assignments import ASSIGNMENT_ROUTES
from openstack_emulator.identity.catalog import not_served, open_catalog
from openstack_emulator.identity.consumers import CONSUMER_ROUTES
from openstack_emulator.identity.credentials import CREDENTIAL_ROUTES
from openstack_emulator.identity.domain_config import DOMAIN_CONFIG_ROUTES
from openstack_emulator.identity.ec2_tokens import EC2_ROUTES
from openstack_emulator.identity.endpoint_filter import ENDPOINT_FILTER_ROUTES
from openstack_emulator.identity.grants import GRANT_ROUTES
from openstack_emulator.identity.limits import LIMIT_ROUTES
from openstack_emulator.identity.people import PEOPLE_ROUTES
from openstack_emulator.identity.places import PLACE_ROUTES, remove_service
from openstack_emulator.identity.projects import PROJECT_ROUTES
from openstack_emulator.identity.records import IdentityRecords
from openstack_emulator.identity.roles import ROLE_ROUTES
from openstack_emulator.identity.seed import change_well_known_passwords, seed_identity
from openstack_emulator.identity.tokens import context
from openstack_emulator.identity.trusts import TRUST_ROUTES
from openstack_emulator.identity.validation import MALFORMED


class Keystone(IdentityRecords):
    """Identity's records in a running cloud: seeded, with a catalog, deciding who may ask."""

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        cloud.authenticate = lambda secret: context(self, secret)
        cloud.admit = lambda caller, service, request: admit(self, caller, service, request)

    def seed(self) -> None:
        seed_identity(self)

    def opened(self) -> None:
        for service in not_served(self):
            remove_service(self, service)
        open_catalog(self)
        change_well_known_passwords(self)


ROUTES: Routes = {
    "/auth/tokens": {
        "POST": token_routes.create_token,
        "GET": token_routes.show_token,
        "DELETE": token_routes.delete_token,
    },
    "/auth/catalog": {"GET": token_routes.show_catalog},
    "/auth/projects": {"GET": token_routes.list_projects},
    "/auth/domains": {"GET": token_routes.list_domains},
    "/auth/system": {"GET": token_routes.list_systems},
    **PROJECT_ROUTES,
    **PEOPLE_ROUTES,
    **ROLE_ROUTES,
    **GRANT_ROUTES,
    **ASSIGNMENT_ROUTES,
    **TRUST_ROUTES,
    **APPLICATION_CREDENTIAL_ROUTES,
    **PLACE_ROUTES,
    **LIMIT_ROUTES,
    **CREDENTIAL_ROUTES,
    **EC2_ROUTES,
    **DOMAIN_CONFIG_ROUTES,
    **ENDPOINT_FILTER_ROUTES,
    **CONSUMER_ROUTES,
}

IDENTITY = Service(
    name="keystone",
    mount="/identity",
    records=Keystone,
    endpoints={"identity": "/identity"},
    routes=ROUTES,
    prefixes=("/v3",),
    root={"/": {"GET": discovery.versions}, "/v3": {"GET": discovery.version}},
    public=frozenset({"GET /", "GET /v3", "POST /auth/tokens", "POST /users/{id}/password"}),
    headers={"Vary": "X-Auth-Token"},
    phrases=Phrases(
        not_json=f"Expecting to find valid JSON in request body. {MALFORMED}",
        no_object=f"Expecting to find {{key}} in request body. {MALFORMED}",
    ),
)
