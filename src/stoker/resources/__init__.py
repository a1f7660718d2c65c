"""Resource types and custom constraints: a folder per service, a file per type.

Each folder offers `TYPES`, the classes that its entry point in the group `stoker.resources` yields. `base` has what
types over REST share. Nothing here knows the engine or the store.
"""
