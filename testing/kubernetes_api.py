"""An API server of Kubernetes for tests: objects, merge patches, subresources, finalizers and watches over HTTP.

It has what clients of custom resources rely on: objects are checked by the schema of their definition (with its rules
in CEL) and get its defaults; `generation` counts changes of `spec`; the status is changed by its subresource only; and
an object with finalizers is deleted when the last of these is removed.
"""

from __future__ import annotations

import copy
import json
import threading
import uuid
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import cel
import jsonpatch
import jsonschema
import yaml

Object = dict[str, Any]

TOKEN = "token-of-the-operator"
_JSON_PATCH, _APPLY = "application/json-patch", "application/apply-patch"
_CORE = {"secrets": "Secret", "configmaps": "ConfigMap", "events": "Event", "namespaces": "Namespace"}


class ApiProblem(Exception):
    """An answer with an error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Place:
    """What a path names: a kind of objects, and perhaps a namespace, an object and a subresource of it."""

    plural: str
    namespace: str
    name: str
    subresource: str


class KubernetesApi:
    """The server. `apply`, `delete` and `get` are what a user does with kubectl. To be used in a `with`."""

    def __init__(self, definition: Object) -> None:
        spec = definition["spec"]
        self.group, self.version = spec["group"], spec["versions"][0]["name"]
        self.plural, self.kind = spec["names"]["plural"], spec["names"]["kind"]
        self._schema = spec["versions"][0]["schema"]["openAPIV3Schema"]
        self._changed = threading.Condition()
        self._objects: dict[tuple[str, str, str], Object] = {}
        self._events: list[tuple[str, str, Object]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._closed = False
        self.apply("Namespace", "kube-system", "")

    def __enter__(self) -> KubernetesApi:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._server.shutdown()
        self._server.server_close()

    def write_kubeconfig(self, path: Path) -> None:
        """Write the file by which a client finds this server."""
        named = {"cluster": "test", "user": "test", "namespace": "default"}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "contexts": [{"name": "test", "context": named}],
            "clusters": [{"name": "test", "cluster": {"server": self.url}}],
            "users": [{"name": "test", "user": {"token": TOKEN}}],
        }
        path.write_text(yaml.safe_dump(config))

    # -- what users do -------------------------------------------------------------------------------------------

    def apply(self, kind: str, name: str, namespace: str = "shop", **content: Any) -> Object:
        """Create an object, or replace the given parts of it. Raises ApiProblem for one that is not valid."""
        plural = self.plural if kind == self.kind else next(key for key, value in _CORE.items() if value == kind)
        with self._changed:
            before = self._objects.get((plural, namespace, name))
            found = copy.deepcopy(before) if before is not None else self._new(kind, name, namespace)
            return self._put(plural, {**found, **content}, before)

    def annotate(self, name: str, key: str, value: str, namespace: str = "shop") -> None:
        """Set an annotation of an object of the custom kind."""
        self.patch(Place(self.plural, namespace, name, ""), merging({"metadata": {"annotations": {key: value}}}))

    def delete(self, name: str, namespace: str = "shop") -> None:
        """Delete an object of the custom kind, at once if it has no finalizers."""
        self.remove(Place(self.plural, namespace, name, ""))

    def get(self, name: str, namespace: str = "shop", plural: str = "") -> Object | None:
        """Return an object, of the custom kind unless `plural` says otherwise; None if there is none."""
        with self._changed:
            return copy.deepcopy(self._objects.get((plural or self.plural, namespace, name)))

    def wait_for(self, what: Callable[[], Any], seconds: float = 60.0) -> Any:
        """Return what a function returns as soon as that is true, looking at each change of an object."""
        with self._changed:
            assert self._changed.wait_for(what, seconds), "this has not come true in time"
            return what()

    # -- objects -------------------------------------------------------------------------------------------------

    def _new(self, kind: str, name: str, namespace: str) -> Object:
        version = f"{self.group}/{self.version}" if kind == self.kind else "v1"
        created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        metadata = {"name": name, "namespace": namespace, "uid": str(uuid.uuid4()), "creationTimestamp": created}
        return {"apiVersion": version, "kind": kind, "metadata": metadata}

    def _put(self, plural: str, item: Object, before: Object | None) -> Object:
        """Store an object, and tell those who watch. The lock is held."""
        if plural == self.plural:
            with_defaults(self._schema["properties"]["spec"], item["spec"])
            self._check(item, before)
        metadata = item["metadata"] = dict(item["metadata"])
        if before is None or before.get("spec") != item.get("spec"):
            metadata["generation"] = (before or {}).get("metadata", {}).get("generation", 0) + 1
        if "stringData" in item:
            encoded = {key: b64encode(value.encode()).decode() for key, value in item.pop("stringData").items()}
            item["data"] = {**item.get("data", {}), **encoded}
        metadata["resourceVersion"] = str(len(self._events) + 1)
        key = (plural, metadata["namespace"], metadata["name"])
        if metadata.get("deletionTimestamp") and not metadata.get("finalizers"):
            self._objects.pop(key, None)
            self._events.append(("DELETED", plural, item))
        else:
            self._objects[key] = item
            self._events.append(("ADDED" if before is None else "MODIFIED", plural, item))
        self._changed.notify_all()
        return copy.deepcopy(item)

    def _check(self, item: Object, before: Object | None) -> None:
        """Raise ApiProblem for an object that the definition does not allow."""
        checked = {key: item[key] for key in ("spec", "status") if key in item}
        problems = [error.message for error in jsonschema.Draft202012Validator(self._schema).iter_errors(checked)]
        for rule in self._schema["properties"]["spec"].get("x-kubernetes-validations", ()):
            old = before["spec"] if before is not None else None
            if "oldSelf" in rule["rule"] and old is None:
                continue
            if not cel.evaluate(rule["rule"], {"self": item["spec"], "oldSelf": old}):
                problems.append(rule["message"])
        if problems:
            raise ApiProblem(422, "; ".join(problems))

    def patch(self, place: Place, change: Callable[[Object], Object], *, create: bool = False) -> Object:
        """Change an object, or its status alone. Raises ApiProblem."""
        with self._changed:
            before = self._objects.get((place.plural, place.namespace, place.name))
            if before is None and not create:
                raise ApiProblem(404, f'{place.plural} "{place.name}" not found')
            base = before or self._new(_CORE[place.plural], place.name, place.namespace)
            merged: Object = change(base)
            of_status = {"status": merged.get("status", {})}
            others = {key: value for key, value in merged.items() if key != "status"}
            kept = {"status": base["status"]} if "status" in base else {}
            return self._put(place.plural, {**base, **of_status} if place.subresource else {**others, **kept}, before)

    def remove(self, place: Place) -> Object:
        """Mark an object as deleted; it is gone when it has no finalizers. Raises ApiProblem."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return self.patch(place, merging({"metadata": {"deletionTimestamp": now}}))

    def listed(self, place: Place) -> Object:
        """Return a list of objects."""
        with self._changed:
            items = [item for (plural, namespace, _), item in self._objects.items()
                     if plural == place.plural and place.namespace in ("", namespace)]  # fmt: skip
            return {"kind": "List", "metadata": {"resourceVersion": str(len(self._events))}, "items": items}

    def watched(self, place: Place, since: int) -> Iterator[Object]:
        """Yield the changes of objects since a version, until the server is closed."""
        while True:
            with self._changed:
                while not self._closed and len(self._events) <= since:
                    self._changed.wait()
                if self._closed:
                    return
                news, since = self._events[since:], len(self._events)
            for kind, plural, item in news:
                if plural == place.plural and place.namespace in ("", item["metadata"]["namespace"]):
                    yield {"type": kind, "object": item}

    def discovered(self, path: str) -> Object | None:
        """Return what a path of the discovery tells; None for other paths."""
        own = f"/apis/{self.group}/{self.version}"
        verbs = ["get", "list", "watch", "patch", "create", "delete"]

        def resource(plural: str, kind: str) -> Object:
            return {"name": plural, "singularName": plural[:-1], "kind": kind, "namespaced": True, "verbs": verbs}

        version = {"groupVersion": own.removeprefix("/apis/"), "version": self.version}
        found: dict[str, Object] = {
            "/version": {"major": "1", "minor": "34"},
            "/api": {"versions": ["v1"]},
            "/apis": {"groups": [{"name": self.group, "versions": [version], "preferredVersion": version}]},
            "/api/v1": {"resources": [resource(plural, kind) for plural, kind in _CORE.items()]},
            own: {"resources": [resource(self.plural, self.kind), resource(f"{self.plural}/status", self.kind)]},
        }
        return found.get(path)


