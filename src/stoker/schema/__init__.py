"""Declarations of properties, attributes and parameters, what they accept and what a change to one means.

Pure data and pure checks: nothing here calls a service or knows a template.
"""
