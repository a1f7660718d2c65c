"""The ledger service, and how its accounts are found."""

from __future__ import annotations

from stoker.cloud.finders import Fetch, Finder, Search
from stoker.cloud.services import Service

SERVICES = {"ledger": Service("ledger", catalog_types=("ledger",), version="v1")}

FINDERS = {
    "ledger.account": Finder(
        "ledger", "/accounts", lookups=(Fetch(), Search("name")), members="accounts", member="account"
    ),
}
