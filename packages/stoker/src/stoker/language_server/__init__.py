"""A server of the Language Server Protocol (LSP 3.17) for templates and environments.

`outline` reads documents that are being typed, `names` finds what they declare and refer to, `project` keeps open
documents and what the linter reports about them, and the other modules answer the requests of editors. Only `server`
knows the protocol's library; nothing here is imported by other commands.
"""
