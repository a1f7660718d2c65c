"""Resource types and custom constraints: a folder per service, a file per type.

Each folder exports `TYPES`, the classes that its entry point in the group `stoker.resources` provides. `base` has what
types over REST share. Nothing here imports the engine or the store.
"""
