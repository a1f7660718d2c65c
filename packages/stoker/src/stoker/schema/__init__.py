"""Declarations of properties, attributes and parameters: the values they accept, and the effect of a change.

Pure data and pure checks: nothing here calls a service or depends on templates.
"""
