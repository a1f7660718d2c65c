"""The values of options of `stoker up` about the emulated cloud, checked by the emulator's own rules."""

from __future__ import annotations

import click

NOWHERE = "none"
"""The value of `--allow-requests-to` that takes back the previous ones."""
MOST_PACE = 1000.0
"""The largest value of `--pace`."""


def chosen_services(context: click.Context, option: click.Parameter, text: str) -> tuple[str, ...]:
    """Return the names of services in `text`, which are separated by commas. Raises BadParameter for unknown ones."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        return ()
    from openstack_emulator.services import chosen

    try:
        chosen(names)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    return names


def guest_drivers(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values of `--guests`. Raises BadParameter for drivers that do not exist."""
    if not values:
        return ()
    from openstack_emulator.core.guests.selection import parsed

    try:
        parsed(values)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    return values


def permitted_addresses(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values of `--allow-requests-to`. Raises BadParameter for what is no address or network."""
    if not values or values == (NOWHERE,):
        return values
    from openstack_emulator.core.outgoing import PermittedAddresses

    try:
        for value in values:
            PermittedAddresses.parse(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    return values
