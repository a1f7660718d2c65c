"""The base class of resource types whose object is a nested stack.

A handler asks for an operation of the nested stack with `create_with_template`, `update_with_template` or
`delete_nested`. The engine carries it out when the handler has returned, and calls the handler's check when it has
ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heat.common import exception
from heat.engine import resource, template
from stoker.base.ids import arn
from stoker.plugins.resource import ChildRequest, Member

__all__ = ["StackResource"]


class StackResource(resource.Resource):
    """Override `child_template` and `child_params`; the handlers of this class use them."""

    requires_deferred_auth = True
    always_replace_on_check_failed = False
    asked: tuple[str, ChildRequest] | None = None
    """The operation that a handler has asked for; for the adapter."""
    child: Any = None
    """Reads the nested stack; for the adapter."""

    def child_template(self) -> Any:
        """Return the template of the nested stack: a map, a string, or a `heat.engine.template.Template`."""
        raise NotImplementedError(f"{type(self).__name__} lacks child_template, which handlers of StackResource need")

    def child_params(self) -> Mapping[str, Any]:
        """Return the parameters of the nested stack."""
        return {}

    # -- operations of the nested stack ---------------------------------------------------------------------------

    def create_with_template(
        self,
        child_template: Any,
        user_params: Mapping[str, Any] | None = None,
        timeout_mins: int | None = None,
        adopt_data: Any = None,
    ) -> None:
        """Ask for the creation of the nested stack; with `adopt_data`, for its adoption."""
        self._ask("CREATE" if adopt_data is None else "ADOPT", child_template, user_params, timeout_mins)

    def update_with_template(
        self, child_template: Any, user_params: Mapping[str, Any] | None = None, timeout_mins: int | None = None
    ) -> None:
        """Ask for the update of the nested stack; one that does not exist is created."""
        self._ask("UPDATE", child_template, user_params, timeout_mins)

    def delete_nested(self) -> None:
        """Ask for the deletion of the nested stack."""
        self._ask("DELETE")

    def _ask(
        self,
        action: str,
        child_template: Any = None,
        parameters: Mapping[str, Any] | None = None,
        minutes: int | None = None,
    ) -> None:
        if self.asked is not None:
            raise exception.Error("a handler can ask for one operation of the nested stack only")
        data = None if child_template is None else template.to_map(child_template)
        values = template.plain(dict(parameters or {}))
        self.asked = action, ChildRequest(data, parameters=values, timeout_minutes=minutes)

    # -- the nested stack -----------------------------------------------------------------------------------------

    def nested(self, force_reload: bool = False, show_deleted: bool = False) -> NestedStack | None:
        """Return the nested stack; None before it was created and after it was deleted."""
        if self.child is None or self.resource_id is None or not self.child.exists():
            return None
        return NestedStack(self)

    def has_nested(self) -> bool:
        """Return whether there is a nested stack."""
        return self.nested() is not None

    def nested_identifier(self) -> Identifier | None:
        """Return the place of the nested stack, with its ARN; None before it was created."""
        if self.resource_id is None:
            return None
        place = {"stack_name": self.physical_resource_name(), "stack_id": self.resource_id}
        return Identifier(self.stack.identifier() | place)

    def get_output(self, op: str) -> Any:
        """Return an output of the nested stack. Raises NotFound if it has none of this name."""
        outputs = self.child.outputs() if self.child is not None and self.resource_id is not None else {}
        if op not in outputs:
            raise exception.NotFound(f"The nested stack of {self.name} has no output {op!r}.")
        return outputs[op]

    def _resolve_attribute(self, name: str) -> Any:
        """Return the output with the name of the attribute."""
        try:
            return self.get_output(name)
        except exception.NotFound:
            raise exception.InvalidTemplateAttribute(resource=self.name, key=name) from None

    # -- handlers -------------------------------------------------------------------------------------------------

    def handle_create(self) -> Any:
        """Create the nested stack from `child_template` and `child_params`."""
        return self.create_with_template(self.child_template(), self.child_params())

    def handle_update(self, json_snippet: Any, tmpl_diff: Any, prop_diff: Any) -> Any:
        """Update the nested stack with what the new properties define."""
        self.properties = json_snippet.properties(self.properties_schema, self.context)
        return self.update_with_template(self.child_template(), self.child_params())

    def handle_delete(self) -> Any:
        """Delete the nested stack."""
        return self.delete_nested()

    def handle_suspend(self) -> Any:
        """Suspend the nested stack."""
        return self._ask("SUSPEND")

    def handle_resume(self) -> Any:
        """Resume the nested stack."""
        return self._ask("RESUME")

    def handle_check(self) -> Any:
        """Check the nested stack."""
        return self._ask("CHECK")

    def handle_adopt(self, resource_data: Any = None) -> Any:
        """Adopt the resources of the nested stack."""
        return self.create_with_template(self.child_template(), self.child_params(), adopt_data=resource_data)

    # These are called when the operation has ended; that they differ from those of Resource makes the adapter wait.

    def check_create_complete(self, token: Any = None) -> bool:
        """Return True: the nested stack is complete when this is called."""
        return True

    check_update_complete = check_delete_complete = check_suspend_complete = check_create_complete
    check_resume_complete = check_check_complete = check_adopt_complete = check_create_complete


class Identifier(dict[str, Any]):
    """The place of a stack."""

    def arn(self) -> str:
        """Return the ARN."""
        return arn(self["tenant"], self["stack_name"], self["stack_id"])


class NestedStack(Mapping[str, "NestedResource"]):
    """A nested stack, as the plug-in of its parent resource reads it: its resources by name, and its outputs."""

    def __init__(self, parent: StackResource) -> None:
        self._child = parent.child
        self.id, self.name = parent.resource_id, parent.physical_resource_name()
        self._identifier = parent.nested_identifier()

    def identifier(self) -> Identifier | None:
        """Return the stack's place."""
        return self._identifier

    def output(self, name: str) -> Any:
        """Return the value of an output; None if it has none."""
        return self._child.outputs().get(name)

    @property
    def outputs(self) -> dict[str, Output]:
        """The outputs by name."""
        return {name: Output(value) for name, value in self._child.outputs().items()}

    def __getitem__(self, name: str) -> NestedResource:
        for member in self._child.members():
            if member.name == name:
                return NestedResource(member, self._child)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter([member.name for member in self._child.members()])

    def __len__(self) -> int:
        return len(self._child.members())

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"stoker-heat-plugins does not offer `{name}` of a nested stack")


class Output:
    """An output of a nested stack."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def get_value(self) -> Any:
        """Return the value."""
        return self._value


class NestedResource:
    """A resource of a nested stack, which can be read."""

    def __init__(self, member: Member, child: Any) -> None:
        self._member, self._child = member, child
        self.name, self.resource_id = member.name, member.physical_id
        self.action, self.status = member.action, member.status

    def type(self) -> str:
        """Return the type's name in the template."""
        return self._member.type

    def has_interface(self, resource_type: str) -> bool:
        """Return whether the resource is of this type."""
        return resource_type == self._member.type

    def get_reference_id(self) -> Any:
        """Return the value of `get_resource`."""
        return self._member.reference_id

    FnGetRefId = get_reference_id

    def get_attribute(self, key: str, *path: Any) -> Any:
        """Return an attribute, or what is at the path in its value."""
        return self._child.member_attribute(self.name, (key, *path))

    FnGetAtt = get_attribute

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"stoker-heat-plugins does not offer `{name}` of a resource of a nested stack")
