"""A Kubernetes operator: each object of the kind Stack is a stack of Stoker, which is kept as the object says."""
