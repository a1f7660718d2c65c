"""The built-in HTTP server: an event loop parses requests, threads run the WSGI application on complete ones."""
