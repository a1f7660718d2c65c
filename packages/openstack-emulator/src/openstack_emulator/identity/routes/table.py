"""All routes of the identity service, in the order of their paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.core.cloud import Handler
from openstack_emulator.core.http import Request, Response
from openstack_emulator.identity.routes import (
    application_credentials,
    assignments,
    catalog,
    consumers,
    credentials,
    discovery,
    domain_configuration,
    ec2_tokens,
    endpoint_filter,
    grants,
    limits,
    members,
    projects,
    roles,
    tokens,
    trusts,
    users,
)
from openstack_emulator.identity.routes.catalog import ENDPOINTS, REGIONS, SERVICES
from openstack_emulator.identity.routes.consumers import CONSUMERS
from openstack_emulator.identity.routes.credentials import CREDENTIALS
from openstack_emulator.identity.routes.domains import DOMAINS
from openstack_emulator.identity.routes.endpoint_filter import ENDPOINT_GROUPS
from openstack_emulator.identity.routes.groups import GROUPS
from openstack_emulator.identity.routes.limits import LIMITS, REGISTERED
from openstack_emulator.identity.routes.policies import POLICIES
from openstack_emulator.identity.routes.roles import ROLES
from openstack_emulator.identity.routes.users import USERS
from openstack_emulator.identity.rules.composition import Identity

Routes = Mapping[str, Mapping[str, Callable[[Identity, Request], Response]]]

ROUTES: Routes = {
    "/OS-EP-FILTER/endpoint_groups": {"GET": ENDPOINT_GROUPS.index, "POST": ENDPOINT_GROUPS.add},
    "/OS-EP-FILTER/endpoint_groups/{id}": {
        "GET": ENDPOINT_GROUPS.show,
        "PATCH": ENDPOINT_GROUPS.update,
        "DELETE": ENDPOINT_GROUPS.delete,
    },
    "/OS-EP-FILTER/endpoint_groups/{id}/endpoints": {"GET": endpoint_filter.list_members},
    "/OS-EP-FILTER/endpoint_groups/{id}/projects": {"GET": endpoint_filter.list_projects_of_group},
    "/OS-EP-FILTER/endpoint_groups/{id}/projects/{project_id}": {
        "GET": endpoint_filter.show_group,
        "PUT": endpoint_filter.add_group,
        "DELETE": endpoint_filter.remove_group,
    },
    "/OS-EP-FILTER/endpoints/{endpoint_id}/projects": {"GET": endpoint_filter.list_projects_of_endpoint},
    "/OS-EP-FILTER/projects/{project_id}/endpoint_groups": {"GET": endpoint_filter.list_groups_of_project},
    "/OS-EP-FILTER/projects/{project_id}/endpoints": {"GET": endpoint_filter.list_endpoints_of_project},
    "/OS-EP-FILTER/projects/{project_id}/endpoints/{endpoint_id}": {
        "GET": endpoint_filter.check_endpoint,
        "PUT": endpoint_filter.add_endpoint,
        "DELETE": endpoint_filter.remove_endpoint,
    },
    "/OS-INHERIT/domains/{target_id}/groups/{actor_id}/roles/inherited_to_projects": {
        "GET": grants.GROUP_BELOW_DOMAIN.index
    },
    "/OS-INHERIT/domains/{target_id}/groups/{actor_id}/roles/{role_id}/inherited_to_projects": {
        "GET": grants.GROUP_BELOW_DOMAIN.check,
        "PUT": grants.GROUP_BELOW_DOMAIN.assign,
        "DELETE": grants.GROUP_BELOW_DOMAIN.revoke,
    },
    "/OS-INHERIT/domains/{target_id}/users/{actor_id}/roles/inherited_to_projects": {
        "GET": grants.USER_BELOW_DOMAIN.index
    },
    "/OS-INHERIT/domains/{target_id}/users/{actor_id}/roles/{role_id}/inherited_to_projects": {
        "GET": grants.USER_BELOW_DOMAIN.check,
        "PUT": grants.USER_BELOW_DOMAIN.assign,
        "DELETE": grants.USER_BELOW_DOMAIN.revoke,
    },
    "/OS-INHERIT/projects/{target_id}/groups/{actor_id}/roles/inherited_to_projects": {
        "GET": grants.GROUP_BELOW_PROJECT.index
    },
    "/OS-INHERIT/projects/{target_id}/groups/{actor_id}/roles/{role_id}/inherited_to_projects": {
        "GET": grants.GROUP_BELOW_PROJECT.check,
        "PUT": grants.GROUP_BELOW_PROJECT.assign,
        "DELETE": grants.GROUP_BELOW_PROJECT.revoke,
    },
    "/OS-INHERIT/projects/{target_id}/users/{actor_id}/roles/inherited_to_projects": {
        "GET": grants.USER_BELOW_PROJECT.index
    },
    "/OS-INHERIT/projects/{target_id}/users/{actor_id}/roles/{role_id}/inherited_to_projects": {
        "GET": grants.USER_BELOW_PROJECT.check,
        "PUT": grants.USER_BELOW_PROJECT.assign,
        "DELETE": grants.USER_BELOW_PROJECT.revoke,
    },
    "/OS-OAUTH1/consumers": {"GET": CONSUMERS.index, "POST": consumers.add},
    "/OS-OAUTH1/consumers/{id}": {"GET": CONSUMERS.show, "PATCH": CONSUMERS.update, "DELETE": CONSUMERS.delete},
    "/OS-TRUST/trusts": {"GET": trusts.index, "POST": trusts.create},
    "/OS-TRUST/trusts/{trust_id}": {"GET": trusts.show, "DELETE": trusts.delete},
    "/OS-TRUST/trusts/{trust_id}/roles": {"GET": trusts.list_roles},
    "/OS-TRUST/trusts/{trust_id}/roles/{role_id}": {"GET": trusts.show_role},
    "/auth/catalog": {"GET": tokens.show_catalog},
    "/auth/domains": {"GET": tokens.list_domains},
    "/auth/projects": {"GET": tokens.list_projects},
    "/auth/system": {"GET": tokens.list_systems},
    "/auth/tokens": {"GET": tokens.show, "POST": tokens.create, "DELETE": tokens.delete},
    "/credentials": {"GET": CREDENTIALS.index, "POST": CREDENTIALS.add},
    "/credentials/{id}": {"GET": CREDENTIALS.show, "PATCH": CREDENTIALS.update, "DELETE": CREDENTIALS.delete},
    "/domains": {"GET": DOMAINS.index, "POST": DOMAINS.add},
    "/domains/config/default": {"GET": domain_configuration.show_defaults},
    "/domains/config/{group}/default": {"GET": domain_configuration.show_defaults},
    "/domains/config/{group}/{option}/default": {"GET": domain_configuration.show_defaults},
    "/domains/{id}": {"GET": DOMAINS.show, "PATCH": DOMAINS.update, "DELETE": DOMAINS.delete},
    "/domains/{id}/config": {
        "GET": domain_configuration.show,
        "PUT": domain_configuration.replace,
        "PATCH": domain_configuration.update,
        "DELETE": domain_configuration.delete,
    },
    "/domains/{id}/config/{group}": {
        "GET": domain_configuration.show,
        "PATCH": domain_configuration.update,
        "DELETE": domain_configuration.delete,
    },
    "/domains/{id}/config/{group}/{option}": {
        "GET": domain_configuration.show,
        "PATCH": domain_configuration.update,
        "DELETE": domain_configuration.delete,
    },
    "/domains/{target_id}/groups/{actor_id}/roles": {"GET": grants.GROUP_ON_DOMAIN.index},
    "/domains/{target_id}/groups/{actor_id}/roles/{role_id}": {
        "GET": grants.GROUP_ON_DOMAIN.check,
        "PUT": grants.GROUP_ON_DOMAIN.assign,
        "DELETE": grants.GROUP_ON_DOMAIN.revoke,
    },
    "/domains/{target_id}/users/{actor_id}/roles": {"GET": grants.USER_ON_DOMAIN.index},
    "/domains/{target_id}/users/{actor_id}/roles/{role_id}": {
        "GET": grants.USER_ON_DOMAIN.check,
        "PUT": grants.USER_ON_DOMAIN.assign,
        "DELETE": grants.USER_ON_DOMAIN.revoke,
    },
    "/ec2tokens": {"POST": ec2_tokens.create_from_ec2},
    "/endpoints": {"GET": ENDPOINTS.index, "POST": ENDPOINTS.add},
    "/endpoints/{id}": {"GET": ENDPOINTS.show, "PATCH": ENDPOINTS.update, "DELETE": ENDPOINTS.delete},
    "/groups": {"GET": GROUPS.index, "POST": GROUPS.add},
    "/groups/{id}": {"GET": GROUPS.show, "PATCH": GROUPS.update, "DELETE": GROUPS.delete},
    "/groups/{id}/users": {"GET": members.index},
    "/groups/{id}/users/{user_id}": {"GET": members.check, "PUT": members.add, "DELETE": members.remove},
    "/limits": {"GET": limits.index, "POST": limits.add},
    "/limits/model": {"GET": limits.show_model},
    "/limits/{id}": {"GET": LIMITS.show, "PATCH": LIMITS.update, "DELETE": LIMITS.delete},
    "/policies": {"GET": POLICIES.index, "POST": POLICIES.add},
    "/policies/{id}": {"GET": POLICIES.show, "PATCH": POLICIES.update, "DELETE": POLICIES.delete},
    "/projects": {"GET": projects.index, "POST": projects.add},
    "/projects/{id}": {"GET": projects.show, "PATCH": projects.update, "DELETE": projects.delete},
    "/projects/{id}/tags": {"GET": projects.list_tags, "PUT": projects.replace_tags, "DELETE": projects.delete_tags},
    "/projects/{id}/tags/{tag}": {"GET": projects.check_tag, "PUT": projects.add_tag, "DELETE": projects.delete_tag},
    "/projects/{target_id}/groups/{actor_id}/roles": {"GET": grants.GROUP_ON_PROJECT.index},
    "/projects/{target_id}/groups/{actor_id}/roles/{role_id}": {
        "GET": grants.GROUP_ON_PROJECT.check,
        "PUT": grants.GROUP_ON_PROJECT.assign,
        "DELETE": grants.GROUP_ON_PROJECT.revoke,
    },
    "/projects/{target_id}/users/{actor_id}/roles": {"GET": grants.USER_ON_PROJECT.index},
    "/projects/{target_id}/users/{actor_id}/roles/{role_id}": {
        "GET": grants.USER_ON_PROJECT.check,
        "PUT": grants.USER_ON_PROJECT.assign,
        "DELETE": grants.USER_ON_PROJECT.revoke,
    },
    "/regions": {"GET": REGIONS.index, "POST": REGIONS.add},
    "/regions/{id}": {
        "GET": REGIONS.show,
        "PUT": catalog.put_region,
        "PATCH": REGIONS.update,
        "DELETE": REGIONS.delete,
    },
    "/registered_limits": {"GET": limits.list_registered, "POST": limits.add_registered},
    "/registered_limits/{id}": {"GET": REGISTERED.show, "PATCH": REGISTERED.update, "DELETE": REGISTERED.delete},
    "/role_assignments": {"GET": assignments.index},
    "/role_inferences": {"GET": roles.list_inferences},
    "/roles": {"GET": roles.index, "POST": ROLES.add},
    "/roles/{id}": {"GET": ROLES.show, "PATCH": ROLES.update, "DELETE": ROLES.delete},
    "/roles/{id}/implies": {"GET": roles.list_implied},
    "/roles/{id}/implies/{implied_id}": {
        "GET": roles.show_implied,
        "HEAD": roles.check_implied,
        "PUT": roles.imply,
        "DELETE": roles.stop_implying,
    },
    "/s3tokens": {"POST": ec2_tokens.create_from_s3},
    "/services": {"GET": SERVICES.index, "POST": SERVICES.add},
    "/services/{id}": {"GET": SERVICES.show, "PATCH": SERVICES.update, "DELETE": SERVICES.delete},
    "/system/groups/{actor_id}/roles": {"GET": grants.GROUP_ON_SYSTEM.index},
    "/system/groups/{actor_id}/roles/{role_id}": {
        "GET": grants.GROUP_ON_SYSTEM.check,
        "PUT": grants.GROUP_ON_SYSTEM.assign,
        "DELETE": grants.GROUP_ON_SYSTEM.revoke,
    },
    "/system/users/{actor_id}/roles": {"GET": grants.USER_ON_SYSTEM.index},
    "/system/users/{actor_id}/roles/{role_id}": {
        "GET": grants.USER_ON_SYSTEM.check,
        "PUT": grants.USER_ON_SYSTEM.assign,
        "DELETE": grants.USER_ON_SYSTEM.revoke,
    },
    "/users": {"GET": USERS.index, "POST": USERS.add},
    "/users/{id}": {"GET": USERS.show, "PATCH": USERS.update, "DELETE": USERS.delete},
    "/users/{id}/groups": {"GET": users.list_groups},
    "/users/{id}/password": {"POST": users.change_password},
    "/users/{id}/projects": {"GET": users.list_projects},
    "/users/{user_id}/access_rules": {"GET": application_credentials.list_rules},
    "/users/{user_id}/access_rules/{id}": {
        "GET": application_credentials.show_rule,
        "DELETE": application_credentials.delete_rule,
    },
    "/users/{user_id}/application_credentials": {
        "GET": application_credentials.index,
        "POST": application_credentials.create,
    },
    "/users/{user_id}/application_credentials/{id}": {
        "GET": application_credentials.show,
        "DELETE": application_credentials.delete,
    },
    "/users/{user_id}/credentials/OS-EC2": {"GET": credentials.list_ec2, "POST": credentials.create_ec2},
    "/users/{user_id}/credentials/OS-EC2/{access}": {"GET": credentials.show_ec2, "DELETE": credentials.delete_ec2},
}
ROOT: Mapping[str, Mapping[str, Handler]] = {"/": {"GET": discovery.versions}, "/v3": {"GET": discovery.version}}
"""What is directly below the mount: the versions."""
