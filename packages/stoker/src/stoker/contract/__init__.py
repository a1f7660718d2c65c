"""What processes ask of engines: one request class per operation, with its arguments and the type of its answer.

Both sides import this package: the API creates requests, `stoker.operations` implements them.
"""
