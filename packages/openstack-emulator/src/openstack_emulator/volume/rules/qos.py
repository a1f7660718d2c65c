"""QoS specs, which volume types may have."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request, conflict, not_found
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.volume.records import Qos, VolumeType

CONSUMERS = ("front-end", "back-end", "both")


class QosSpecs(Rules):
    """QoS specs and their association with volume types.

    types: the table of volume types.
    """

    def __init__(self, records: Records, types: Table[VolumeType]) -> None:
        super().__init__(records)
        self.rows = records.table("qos_specs", Qos, "name")
        self._types = types

    def create(self, name: str, consumer: str, specs: dict[str, str]) -> Qos:
        """Add QoS specs. Raises ApiError 400 for an unknown consumer, and 409 for a name that others have."""
        if self.rows.first(name=name) is not None:
            raise conflict(f"QoS Specs {name} already exists.")
        _check_consumer(consumer)
        return self.rows.add(Qos(id=new_id(), name=name, consumer=consumer, specs=specs))

    def update(self, qos: Qos, changes: dict[str, str]) -> dict[str, str]:
        """Set keys of QoS specs, and their consumer by the key `consumer`; return the keys without it.

        Raises: ApiError 400 for an unknown consumer.
        """
        changes = dict(changes)
        consumer = changes.pop("consumer", qos.consumer)
        _check_consumer(consumer)
        qos.consumer, qos.specs = consumer, {**qos.specs, **changes}
        self.rows.save(qos)
        return changes

    def delete_keys(self, qos: Qos, keys: list[str]) -> None:
        """Delete keys of QoS specs. Raises ApiError 404 for one that they do not have."""
        for key in keys:
            if key not in qos.specs:
                raise not_found(f"QoS spec {qos.id} has no spec with key {key}.")
        qos.specs = {key: value for key, value in qos.specs.items() if key not in keys}
        self.rows.save(qos)

    def delete(self, qos: Qos, force: bool) -> None:
        """Delete QoS specs, with `force` also from the types that have them. Raises ApiError 400 for others in use."""
        if self.types_of(qos) and not force:
            raise bad_request("Qos specs still in use.")
        for volume_type in self.types_of(qos):
            volume_type.qos_specs_id = None
            self._types.save(volume_type)
        self.rows.remove(qos)

    def types_of(self, qos: Qos) -> list[VolumeType]:
        """The volume types that have these specs."""
        return [volume_type for volume_type in self._types if volume_type.qos_specs_id == qos.id]

    def associate(self, qos: Qos, type_id: str) -> None:
        """Give a type these QoS specs. Raises ApiError 400 for one with others, and 404 for an unknown type."""
        volume_type = self._types.require(type_id)
        if volume_type.qos_specs_id not in (None, qos.id):
            raise bad_request(
                f"Type {type_id} is already associated with another qos specs: {volume_type.qos_specs_id}"
            )
        volume_type.qos_specs_id = qos.id
        self._types.save(volume_type)

    def disassociate(self, qos: Qos, type_id: str) -> None:
        """Remove the QoS specs from a type that has them. Raises ApiError 404 for an unknown type."""
        volume_type = self._types.require(type_id)
        if volume_type.qos_specs_id == qos.id:
            volume_type.qos_specs_id = None
            self._types.save(volume_type)


def _check_consumer(consumer: str) -> None:
    if consumer not in CONSUMERS:
        raise bad_request(f"Valid consumer of QoS specs are: {list(CONSUMERS)}, not {consumer}.")
