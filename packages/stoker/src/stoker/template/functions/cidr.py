"""Fn::Cidr: subnets of an address block."""

from __future__ import annotations

from ipaddress import ip_network
from itertools import islice
from typing import Any

from stoker.template.expressions import Evaluation, items_of
from stoker.template.functions.base import Function, to_index, variant

_MOST_BLOCKS = 256


@variant("Fn::Cidr/1")
class FnCidr(Function):
    """The first subnets of an address block; takes the block, how many, and the number of bits for their hosts."""

    __slots__ = ()

    def problem(self, arguments: object) -> str | None:
        items = items_of(arguments)
        if items is None or len(items) != 3:
            return "takes a list of three: an address block, a count and the number of host bits"
        return None

    def apply(self, arguments: Any, evaluation: Evaluation) -> object:
        block, count, bits = arguments[0], to_index(arguments[1]), to_index(arguments[2])
        if count is None or not 1 <= count <= _MOST_BLOCKS:
            raise self.wrong(f"the count must be an integer from 1 to {_MOST_BLOCKS}, not {arguments[1]!r}")
        if not isinstance(block, str):
            raise self.wrong_type("the address block must be a string")
        try:
            network = ip_network(block, strict=False)
        except ValueError as error:
            raise self.wrong(f"{block!r} is not an address block in CIDR notation") from error
        if bits is None or not 1 <= bits <= network.max_prefixlen:
            raise self.wrong(
                f"the number of host bits must be an integer from 1 to {network.max_prefixlen}, not {arguments[2]!r}"
            )
        prefix = network.max_prefixlen - bits
        if prefix < network.prefixlen or 2 ** (prefix - network.prefixlen) < count:
            raise self.wrong(f"{block} has no room for {count} blocks with {bits} host bits")
        return [str(subnet) for subnet in islice(network.subnets(new_prefix=prefix), count)]
