"""Address groups."""

from __future__ import annotations

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.validation.converting import Invalid
from openstack_emulator.network.records.core import AddressGroup
from openstack_emulator.network.rules.attributes import ip_or_cidr, items
from openstack_emulator.network.rules.kinds.kind import Actor, Values
from openstack_emulator.network.rules.resources import Resources

ADDRESSES = items(ip_or_cidr, distinct=True)


class AddressGroups(Resources[AddressGroup]):
    """Lists of addresses that security group rules name as their remote side."""

    def prepare_create(self, actor: Actor, draft: AddressGroup, values: Values) -> None:
        draft.addresses = sorted({_prefix(address) for address in draft.addresses})

    def change_addresses(self, actor: Actor, record: AddressGroup, added: object, removed: object) -> None:
        """Put addresses in, take others out. Raises: ApiError 400 for ones that are there already or are not."""
        self.refuse_unauthorized(actor, record, "update")
        new, old = self._addresses(added), self._addresses(removed)
        present = set(record.addresses)
        if known := present & new:
            raise bad_request(
                f"Addresses {sorted(known)} already exist in the address group {record.id}.", "AddressesAlreadyExist"
            )
        if absent := old - present:
            raise bad_request(
                f"Addresses {sorted(absent)} not found in the address group {record.id}.", "AddressesNotFound"
            )
        self.change(record, addresses=sorted((present | new) - old))

    def _addresses(self, addresses: object) -> set[str]:
        try:
            return {_prefix(address) for address in ADDRESSES(addresses)}
        except Invalid:
            word = (
                next((address for address in addresses if not _is_prefix(address)), addresses)
                if isinstance(addresses, list)
                else addresses
            )
            raise bad_request(f"invalid IPNetwork {word}", "AddrFormatError") from None


def _is_prefix(value: object) -> bool:
    try:
        return bool(ip_or_cidr(value))
    except Invalid:
        return False


def _prefix(address: str) -> str:
    if "/" in address:
        return address
    return f"{address}/{128 if ':' in address else 32}"