def merge(target: Any, change: Any) -> Any:
    """Return the result of a merge patch (RFC 7396)."""
    if not isinstance(change, dict):
        return change
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in change.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def merging(change: Object) -> Callable[[Object], Object]:
    """Return what applies a merge patch."""
    return lambda target: dict(merge(target, change))


def with_defaults(schema: Mapping[str, Any], value: Object) -> None:
    """Set the defaults that a schema declares."""
    for key, declared in schema.get("properties", {}).items():
        if key not in value and "default" in declared:
            value[key] = copy.deepcopy(declared["default"])


def _handler(api: KubernetesApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Keep the output of tests clean."""

        def do_GET(self) -> None:
            query = dict(parse_qsl(urlsplit(self.path).query))
            place = self._place()
            if query.get("watch") in ("true", "1"):
                self._stream(api.watched(place, int(query.get("resourceVersion") or 0)))
            elif (reported := api.discovered(urlsplit(self.path).path)) is not None:
                self._answer(lambda: reported)
            elif place.name:
                self._answer(lambda: self._found(place))
            else:
                self._answer(lambda: api.listed(place))

        def do_PATCH(self) -> None:
            body, kind = self._body(), self.headers["Content-Type"].partition("+")[0]
            change = partial(jsonpatch.apply_patch, patch=body) if kind == _JSON_PATCH else merging(body)
            self._answer(lambda: api.patch(self._place(), change, create=kind == _APPLY))

        def do_POST(self) -> None:
            self._body()
            self._answer(dict, 201)  # events of the operator, which nobody reads

        def _found(self, place: Place) -> Object:
            found = api.get(place.name, place.namespace, place.plural)
            if found is None:
                raise ApiProblem(404, f'{place.plural} "{place.name}" not found')
            return found

        def _body(self) -> Any:
            body: Any = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            return body

        def _place(self) -> Place:
            parts = urlsplit(self.path).path.strip("/").split("/")
            parts = parts[2:] if parts[0] == "api" else parts[3:]
            namespace = parts[1] if len(parts) > 2 and parts[0] == "namespaces" else ""
            parts = parts[2:] if namespace else parts
            plural, name, subresource = [*parts, "", "", ""][:3]
            return Place(plural, namespace, name, subresource)

        def _answer(self, make: Callable[[], Object], status: int = 200) -> None:
            try:
                if self.headers["Authorization"] != f"Bearer {TOKEN}":
                    raise ApiProblem(401, "Unauthorized")
                body = make()
            except ApiProblem as error:
                status = error.status
                body = {"kind": "Status", "status": "Failure", "code": status, "message": str(error)}
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, changes: Iterator[Object]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            try:
                for change in changes:
                    self.wfile.write(json.dumps(change).encode() + b"\n")
                    self.wfile.flush()
            except OSError:
                return  # the client has gone

    return Handler
