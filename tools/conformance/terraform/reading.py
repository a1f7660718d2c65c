"""Read a directory with a configuration of Terraform: the objects with their arguments, in an order to make them in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hcl2
from lark import Tree

from testing.terraform.applying import REFERENCE
from tools.conformance.terraform.expressions import NotKnown, evaluate, text_of

Fields = dict[str, Any]
_MAPS = frozenset({"metadata", "extra_specs", "labels", "specs", "value_specs", "properties", "insert_headers"})
"""Arguments that are maps, which old configurations have as blocks."""
_OF_THE_LANGUAGE = frozenset(
    [
        "connection",
        "count",
        "depends_on",
        "for_each",
        "lifecycle",
        "provider",
        "provisioner",
        "region",
        "timeouts",
        "vendor_options",
    ]
)
"""What a resource has beside the arguments that its object is made of."""
_LARGEST_DEPTH = 5


@dataclass(slots=True)
class Block:
    """A block: its kind with labels, its arguments as trees, and the blocks in it."""

    kind: str
    labels: tuple[str, ...]
    arguments: dict[str, Any]
    blocks: list[Block]


@dataclass(slots=True)
class Instance(Mapping[str, Any]):
    """An object. What its arguments say is known; other attributes are references to it."""

    address: str
    arguments: Fields = field(default_factory=dict)
    is_openstack: bool = True
    after: frozenset[str] = frozenset()

    def __getitem__(self, name: str) -> Any:
        value = self.arguments.get(name)
        if value is not None and not isinstance(value, list):
            return value
        return f"${{{self.address}.{name}}}" if self.is_openstack else f"{name} of {self.address}"

    def __iter__(self) -> Iterator[str]:
        return iter(self.arguments)

    def __len__(self) -> int:
        return len(self.arguments)


def read_configuration(directory: Path) -> Fields:
    """Return a configuration, as `configurations.yaml` has them. Raises NotKnown, and OSError."""
    module = _Module(directory, "", {}, 0)
    module.read()
    found = [each for each in module.all_instances() if each.is_openstack or not _is_data(each)]
    return {
        "title": directory.name,
        "resources": _ordered({each.address: each for each in found}),
        "unsupported": [each.address for each in found if not each.is_openstack],
    }


def last_servers(resources: Mapping[str, Fields]) -> dict[str, Fields]:
    """Return the objects in an order to make them in, as their references say; servers after what need not wait.

    Raises NotKnown for a circular dependency.
    """
    return _ordered({address: Instance(address, fields) for address, fields in resources.items()})


class _Module:
    """One module: evaluated where it is called, with the values of its variables."""

    def __init__(self, directory: Path, prefix: str, variables: Fields, depth: int) -> None:
        if depth > _LARGEST_DEPTH:
            raise NotKnown(f"the module {prefix} is too deep")
        self._directory, self._prefix, self._depth = directory, prefix, depth
        files = sorted(directory.glob("*.tf"))
        if not files:
            raise NotKnown(f"the directory {directory} has no file *.tf")
        self._blocks = [each for file in files for each in _read(file).blocks]
        values = [arg for file in sorted(directory.glob("*.tfvars")) for arg in _read(file).arguments.items()]
        self._values = {**{name: evaluate(tree, {}) for name, tree in values}, **variables}
        self._variables = _Lazy(self._variable)
        self._locals = _Lazy(self._local)
        self._modules = _Lazy(self._module)
        self._made: dict[tuple[str, str, str], Any] = {}
        self._inner: dict[str, Any] = {}

    def read(self) -> None:
        """Evaluate all resources, and the modules that are called."""
        for block in self._blocks:
            if block.kind in ("resource", "data"):
                self._objects(block.kind, *block.labels)
            elif block.kind == "module":
                self._module(block.labels[0])

    def all_instances(self) -> Iterator[Instance]:
        """Yield the objects of this module and of those in it."""
        for made in self._made.values():
            yield from _instances(made)
        for inner in self._inner.values():
            for each in inner.values() if isinstance(inner, dict) else inner if isinstance(inner, list) else [inner]:
                yield from each.all_instances()

    def outputs(self) -> Mapping[str, Any]:
        """Return the outputs, which are evaluated when they are used."""
        return _Lazy(lambda name: evaluate(self._find("output", name).arguments["value"], self._scope()))

    def _scope(self, **more: Any) -> dict[str, Any]:
        types = {block.labels[0] for block in self._blocks if block.kind == "resource"}
        return {
            **{kind: _Lazy(lambda name, kind=kind: self._objects("resource", kind, name)) for kind in types},
            "data": _Lazy(lambda kind: _Lazy(lambda name: self._objects("data", kind, name))),
            "var": self._variables,
            "local": self._locals,
            "module": self._modules,
            "path": {"module": ".", "root": ".", "cwd": "."},
            "terraform": {"workspace": "default"},
            **more,
        }

    def _find(self, kind: str, *labels: str) -> Block:
        for block in self._blocks:
            if block.kind == kind and block.labels == labels:
                return block
        raise NotKnown(f"there is no {' '.join((kind, *labels))}")

    def _variable(self, name: str) -> Any:
        if name in self._values:
            return self._values[name]
        default = self._find("variable", name).arguments.get("default")
        if default is None:
            raise NotKnown(f"the variable {name} has no value")
        return evaluate(default, {})

    def _local(self, name: str) -> Any:
        for block in self._blocks:
            if block.kind == "locals" and name in block.arguments:
                return evaluate(block.arguments[name], self._scope())
        raise NotKnown(f"there is no local value {name}")

    def _module(self, name: str) -> Any:
        if name not in self._inner:
            block = self._find("module", name)
            source = str(evaluate(block.arguments["source"], {}))
            inner = self._repeated(block, lambda scope, key: self._call(block, source, f"module.{name}{key}", scope))
            self._inner[name] = inner
        inner = self._inner[name]
        if isinstance(inner, dict):
            return {key: each.outputs() for key, each in inner.items()}
        return [each.outputs() for each in inner] if isinstance(inner, list) else inner.outputs()

    def _call(self, block: Block, source: str, name: str, scope: Mapping[str, Any]) -> _Module:
        variables = {
            argument: evaluate(tree, scope)
            for argument, tree in block.arguments.items()
            if argument not in (*_OF_THE_LANGUAGE, "source", "version", "providers")
        }
        module = _Module(self._directory / source, f"{self._prefix}{name}.", variables, self._depth + 1)
        module.read()
        return module

    def _objects(self, kind: str, of_type: str, name: str) -> Any:
        """Return the object of a resource or a data source; a list or a map of them for `count` and `for_each`."""
        place = (kind, of_type, name)
        if place not in self._made:
            block = self._find(*place)
            begins = f"{'data.' if kind == 'data' else ''}{self._prefix}{of_type}.{name}"
            openstack = of_type.startswith("openstack_")
            self._made[place] = self._repeated(
                block,
                lambda scope, key: Instance(
                    f"{begins}{key}", self._arguments(block, scope) if openstack else {}, openstack, self._after(block)
                ),
            )
        return self._made[place]

    def _after(self, block: Block) -> frozenset[str]:
        """Return the addresses of the resources in `depends_on`."""
        tree = block.arguments.get("depends_on")
        named = re.findall(r"(?<![\w.])(openstack_\w+\.[\w-]+)", _label(tree)) if tree is not None else []
        return frozenset(f"{self._prefix}{each}" for each in named)

    def _repeated(self, block: Block, make: Any) -> Any:
        if "count" in block.arguments:
            number = int(evaluate(block.arguments["count"], self._scope()))
            return [make(self._scope(count={"index": index}), f"[{index}]") for index in range(number)]
        if "for_each" in block.arguments:
            instances = evaluate(block.arguments["for_each"], self._scope())
            items = instances.items() if isinstance(instances, Mapping) else ((each, each) for each in instances)
            return {
                key: make(self._scope(each={"key": key, "value": value}), f'["{key}"]') for key, value in sorted(items)
            }
        return make(self._scope(), "")

    def _arguments(self, block: Block, scope: Mapping[str, Any]) -> Fields:
        found: Fields = {}
        for name, tree in block.arguments.items():
            if name not in _OF_THE_LANGUAGE:
                value = evaluate(tree, scope)
                if value is not None:
                    found[name] = _plain(value)
        for inner in block.blocks:
            for name, arguments in self._inside(inner, scope) if inner.kind not in _OF_THE_LANGUAGE else ():
                if name in _MAPS:
                    found.setdefault(name, {}).update({key: text_of(each) for key, each in arguments.items()})
                else:
                    found.setdefault(name, []).append(arguments)
        return found

    def _inside(self, block: Block, scope: Mapping[str, Any]) -> Iterator[tuple[str, Fields]]:
        """Yield the blocks in a resource: one, or what `dynamic` says."""
        if block.kind != "dynamic":
            yield block.kind, self._arguments(block, scope)
            return
        content = next(each for each in block.blocks if each.kind == "content")
        instances = evaluate(block.arguments["for_each"], scope)
        pairs = list(instances.items()) if isinstance(instances, Mapping) else list(enumerate(instances or []))
        iterator = block.arguments.get("iterator")
        name = "".join(map(str, iterator.scan_values(lambda _: True))) if iterator is not None else block.labels[0]
        for key, value in pairs:
            yield block.labels[0], self._arguments(content, {**scope, name: {"key": key, "value": value}})


class _Lazy(Mapping[str, Any]):
    """Values by name, each evaluated when it is used first."""

    def __init__(self, value_of: Any) -> None:
        self._value_of = value_of
        self._values: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            self._values[name] = self._value_of(name)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def _read(file: Path) -> Block:
    text = file.read_text("utf-8")
    try:
        tree = hcl2.parses_to_tree(text if text.endswith("\n") else text + "\n")
    except Exception as error:
        raise NotKnown(f"{file} cannot be read: {str(error).splitlines()[0]}") from None
    return _block(tree.children[0], "", ())


def _block(body: Any, kind: str, labels: tuple[str, ...]) -> Block:
    block = Block(kind, labels, {}, [])
    for each in body.children:
        if not isinstance(each, Tree):
            continue
        if each.data == "attribute":
            name, value = (part for part in each.children if isinstance(part, Tree))
            block.arguments[_label(name)] = value
        elif each.data == "block":
            trees = [part for part in each.children if isinstance(part, Tree) and part.data != "new_line_or_comment"]
            names = [_label(part) for part in trees[:-1]]
            block.blocks.append(_block(trees[-1], names[0], tuple(names[1:])))
    return block


def _label(node: Any) -> str:
    return "".join(str(token) for token in node.scan_values(lambda _: True)).strip('"')


def _instances(made: Any) -> Iterator[Instance]:
    if isinstance(made, Instance):
        yield made
    else:
        yield from made.values() if isinstance(made, dict) else made


def _is_data(instance: Instance) -> bool:
    return instance.address.startswith("data.")


def _plain(value: Any) -> Any:
    if isinstance(value, Instance):
        return value["id"]
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _ordered(objects: Mapping[str, Instance]) -> dict[str, Fields]:
    """Return the arguments by address, each after those that it refers to. Raises NotKnown for circular references."""
    done: dict[str, Fields] = {}
    waiting = {address: _needed(each) for address, each in objects.items()}
    while waiting:
        able = [address for address, needed in waiting.items() if not _blocked(needed - {address}, waiting)]
        if not able:
            raise NotKnown(f"{', '.join(waiting)} refer to each other")
        early = [address for address in able if "compute_instance" not in address]
        for address in early or able:
            done[address] = objects[address].arguments
            del waiting[address]
    return done


def _blocked(needed: set[str], waiting: Mapping[str, Any]) -> bool:
    """Return whether one of the needed resources waits: an object, or one of those of `count` or `for_each`."""
    return any(each in waiting or any(one.startswith(f"{each}[") for one in waiting) for each in needed)


def _needed(instance: Instance) -> set[str]:
    return {*(match[0] for match in REFERENCE.findall(str(instance.arguments))), *instance.after}
