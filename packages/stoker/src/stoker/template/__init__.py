"""The template language: document, template, environment, definition.

`Document` parses YAML or JSON and records the position of each value. `Template` is its checked structure with compiled
expressions, shared by all stacks that use it. `Environment` gives parameter values and type mappings for one stack.
`Definition` binds the three together, and `check` validates a definition against the resource types' schemas.

Everything here is pure: no I/O, no knowledge of the engine or the store.
"""
