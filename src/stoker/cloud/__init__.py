"""OpenStack's REST APIs on behalf of one credential: who calls, where, how often, and what an error means.

Read from the bottom up: `settings` and `credentials` are plain data, `services` and `finders` are tables, `errors`
understands what services say, `transport` sends one request, `login` holds a token, `session` is what everyone else
uses, `auth` opens sessions. Nothing here knows a resource type, a template or the engine.
"""
