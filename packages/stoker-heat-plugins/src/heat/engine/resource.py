"""The base class of resource types.

An object lives for one action of one resource, on worker threads. What must outlive it is in `resource_id_set`,
`data_set` and `metadata_set`: these return when the value is in the database.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from heat.common import exception
from heat.common.exception import (
    ResourceFailure,
    ResourceInError,
    ResourceUnknownStatus,
    UpdateInProgress,
    UpdateReplace,
)
from heat.engine import attributes, properties, rsrc_defn, support

__all__ = [
    "NoActionRequired",
    "Resource",
    "ResourceFailure",
    "ResourceInError",
    "ResourceUnknownStatus",
    "UpdateInProgress",
    "UpdateReplace",
]


class NoActionRequired(Exception):
    """A signal requires no action."""

    def __init__(self, res_name: str = "Unknown", reason: str = "") -> None:
        super().__init__(f"The resource {res_name} does not require an action: {reason}")


class Resource:
    """Derive a resource type from this class, and return it from `resource_mapping()` of the module."""

    ACTIONS = (INIT, CREATE, DELETE, UPDATE, ROLLBACK, SUSPEND, RESUME, ADOPT, SNAPSHOT, CHECK) = (
        "INIT",
        "CREATE",
        "DELETE",
        "UPDATE",
        "ROLLBACK",
        "SUSPEND",
        "RESUME",
        "ADOPT",
        "SNAPSHOT",
        "CHECK",
    )
    STATUSES = (IN_PROGRESS, FAILED, COMPLETE) = ("IN_PROGRESS", "FAILED", "COMPLETE")
    BASE_ATTRIBUTES = (SHOW,) = (attributes.SHOW_ATTR,)

    properties_schema: ClassVar[Mapping[str, Any]] = {}
    attributes_schema: ClassVar[Mapping[str, Any]] = {}
    update_policy_schema: ClassVar[Mapping[str, object]] = {}
    update_allowed_properties: ClassVar[tuple[str, ...] | None] = ()
    update_allowed_keys: ClassVar[tuple[str, ...] | None] = ()
    default_client_name: ClassVar[str | None] = None
    entity: ClassVar[str | None] = None
    required_service_extension: ClassVar[str | None] = None
    physical_resource_name_limit: ClassVar[int | None] = 255
    no_signal_actions: ClassVar[tuple[str, ...]] = (SUSPEND, DELETE)
    support_status = support.SupportStatus()
    requires_deferred_auth = False
    strict_dependency = True
    always_replace_on_check_failed = True

    def __init__(self, name: str, definition: rsrc_defn.ResourceDefinition, stack: Any) -> None:
        self.name, self.t, self.stack = name, definition, stack
        self.record = definition.record
        self.context = stack.context
        self.properties = definition.properties(self.properties_schema, self.context)
        self.attributes = attributes.Attributes(self.attributes_schema, self._resolve_attribute)

    # -- what is recorded ---------------------------------------------------------------------------------------

    @property
    def uuid(self) -> str:
        """The ID of the resource in Stoker's database."""
        return str(self.record.uuid)

    id = uuid

    @property
    def resource_id(self) -> str | None:
        """The ID of the object; None until it is set."""
        found: str | None = self.record.resource_id
        return found

    @property
    def action(self) -> str:
        """The current action."""
        return str(self.record.action)

    @property
    def status(self) -> str:
        """IN_PROGRESS while a handler runs."""
        return self.IN_PROGRESS

    @property
    def created_time(self) -> object:
        """When the resource was recorded, as a datetime in UTC."""
        return self.record.created_time

    def resource_id_set(self, inst: object) -> None:
        """Record the ID of the object; return when it is in the database."""
        self.record.set_id(None if inst is None else str(inst))

    def data(self) -> dict[str, str]:
        """Return what `data_set` has recorded."""
        found: dict[str, str] = self.record.all_data()
        return found

    def data_set(self, key: str, value: Any, redact: bool = False) -> None:
        """Record a value; with `redact` it is a secret. Return when it is in the database."""
        self.record.set_data(key, value, redact)

    def data_delete(self, key: str) -> bool:
        """Remove a recorded value; return whether there was one."""
        return bool(self.record.delete_data(key))

    def metadata_get(self, refresh: bool = False) -> dict[str, object]:
        """Return the resource's metadata."""
        return dict(self.record.metadata)

    def metadata_set(self, metadata: Mapping[str, Any], merge_metadata: Any = None) -> None:
        """Record other metadata; return when they are in the database."""
        self.record.set_metadata(metadata)

    @property
    def metadata(self) -> dict[str, Any]:
        """The resource's metadata."""
        return self.metadata_get()

    # -- names and identity -------------------------------------------------------------------------------------

    def physical_resource_name(self) -> str:
        """Return the name for the object: unique, and the same for the life of the resource."""
        return str(self.record.physical_name)

    def physical_resource_name_or_FnGetRefId(self) -> str:  # noqa: N802  a name of the interface
        """Return the name of an object that exists, or its reference ID."""
        return self.physical_resource_name()

    def get_reference_id(self) -> object:
        """Return the value of `get_resource`."""
        return self.resource_id if self.resource_id is not None else self.name

    def FnGetRefId(self) -> Any:  # noqa: N802  a name of the interface
        """Return the value of `get_resource`; the older name."""
        return self.get_reference_id()

    def type(self) -> str:
        """Return the type's name in the template."""
        return self.t.resource_type

    def has_interface(self, resource_type: str) -> bool:
        """Return whether the resource is of this type."""
        return resource_type == self.type()

    def identifier(self) -> Any:
        """Return the resource's place: the stack's, with `resource_name`."""
        return self.stack.identifier() | {"resource_name": self.name}

    # -- attributes ---------------------------------------------------------------------------------------------

    def _resolve_attribute(self, name: str) -> Any:
        """Return the value of an attribute; override for attributes other than `show`."""
        return None

    def _show_resource(self) -> Any:
        """Return the object as its service shows it; the default asks the client for `entity`."""
        if self.entity is None or self.default_client_name is None or self.resource_id is None:
            return None
        found = getattr(self.client(), self.entity).get(self.resource_id)
        return found.to_dict() if hasattr(found, "to_dict") else found

    def get_attribute(self, key: str, *path: Any) -> object:
        """Return an attribute, or what is at the path in its value."""
        value = (
            self._show_resource() if key == self.SHOW and not self._declares_show() else self._resolve_attribute(key)
        )
        for step in path:
            try:
                value = value[int(step)] if isinstance(value, list | tuple) else value[step]
            except (KeyError, IndexError, TypeError, ValueError):
                return None
        return value

    def FnGetAtt(self, key: str, *path: Any) -> object:  # noqa: N802  a name of the interface
        """Return an attribute; the older name."""
        return self.get_attribute(key, *path)

    def _declares_show(self) -> bool:
        return self.SHOW in self.attributes_schema

    # -- services -----------------------------------------------------------------------------------------------

    def client(self, name: str | None = None, version: Any = None) -> Any:
        """Return the client of a service, by default that of `default_client_name`."""
        return self.stack.clients.client(self._client_name(name), version=version)

    def client_plugin(self, name: str | None = None) -> Any:
        """Return the client plug-in of a service, by default that of `default_client_name`."""
        return self.stack.clients.client_plugin(self._client_name(name))

    def _client_name(self, name: str | None) -> str:
        chosen = name or self.default_client_name
        if chosen is None:
            raise AssertionError(f"{type(self).__name__} has no default_client_name: name the client")
        return chosen

    def keystone(self) -> object:
        """Return the client of the identity service."""
        return self.client("keystone")

    def nova(self) -> object:
        """Return the client of the compute service."""
        return self.client("nova")

    def neutron(self) -> object:
        """Return the client of the network service."""
        return self.client("neutron")

    def cinder(self) -> object:
        """Return the client of the block storage service."""
        return self.client("cinder")

    def glance(self) -> object:
        """Return the client of the image service."""
        return self.client("glance")

    def swift(self) -> object:
        """Return the client of the object store."""
        return self.client("swift")

    def heat(self) -> object:
        """Return the client of the orchestration service."""
        return self.client("heat")

    def is_using_neutron(self) -> bool:
        """Return whether the cloud has Neutron."""
        return True

    # -- checks and decisions -----------------------------------------------------------------------------------

    def validate(self) -> Any:
        """Raise StackValidationFailed, or return a message, if the properties are invalid."""
        return None

    def translation_rules(self, props: properties.Properties) -> list[object] | None:
        """Return how property values are translated before a handler gets them."""
        return None

    def needs_replace(self, after_props: properties.Properties) -> bool:
        """Return whether the new values require a replacement."""
        return False

    def needs_replace_with_prop_diff(
        self, changed_properties_set: set[str], after_props: properties.Properties, before_props: properties.Properties
    ) -> bool:
        """Return whether a change requires a replacement although the changed properties allow an update."""
        return False

    def needs_replace_failed(self) -> bool:
        """Return whether a resource whose last action failed is replaced rather than updated."""
        return True

    def prepare_for_replace(self) -> None:
        """Release what a replacement needs before it is created; the object is kept."""

    def restore_prev_rsrc(self, convergence: bool = False) -> None:
        """Undo `prepare_for_replace`: the replacement has failed, and this object is used again."""

    def add_explicit_dependencies(self, deps: Any) -> None:
        """Add dependencies that the template does not show: `deps += (self, other)` for each resource that is needed.

        Called before any resource exists. Values that are not known yet can only be compared.
        """

    def add_dependencies(self, deps: Any) -> None:
        """As `add_explicit_dependencies`; the older name. The engine adds what the template shows itself."""

    # -- handlers: derived classes define handle_create, handle_update, … with these checks ----------------------

    def handle_delete(self) -> object:
        """Delete the object of `entity`, if there is one."""
        if self.entity is None or self.default_client_name is None or self.resource_id is None:
            return None
        try:
            getattr(self.client(), self.entity).delete(self.resource_id)
        except Exception as error:
            self.client_plugin().ignore_not_found(error)
            return None
        return self.resource_id

    def check_create_complete(self, token: Any) -> bool:
        """Return whether the object is ready; called every few seconds after `handle_create`, with its result."""
        return True

    def check_update_complete(self, token: Any) -> bool:
        """As `check_create_complete`, after `handle_update`."""
        return True

    def check_delete_complete(self, token: Any) -> bool:
        """As `check_create_complete`, after `handle_delete`."""
        return True

    def check_suspend_complete(self, token: Any) -> bool:
        """As `check_create_complete`, after `handle_suspend`."""
        return True

    def check_resume_complete(self, token: Any) -> bool:
        """As `check_create_complete`, after `handle_resume`."""
        return True

    def check_snapshot_complete(self, token: Any) -> bool:
        """As `check_create_complete`, after `handle_snapshot`."""
        return True

    def check_delete_snapshot_complete(self, token: Any) -> bool:
        """As `check_create_complete`, after `handle_delete_snapshot`."""
        return True

    def check_check_complete(self, token: Any) -> bool:
        """As `check_create_complete`, after `handle_check`."""
        return True

    def check_adopt_complete(self, token: Any) -> bool:
        """As `check_create_complete`, after `handle_adopt`."""
        return True

    def _resolve_runtime_data(self, snippet: Any) -> object:
        """Return a part of a definition with values in place of functions; those of `t` have been resolved."""
        return snippet

    def _verify_check_conditions(self, checks: list[Mapping[str, Any]]) -> None:
        """Raise Error if a value is not the expected one: maps with `attribute`, `expected` and `current`."""
        wrong = [
            f"{check['attribute']!r}: expected {check['expected']!r}, got {check['current']!r}"
            for check in checks
            if check["expected"] != check["current"]
        ]
        if wrong:
            raise exception.Error("; ".join(wrong))

    def __str__(self) -> str:
        return f"{type(self).__name__} {self.name!r} [{self.resource_id}] Stack {self.stack.name!r} [{self.stack.id}]"
