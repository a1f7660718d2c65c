"""Resource types and custom constraints: a folder per service, a file per type.

Each folder exports `TYPES`, the table of classes that its entry point in the group `stoker.resources` provides; a class
is imported when its type is used. `base` has what types over REST share. Nothing here imports the engine or the store.
"""
