"""The contracts that resource types and other extensions implement, and how they are found.

The built-in resource types are found in the same way as third-party ones: by entry points in the group
`stoker.resources`. Nothing here depends on the engine, the store or templates.
"""
