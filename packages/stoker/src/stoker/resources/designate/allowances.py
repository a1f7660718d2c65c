"""What zones take of Designate's quotas. Record sets are not counted: their quota is that of each zone."""

from __future__ import annotations

from stoker.plugins.preflight import Consumption, Quota, counted

_read = counted("designate", "/v2/quotas/{project}", "", {"zones": ("/v2/zones", "zones")})

ZONE = (Consumption(Quota("designate", "zones", "zones", _read("zones"))),)
