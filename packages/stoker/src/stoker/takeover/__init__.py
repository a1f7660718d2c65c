"""Take over the stacks of a running Heat: read its database, and record its stacks here under the same IDs.

Nothing here calls a service. `heat` reads Heat's rows, `decoding` decrypts their values, `mapping` makes the records of
one tree of stacks (`mapped`): their `definitions`, `resources`, `snapshots`, and where Heat's values and the template's
are in `agreement`. `writing` makes the changes of the database, `copying` stores tree by tree, and `documents` writes
adopt data.
"""
