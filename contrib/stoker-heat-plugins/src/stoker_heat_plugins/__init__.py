"""Plug-ins that were written for Heat, as plug-ins of Stoker.

`loading` finds the modules and entry points, `resource_type` turns a class of Heat's interface into a resource type,
`performance` runs its handlers on threads, and records what they set before they continue.
"""
