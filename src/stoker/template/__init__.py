"""The template language: text, document, template, definition.

`Document` reads a text and knows where each value stands; `Template` is its checked structure with compiled
expressions, shared by all stacks that use it; `Environment` says what parameters and types mean for one stack;
`Definition` binds the three together, and `check` holds a definition against the resource types' schemas.

Everything here is pure: no I/O, no knowledge of the engine or the store.
"""
