"""The processes of Stoker, assembled from configuration: engines, APIs, and an embedded Stoker."""
