"""The access rules of shares over HTTP, since microversion 2.45."""

from __future__ import annotations

from openstack_emulator.core import fields
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.filters import holds
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.share.access import AccessRules
from openstack_emulator.share.share_routes import METADATA
from openstack_emulator.share.views import rule_view


def _rule(rules: AccessRules, request: Request) -> Record:
    return rules.find(request.context, request.vars["access_id"])


def index(rules: AccessRules, request: Request) -> Response:
    key = request.query.get("share_id")
    if not key:
        raise bad_request("The field 'share_id' has to be specified.")
    if rules.shares.rows.get(key) is None:
        raise bad_request(f"Share {key} not found.")
    share = rules.shares.find(request.context, key)
    rows, wanted = rules.of(share), request.query.get("metadata")
    if wanted is not None:
        test = holds("metadata")
        rows = [rule for rule in rows if test(rule, wanted)]
    return Response({"access_list": [rule_view(request, rule) for rule in rows]})


def show(rules: AccessRules, request: Request) -> Response:
    rule = _rule(rules, request)
    return Response({"access": {**rule_view(request, rule), "share_id": rule["share_id"]}})


def set_metadata(rules: AccessRules, request: Request) -> Response:
    rule, wanted = _rule(rules, request), request.object("metadata")
    fields.check_fields({"metadata": wanted}, {"metadata": METADATA})
    rules.rows.update(rule, metadata={**rule["metadata"], **wanted}, updated_at=rules.moment())
    return Response({"metadata": rule["metadata"]})


def delete_metadata(rules: AccessRules, request: Request) -> Response:
    rule, key = _rule(rules, request), request.vars["key"]
    if key not in rule["metadata"]:
        raise not_found("Share access rule metadata does not exist.")
    kept = {name: value for name, value in rule["metadata"].items() if name != key}
    rules.rows.update(rule, metadata=kept, updated_at=rules.moment())
    return Response(status=200)
