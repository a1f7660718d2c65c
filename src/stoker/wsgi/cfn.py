"""The CloudFormation Query API for a WSGI server: `stoker.wsgi.cfn:application`."""

from __future__ import annotations

from stoker.processes.faces import query_application
from stoker.wsgi import Face

application = Face(query_application)
