"""OpenStack's REST APIs, called with one credential: login, endpoints, retries, and interpretation of errors.

From the bottom up: `settings` and `credentials` are plain data, `services` and `finders` are tables, `errors`
interprets error responses, `transport` sends one request, `login` holds a token, `session` is the interface for other
packages, `auth` opens sessions. Nothing here depends on resource types, templates or the engine.
"""
