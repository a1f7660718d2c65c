"""Take over the stacks of a running Heat: read its database, and record its stacks here under the same IDs.

Nothing here calls a service. `heat` reads Heat's rows, `decoding` decrypts their values, `mapping` makes the records of
one tree of stacks, `copying` stores them, `plan` describes what can be taken over, and `documents` writes adopt data.
"""
