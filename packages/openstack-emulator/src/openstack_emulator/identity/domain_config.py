"""Configuration of single domains: which identity driver a domain has, and its LDAP options.

It is stored and shown, and changes nothing: this cloud has a single driver and its own users.
"""

from __future__ import annotations

from collections.abc import Callable

from openstack_emulator.core.cloud import Routes
from openstack_emulator.core.errors import ApiError, forbidden, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.identity.entity import whole_body
from openstack_emulator.identity.policy import enforce
from openstack_emulator.identity.records import IdentityRecords

DEFAULTS: dict[str, Record] = {
    "identity": {"driver": "sql", "list_limit": None},
    "ldap": {
        "url": "ldap://localhost",
        "user": None,
        "suffix": "cn=example,cn=com",
        "query_scope": "one",
        "page_size": 0,
        "user_tree_dn": None,
        "user_filter": None,
        "user_objectclass": "inetOrgPerson",
        "user_id_attribute": "cn",
        "user_name_attribute": "sn",
        "user_mail_attribute": "mail",
        "user_enabled_attribute": "enabled",
        "group_tree_dn": None,
        "group_filter": None,
        "group_objectclass": "groupOfNames",
        "group_id_attribute": "cn",
        "group_name_attribute": "ou",
        "group_member_attribute": "member",
        "tls_cacertfile": None,
        "tls_cacertdir": None,
        "tls_req_cert": "demand",
        "use_tls": False,
    },
}
"""The groups and options a domain may have of its own, with what holds when it has not."""
SENSITIVE: dict[str, Record] = {"identity": {}, "ldap": {"password": None}}
"""Options that may be set and are never shown."""


def show_defaults(identity: IdentityRecords, request: Request) -> Response:
    """The defaults: of everything, of a group, or of one option, as the path has it."""
    enforce(request.context, "get_domain_config")
    return Response({"config": _excerpt(DEFAULTS, request, _unsupported)})


def show(identity: IdentityRecords, request: Request) -> Response:
    domain = _domain(identity, request, "get_domain_config")
    return Response({"config": _excerpt(_shown(domain), request, _unset)})


def replace(identity: IdentityRecords, request: Request) -> Response:
    """Replace the whole configuration; 201 when the domain had none."""
    domain = _domain(identity, request, "write_domain_config")
    status = 200 if domain.get("_config") else 201
    identity.domains.update(domain, _config=_checked(_given(request)))
    return Response({"config": _shown(domain)}, status)


def update(identity: IdentityRecords, request: Request) -> Response:
    """Options set beside those that are there. Below a group the body has the group, below an option the option."""
    domain = _domain(identity, request, "write_domain_config")
    have, given = domain.get("_config") or {}, _given(request)
    if "group" in request.vars:
        _excerpt(have, request, _unset)
    if "option" in request.vars:
        given = {request.vars["group"]: given}
    if "group" in request.vars and set(given) != {request.vars["group"]}:
        raise forbidden("The group in the body is not the one in the path.")
    if "option" in request.vars and set(given[request.vars["group"]]) != {request.vars["option"]}:
        raise forbidden("The option in the body is not the one in the path.")
    wanted = _checked(given)
    merged = {group: {**have.get(group, {}), **wanted.get(group, {})} for group in {**have, **wanted}}
    identity.domains.update(domain, _config=merged)
    return Response({"config": _shown(domain)})


def delete(identity: IdentityRecords, request: Request) -> Response:
    """Everything, a group, or one option; a group without options goes too."""
    domain = _domain(identity, request, "write_domain_config")
    have: dict[str, Record] = domain.get("_config") or {}
    _excerpt(have, request, _unset)
    group, option = request.vars.get("group"), request.vars.get("option")
    left = {} if group is None else {name: {**options} for name, options in have.items()}
    if group is not None and option is not None:
        del left[group][option]
    elif group is not None:
        del left[group]
    identity.domains.update(domain, _config={name: options for name, options in left.items() if options})
    return Response(status=204)


def _domain(identity: IdentityRecords, request: Request, rule: str) -> Record:
    enforce(request.context, rule)
    return identity.domains.require(request.vars["id"])


def _given(request: Request) -> Record:
    config = whole_body(request).get("config")
    if not isinstance(config, dict) or not config:
        raise _invalid("The request body must have an object 'config' with something in it.")
    return config


def _checked(config: Record) -> dict[str, Record]:
    """The configuration when all groups and options in it exist; 403 otherwise, as Keystone has it."""
    for group, options in config.items():
        if group not in DEFAULTS:
            raise _invalid(f"Group {group} is not supported for domain specific configurations.")
        if not isinstance(options, dict) or not options:
            raise _invalid(f"The options of the group {group} must be an object with something in it.")
        known = {**DEFAULTS[group], **SENSITIVE[group]}
        if unknown := sorted(set(options) - set(known)):
            raise _invalid(f"Option {unknown[0]} in group {group} is not supported for domain specific configurations.")
    return config


def _shown(domain: Record) -> dict[str, Record]:
    config: dict[str, Record] = domain.get("_config") or {}
    return {
        group: {name: value for name, value in options.items() if name not in SENSITIVE[group]}
        for group, options in config.items()
    }


def _excerpt(config: dict[str, Record], request: Request, missing: Callable[[str], ApiError]) -> Record:
    """What the path asks for: `{group: {option: value}}`, or `{option: value}` of one option.

    missing: makes the error for what is not there.
    """
    group, option = request.vars.get("group"), request.vars.get("option")
    if not config:
        raise missing("any group")
    if group is None:
        return config
    if group not in config:
        raise missing(f"the group {group}")
    if option is None:
        return {group: config[group]}
    if option not in config[group]:
        raise missing(f"the option {option} in the group {group}")
    return {option: config[group][option]}


def _invalid(message: str) -> ApiError:
    return forbidden(f"Invalid domain specific configuration: {message}")


def _unsupported(what: str) -> ApiError:
    return _invalid(f"there is no default for {what}.")


def _unset(what: str) -> ApiError:
    return not_found(f"Could not find {what} in the configuration of the domain.")


DOMAIN_CONFIG_ROUTES: Routes = {
    "/domains/config/default": {"GET": show_defaults},
    "/domains/config/{group}/default": {"GET": show_defaults},
    "/domains/config/{group}/{option}/default": {"GET": show_defaults},
    "/domains/{id}/config": {"GET": show, "PUT": replace, "PATCH": update, "DELETE": delete},
    "/domains/{id}/config/{group}": {"GET": show, "PATCH": update, "DELETE": delete},
    "/domains/{id}/config/{group}/{option}": {"GET": show, "PATCH": update, "DELETE": delete},
}
