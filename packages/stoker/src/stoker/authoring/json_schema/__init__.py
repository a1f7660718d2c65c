"""JSON Schemas (draft-07) of templates and environments, generated from the declarations, for editors.

A schema accepts every valid document. It finds what the form of a document shows: unknown sections, keys, properties
and functions, values of the wrong type, missing properties. The linter finds more, since it also knows references, the
template's version, nested templates and environments.
"""
