"""Generate the page about the items of price lists, from their table and the types' declarations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from stoker.plugins.live_values import has_object
from stoker.plugins.pricing import ITEMS, Item
from stoker.plugins.registry import Registry
from stoker_reference.markdown import code, page, section, table


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path and content of the page."""
    types = Registry.from_entry_points().types
    charged, others = defaultdict[Item, list[str]](list), list[str]()
    for name, kind in sorted(types.items()):
        for item in {charge.item for charge in kind.charges}:
            charged[item].append(name)
        if has_object(kind) and not kind.charges:
            others.append(name)
    rows = [
        [code(item.value), text.unit, text.names or "none", ", ".join(map(code, charged[item]))]
        for item, text in ITEMS.items()
    ]
    yield (
        "prices.md",
        page(
            "Items of price lists",
            "[](../how-to/costs.md) describes price lists, and the costs of plans.",
            section("Items", table(["Item", "One unit", "Names", "Types"], rows)),
            section(
                "Types with a price of their own",
                "An object of one of these types needs a price in the section `types`, for its type or for the "
                "beginning of the type's name. Without one, plans say that it has no price.\n\n"
                + "\n".join(f"- {code(name)}" for name in others),
            ),
        ),
    )
