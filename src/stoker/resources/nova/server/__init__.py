"""OS::Nova::Server: its declaration, the request that builds it, its changes in place, and its replacement."""
