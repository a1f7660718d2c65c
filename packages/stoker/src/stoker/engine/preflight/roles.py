"""Compare the roles of the token with those that the default policies of services ask for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence

from stoker.engine.preflight.model import Finding
from stoker.plugins.preflight import Code, Facts, NotRead, Planned

ADMINISTRATORS = ("admin", "manager")
_FORBIDDEN = 403
_MOST_NAMED = 3


async def role_findings(planned: Collection[Planned], facts: Facts) -> AsyncIterator[Finding]:
    """Yield a finding for each set of roles of which the token has none.

    A service that is asked, and lets the user read, has another policy than its default one: then nothing is found. If
    the token does not say its roles, that is unknown.
    """
    resources_by_roles: dict[tuple[tuple[str, ...], str], list[Planned]] = {}
    for each in planned:
        roles = ADMINISTRATORS if each.type.for_administrators else each.type.roles
        if roles:
            path = "" if each.type.for_administrators else each.type.roles_asked_at
            resources_by_roles.setdefault((roles, path), []).append(each)
    for (roles, path), group in resources_by_roles.items():
        named = f"{_named(group)}: the default policy of the service asks for {_any_of(roles)}"
        if not facts.role_names:
            yield Finding(Code.UNKNOWN, f"{named}, and the roles of the token are not known", group[0])
        elif not set(map(str.lower, facts.role_names)) & set(roles) and await _refuses(group[0], path, facts):
            own = ", ".join(facts.role_names)
            hint = "ask the administrator of the project for the role, if the service keeps its default policy"
            yield Finding(Code.ROLES, f"{named}, and the token has the roles {own}", group[0], hint=hint)


async def _refuses(planned: Planned, path: str, facts: Facts) -> bool:
    """Return whether a service refuses the user already to read, where it is known that it would."""
    service = planned.type.service
    if not path or service is None:
        return True
    try:
        await facts.get(service, path.format(project=facts.project_id))
    except NotRead as error:
        return error.status == _FORBIDDEN
    return False


def _any_of(roles: Sequence[str]) -> str:
    return f"the role {roles[0]}" if len(roles) == 1 else f"one of the roles {', '.join(roles)}"


def _named(group: Sequence[Planned]) -> str:
    more = len(group) - _MOST_NAMED
    return ", ".join(each.path for each in group[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
