"""The access rules of shares over HTTP, since microversion 2.45."""

from __future__ import annotations

from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.filters import holds
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.share.records import AccessRule
from openstack_emulator.share.routes.bodies import METADATA
from openstack_emulator.share.rules.composition import SharedFileSystems
from openstack_emulator.share.views import rule_view


def _rule(systems: SharedFileSystems, request: Request) -> AccessRule:
    return systems.access_rules.find(request.context, request.vars["access_id"])


def index(systems: SharedFileSystems, request: Request) -> Response:
    key = request.query.get("share_id")
    if not key:
        raise bad_request("The field 'share_id' has to be specified.")
    if systems.shares.rows.get(key) is None:
        raise bad_request(f"Share {key} not found.")
    share = systems.shares.find(request.context, key)
    rows, value = systems.access_rules.of(share), request.query.get("metadata")
    if value is not None:
        test = holds("metadata")
        rows = [rule for rule in rows if test(rule, value)]
    return Response({"access_list": [rule_view(request, rule) for rule in rows]})


def show(systems: SharedFileSystems, request: Request) -> Response:
    rule = _rule(systems, request)
    return Response({"access": {**rule_view(request, rule), "share_id": rule.share_id}})


def set_metadata(systems: SharedFileSystems, request: Request) -> Response:
    rule, body = _rule(systems, request), request.object("metadata")
    check_fields({"metadata": body}, {"metadata": METADATA})
    rule.metadata = {**rule.metadata, **body}
    systems.access_rules.save(rule)
    return Response({"metadata": rule.metadata})


def delete_metadata(systems: SharedFileSystems, request: Request) -> Response:
    rule, key = _rule(systems, request), request.vars["key"]
    if key not in rule.metadata:
        raise not_found("Share access rule metadata does not exist.")
    rule.metadata = {name: value for name, value in rule.metadata.items() if name != key}
    systems.access_rules.save(rule)
    return Response(status=200)
