"""The Orchestration API for a WSGI server: `stoker.wsgi.api:application`."""

from __future__ import annotations

from stoker.processes.api_processes import rest_application
from stoker.wsgi import LazyApplication

application = LazyApplication(rest_application)
