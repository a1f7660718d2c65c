"""The resource types of the ledger service."""

from __future__ import annotations

from stoker.resources.base import Collection, RestResource
from stoker.resources.declare import between, custom
from stoker.schema.property import Attribute, Change, Property, Type


class Account(RestResource):
    """An account, which may be a part of another one."""

    type_name = "Ledger::Account"
    description = "An account of the ledger."
    collection = Collection("ledger", "/accounts", "account", "accounts", update="PATCH", owner=None)

    properties = {
        "name": Property(description="Name of the account."),
        "code": Property(description="Code of the account.", required=True, constraints=custom("ledger.code")),
        "parent": Property(description="The account above, by name or ID.", reference="ledger.account"),
        "budget": Property(
            Type.INTEGER, "Amount that may be spent.", default=0, change=Change.UPDATE, constraints=between(0)
        ),
    }
    attributes = {"code": Attribute("Code of the account.", Type.STRING)}


TYPES = (Account,)
