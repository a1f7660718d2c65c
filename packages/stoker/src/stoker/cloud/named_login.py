"""Sessions of keystoneauth with the login of an entry of clouds.yaml or of `OS_*` variables."""

from __future__ import annotations

from typing import Any

from keystoneauth1 import loading, session
from keystoneauth1.exceptions import MissingRequiredOptions, NoMatchingPlugin

from stoker.base.errors import Invalid
from stoker.cloud.clouds_yaml import NamedCloud


def session_of(cloud: NamedCloud) -> session.Session:
    """Return a session with the login of a cloud. Raises Invalid when the credentials are not complete."""
    loader = plugin_loader(cloud.auth_type)
    known = {option.dest for option in loader.get_options()}
    try:
        plugin = loader.load_from_options(**{name: value for name, value in cloud.auth.items() if name in known})
    except (MissingRequiredOptions, TypeError) as error:  # TypeError: some plug-ins do not declare what they require
        raise Invalid(f"The credentials are not complete: {error}.") from error
    return session.Session(auth=plugin, verify=not cloud.insecure and (cloud.ca_file or True), app_name="stoker")


def plugin_loader(auth_type: str) -> Any:
    """Return keystoneauth's loader of a plug-in. Raises Invalid when there is none of this name."""
    try:
        return loading.get_plugin_loader(auth_type)
    except NoMatchingPlugin:
        raise Invalid(f"There is no authentication plug-in {auth_type!r} (auth_type or OS_AUTH_TYPE).") from None
