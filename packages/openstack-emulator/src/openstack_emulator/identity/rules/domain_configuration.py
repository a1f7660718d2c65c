"""Configuration of single domains: which identity driver a domain has, and its LDAP options.

It is stored and shown, and changes nothing: this cloud has a single driver and its own users.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from openstack_emulator.core.errors import ApiError, forbidden, not_found

Configuration = dict[str, dict[str, Any]]
"""Options by group."""
DEFAULTS: Configuration = {
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
SENSITIVE: Configuration = {"identity": {}, "ldap": {"password": None}}
"""Options that may be set and are never shown."""


@dataclass(frozen=True)
class ConfigurationPart:
    """What a path names: everything, a group, or one option of it."""

    group: str | None = None
    option: str | None = None

    def of(self, config: Configuration, missing: Callable[[str], ApiError]) -> Mapping[str, Any]:
        """The part of a configuration: `{group: {option: value}}`, or `{option: value}` of one option.

        missing: makes the error for what is not there.
        """
        if not config:
            raise missing("any group")
        if self.group is None:
            return config
        if self.group not in config:
            raise missing(f"the group {self.group}")
        if self.option is None:
            return {self.group: config[self.group]}
        if self.option not in config[self.group]:
            raise missing(f"the option {self.option} in the group {self.group}")
        return {self.option: config[self.group][self.option]}


def merged(have: Configuration, options: Mapping[str, Any], part: ConfigurationPart) -> Configuration:
    """A configuration with options set beside those that are there. Below a group `options` has the group, below an
    option the option. Raises ApiError 403, 404."""
    if part.group is not None:
        part.of(have, unset)
        if part.option is not None:
            options = {part.group: options}
        if set(options) != {part.group}:
            raise forbidden("The group in the body is not the one in the path.")
        if part.option is not None and set(options[part.group]) != {part.option}:
            raise forbidden("The option in the body is not the one in the path.")
    body = checked(options)
    return {group: {**have.get(group, {}), **body.get(group, {})} for group in {**have, **body}}


def without(have: Configuration, part: ConfigurationPart) -> Configuration:
    """A configuration without everything, a group, or one option; a group without options goes too."""
    part.of(have, unset)
    if part.group is None:
        return {}
    left = {group: {**options} for group, options in have.items()}
    if part.option is None:
        del left[part.group]
    else:
        del left[part.group][part.option]
    return {group: options for group, options in left.items() if options}


def checked(config: Mapping[str, Any]) -> Configuration:
    """The configuration when all groups and options in it exist; 403 otherwise, as Keystone has it."""
    for group, options in config.items():
        if group not in DEFAULTS:
            raise refused(f"Group {group} is not supported for domain specific configurations.")
        if not isinstance(options, dict) or not options:
            raise refused(f"The options of the group {group} must be an object with something in it.")
        known = {**DEFAULTS[group], **SENSITIVE[group]}
        if unknown := sorted(set(options) - set(known)):
            raise refused(f"Option {unknown[0]} in group {group} is not supported for domain specific configurations.")
    return {group: {**options} for group, options in config.items()}


def shown(config: Configuration) -> Configuration:
    """What clients see of a configuration."""
    return {
        group: {name: value for name, value in options.items() if name not in SENSITIVE[group]}
        for group, options in config.items()
    }


def refused(message: str) -> ApiError:
    """403 about a configuration."""
    return forbidden(f"Invalid domain specific configuration: {message}")


def unsupported(what: str) -> ApiError:
    """403 for a part that has no default."""
    return refused(f"there is no default for {what}.")


def unset(what: str) -> ApiError:
    """404 for a part that a domain has not."""
    return not_found(f"Could not find {what} in the configuration of the domain.")
