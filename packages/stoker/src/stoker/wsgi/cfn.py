"""The CloudFormation Query API for a WSGI server: `stoker.wsgi.cfn:application`."""

from __future__ import annotations

from stoker.processes.api_processes import query_application
from stoker.wsgi import LazyApplication

application = LazyApplication(query_application)
