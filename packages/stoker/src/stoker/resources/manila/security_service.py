"""OS::Manila::SecurityService"""

from __future__ import annotations

from stoker.resources.base import Collection, RestResource
from stoker.resources.declare import one_of
from stoker.schema.live import never
from stoker.schema.property import Change, Property, Support


class SecurityService(RestResource):
    """A directory of users."""

    type_name = "OS::Manila::SecurityService"
    description = "A directory service, by which shares in a share network identify users."
    collection = Collection(
        "manila",
        "/security-services",
        "security_service",
        "security_services",
        list_path="/security-services/detail",
        owner=None,
    )
    kept_after_failure = True
    support = Support(version="5.0.0")

    properties = {
        "name": Property(description="Name of the security service.", change=Change.UPDATE),
        "type": Property(
            description="Kind of directory.", required=True, constraints=one_of("ldap", "kerberos", "active_directory")
        ),
        "dns_ip": Property(description="Address of the DNS server in the share network.", change=Change.UPDATE),
        "server": Property(description="Name or address of the directory's server.", change=Change.UPDATE),
        "domain": Property(description="Domain of the directory.", change=Change.UPDATE),
        "user": Property(description="User or group that share servers authenticate as.", change=Change.UPDATE),
        "password": Property(
            description="Password of the user.",
            change=Change.UPDATE,
            secret=True,
            live=never("the service does not show passwords"),
        ),
        "description": Property(description="Description of the security service.", change=Change.UPDATE),
    }
