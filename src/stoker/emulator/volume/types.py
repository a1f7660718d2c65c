"""Volume types: who may use them, their extra specs and encryption; and QoS specs."""

from __future__ import annotations

from typing import Any

from stoker.emulator.core.cloud import new_id
from stoker.emulator.core.errors import ApiError, bad_request, conflict, not_found
from stoker.emulator.core.http import Context
from stoker.emulator.core.store import Record
from stoker.emulator.volume.messages import MessageRecords

DEFAULT_TYPE = "lvmdriver-1"
FALLBACK_TYPE = "__DEFAULT__"
CONSUMERS = ("front-end", "back-end", "both")


class TypeRecords(MessageRecords):
    """Volume types and QoS specs."""

    def seed(self) -> None:
        """The types of a DevStack."""
        super().seed()
        self.create_type(FALLBACK_TYPE, "Default Volume Type", True)
        self.create_type(DEFAULT_TYPE, None, True, {"volume_backend_name": DEFAULT_TYPE})

    def create_type(
        self, name: str, description: str | None, is_public: bool, extra_specs: dict[str, str] | None = None
    ) -> Record:
        """A new type; 409 when the name is taken."""
        self._refuse_taken_type(name)
        return self.types.add(
            {
                "id": new_id(),
                "name": name,
                "description": description,
                "is_public": is_public,
                "extra_specs": dict(extra_specs or {}),
                "qos_specs_id": None,
                "_projects": [],
                "_encryption": None,
            }
        )

    def update_type(self, kind: Record, changes: Record) -> Record:
        """Set name, description and is_public of a type; 409 when the name is another one's."""
        if "name" in changes and changes["name"] != kind["name"]:
            self._refuse_taken_type(changes["name"])
        return self.types.update(kind, **changes)

    def delete_type(self, kind: Record) -> None:
        """Drop a type; 400 while volumes are of it or when it is the default."""
        if kind["name"] in (DEFAULT_TYPE, FALLBACK_TYPE):
            raise bad_request(f"The volume type {kind['id']} is a default volume type and cannot be deleted.")
        if self.type_is_used(kind):
            raise bad_request("Target volume type is still in use.")
        self.types.remove(kind)

    def type_is_used(self, kind: Record) -> bool:
        """Whether there are volumes of this type."""
        return any(row["volume_type_id"] == kind["id"] for row in self.volumes)

    def usable_types(self, context: Context) -> list[Record]:
        """The types that a project may use."""
        return [kind for kind in self.types if may_use(kind, context)]

    def type_for(self, context: Context, key: str) -> Record:
        """A type the caller may use, by id or name; 404 when there is none."""
        found = self.types.get(key) or self.types.first(name=key)
        if found is None or not (may_use(found, context)):
            raise not_found(f"Volume type with name {key} could not be found.")
        return found

    def type_by_id(self, context: Context, key: str) -> Record:
        """A type the caller may see, by its id only; 404 when there is none."""
        found = self.types.require(key)
        if not may_use(found, context):
            raise not_found(f"Volume type {key} could not be found.")
        return found

    def default_type(self) -> Record:
        """What a volume gets that asks for no type."""
        found = self.types.first(name=DEFAULT_TYPE) or self.types.first(name=FALLBACK_TYPE)
        if found is None:
            raise ApiError(500, "There is no default volume type.")
        return found

    def add_type_access(self, kind: Record, project_id: str) -> None:
        """Let a project use a private type; 409 when it may already."""
        _refuse_public(kind)
        if project_id in kind["_projects"]:
            raise conflict(f"Volume type access for {kind['id']} / {project_id} combination already exists.")
        self.types.update(kind, _projects=[*kind["_projects"], project_id])

    def remove_type_access(self, kind: Record, project_id: str) -> None:
        """Take a private type from a project; 404 when it had no access."""
        _refuse_public(kind)
        if project_id not in kind["_projects"]:
            raise not_found(f"Volume type access not found for {kind['id']} / {project_id} combination.")
        self.types.update(kind, _projects=[one for one in kind["_projects"] if one != project_id])

    def type_access(self, kind: Record) -> list[str]:
        """The projects that may use a private type; 404 for a public one."""
        if kind["is_public"]:
            raise not_found("Access list not available for public volume types.")
        return list(kind["_projects"])

    def set_encryption(self, kind: Record, wanted: Record) -> Record:
        """Encrypt volumes of a type; 400 when it does already or has volumes."""
        if kind["_encryption"] is not None:
            raise bad_request(f"Volume type encryption for type {kind['id']} already exists.")
        self._refuse_encryption_of_used(kind)
        encryption = {
            "volume_type_id": kind["id"],
            "encryption_id": new_id(),
            "cipher": None,
            "key_size": None,
            "control_location": "front-end",
            **{key: value for key, value in wanted.items() if value is not None},
            "created_at": self.moment(),
            "updated_at": None,
            "deleted_at": None,
            "deleted": False,
        }
        self.types.update(kind, _encryption=encryption)
        return encryption

    def update_encryption(self, kind: Record, encryption_id: str, changes: Record) -> None:
        """Change how a type encrypts; 400 while it has volumes, 404 when it does not encrypt."""
        current = self.encryption_for(kind, encryption_id)
        self._refuse_encryption_of_used(kind)
        now = self.moment()
        self.types.update(kind, _encryption={**current, **changes, "updated_at": now})

    def delete_encryption(self, kind: Record, encryption_id: str) -> None:
        """Stop encrypting; 400 while the type has volumes, 404 when it does not encrypt."""
        self.encryption_for(kind, encryption_id)
        self._refuse_encryption_of_used(kind)
        self.types.update(kind, _encryption=None)

    def encryption_for(self, kind: Record, encryption_id: str) -> dict[str, Any]:
        """The encryption of a type; `provider` stands for whatever id it has, as clients use it."""
        current: dict[str, Any] | None = kind["_encryption"]
        if current is None or encryption_id not in (current["encryption_id"], "provider"):
            raise not_found(f"Volume type encryption for type {kind['id']} does not exist.")
        return current

    def create_qos(self, name: str, consumer: str, specs: dict[str, str]) -> Record:
        """New QoS specs; 409 when the name is taken."""
        if self.qos_specs.first(name=name) is not None:
            raise conflict(f"QoS Specs {name} already exists.")
        _check_consumer(consumer)
        return self.qos_specs.add({"id": new_id(), "name": name, "consumer": consumer, "specs": specs})

    def update_qos(self, qos: Record, changes: dict[str, str]) -> dict[str, str]:
        """Set keys of QoS specs, `consumer` among them."""
        changes = dict(changes)
        consumer = changes.pop("consumer", qos["consumer"])
        _check_consumer(consumer)
        self.qos_specs.update(qos, consumer=consumer, specs={**qos["specs"], **changes})
        return changes

    def delete_qos_keys(self, qos: Record, keys: list[str]) -> None:
        """Drop keys of QoS specs; 400 for one they have not."""
        for key in keys:
            if key not in qos["specs"]:
                raise bad_request(f"QoS spec {qos['id']} has no spec with key {key}.")
        self.qos_specs.update(qos, specs={key: value for key, value in qos["specs"].items() if key not in keys})

    def delete_qos(self, qos: Record, force: bool) -> None:
        """Drop QoS specs; 400 while types have them, unless `force`, which takes them from the types."""
        if self.types_of_qos(qos) and not force:
            raise bad_request(f"QoS Specs {qos['id']} is still associated with entities.")
        for kind in self.types_of_qos(qos):
            self.types.update(kind, qos_specs_id=None)
        self.qos_specs.remove(qos)

    def types_of_qos(self, qos: Record) -> list[Record]:
        return [kind for kind in self.types if kind["qos_specs_id"] == qos["id"]]

    def associate_qos(self, qos: Record, type_id: str) -> None:
        """Give a type these QoS specs; 400 when it has others."""
        kind = self.types.require(type_id)
        if kind["qos_specs_id"] not in (None, qos["id"]):
            raise bad_request(f"Type {type_id} is already associated with another qos specs: {kind['qos_specs_id']}")
        self.types.update(kind, qos_specs_id=qos["id"])

    def disassociate_qos(self, qos: Record, type_id: str) -> None:
        """Take the QoS specs from a type; harmless when it has others."""
        kind = self.types.require(type_id)
        if kind["qos_specs_id"] == qos["id"]:
            self.types.update(kind, qos_specs_id=None)

    def _refuse_taken_type(self, name: str) -> None:
        if self.types.first(name=name) is not None:
            raise conflict(f"Volume Type {name} already exists.")

    def _refuse_encryption_of_used(self, kind: Record) -> None:
        if self.type_is_used(kind):
            raise bad_request(f"Cannot create or change the encryption of volume type {kind['id']}: it is in use.")


def may_use(kind: Record, context: Context) -> bool:
    """Whether the caller may use a volume type."""
    return kind["is_public"] or context.is_admin or context.project_id in kind["_projects"]


def _refuse_public(kind: Record) -> None:
    if kind["is_public"]:
        raise conflict(f"Type access modification is not applicable to public volume type {kind['id']}.")


def _check_consumer(consumer: str) -> None:
    if consumer not in CONSUMERS:
        raise bad_request(f"Valid consumer of QoS specs are: {list(CONSUMERS)}, not {consumer}.")
