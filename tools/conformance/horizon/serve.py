"""Serve Horizon on a free port of the loopback address, and print its URL. Runs among Horizon's packages."""

import os
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIServer, make_server

from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.core.wsgi import get_wsgi_application


class Server(ThreadingMixIn, WSGIServer):
    """A request a thread, as browsers ask for several things at once."""

    daemon_threads = True


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openstack_dashboard.settings")
server = make_server("127.0.0.1", 0, StaticFilesHandler(get_wsgi_application()), server_class=Server)
print(f"http://127.0.0.1:{server.server_port}/", flush=True)
server.serve_forever()
