"""The contracts that resource types and other extensions implement, and how they are found.

Our own resource types come through the same door as third-party ones: entry points in the group
`stoker.resources`. Nothing here knows the engine, the store or a template.
"""
