"""Create a stack from the document of another one: `adopt_stack_data`.

Hidden values of a document are sealed with the key of the installation that made it, which can restore the stack
completely. Another installation cannot open them, so hidden parameters must be given again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, NotSupported, StokerError
from stoker.base.redaction import REDACTED
from stoker.contract.stacks import NewStack
from stoker.engine.inspection.export import Document
from stoker.engine.records.services import EngineServices

SEALED_FOR = "adoption"
"""Domain of the key: distinguishes the sealed part of a document from other sealed data."""


def adopted_request(services: EngineServices, context: RequestContext, request: NewStack) -> NewStack:
    """Return the request to create a stack from `adopt_stack_data` and the other fields of the request.

    The given fields override those of the document; the template is that of the document. Raises NotSupported if
    adoption is disabled, BadValue for an unusable document.
    """
    require_option(services.settings.enable_stack_adopt, "Stack adoption", "enable_stack_adopt")
    data = _unsealed(services, context, _checked(request.adopt_stack_data or {}))
    requested = request.environment or {}
    if not isinstance(requested, Mapping) or request.environment_files:
        raise BadValue("Adoption requires the environment as a map; `environment_files` is not supported.")
    environment = _overridden(data.get("environment") or {}, requested)
    parameters = {**(environment.pop("parameters", None) or {}), **(request.parameters or {})}
    return replace(
        request,
        template=data.get("template") or request.template,
        environment=environment,
        files={**(data.get("files") or {}), **(request.files or {})},
        parameters=parameters,
        tags=request.tags if request.tags is not None else data.get("tags"),
        adopt_stack_data=_without_redacted(data.get("resources") or {}),
    )


def _overridden(environment: Mapping[str, object], requested: Mapping[str, object]) -> dict[str, Any]:
    """Return the document's environment, overridden by the given one section by section."""
    merged = dict(environment)
    for section, value in requested.items():
        before = merged.get(section)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            merged[section] = {**before, **value}
        else:
            merged[section] = value
    return merged


def _checked(data: Mapping[str, object]) -> Mapping[str, Any]:
    for key in ("environment", "files", "resources"):
        if not isinstance(data.get(key) or {}, Mapping):
            raise BadValue(f"adopt_stack_data: {key} must be a map.")
    for path, entry in _entries(data.get("resources") or {}, ()):
        if not isinstance(entry, Mapping):
            raise BadValue(f"adopt_stack_data: the entry of resource {'.'.join(path)} must be a map.")
        for key, kind in (("resource_id", str), ("resource_data", Mapping), ("metadata", Mapping)):
            if entry.get(key) is not None and not isinstance(entry[key], kind):
                raise BadValue(f"adopt_stack_data: {key} of resource {'.'.join(path)} has the wrong type.")
    return data


def _entries(resources: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not isinstance(resources, Mapping):
        raise BadValue(f"adopt_stack_data: resources of {'.'.join(path) or 'the stack'} must be a map.")
    for name, entry in resources.items():
        yield (*path, str(name)), entry
        if isinstance(entry, Mapping) and entry.get("resources"):
            yield from _entries(entry["resources"], (*path, str(name)))


def _unsealed(services: EngineServices, context: RequestContext, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the document with its sealed values restored, if this installation sealed them for this project."""
    if not isinstance(data.get("sealed"), str):
        return data
    try:
        sealed = services.sealer.open(data["sealed"])
    except StokerError:
        return data
    if not isinstance(sealed, dict) or sealed.get("for") != SEALED_FOR:
        return data
    if sealed.get("project_id") != context.project_id:
        raise BadValue("adopt_stack_data belongs to a stack of another project; its sealed values cannot be used here.")
    plain = {key: value for key, value in data.items() if key != "sealed"}
    return Document(plain, [(tuple(place), value) for place, value in sealed["hidden"]]).whole()


def _without_redacted(value: object) -> Any:
    """Return data of resources without the redacted values that could not be unsealed."""
    if isinstance(value, Mapping):
        return {key: _without_redacted(item) for key, item in value.items() if item != REDACTED}
    return [_without_redacted(item) for item in value] if isinstance(value, list) else value


def require_option(enabled: bool, what: str, option: str) -> None:
    if not enabled:
        raise NotSupported(f"{what} is not supported: the operator has not set {option}.")
