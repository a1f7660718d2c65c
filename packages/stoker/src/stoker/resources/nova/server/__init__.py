"""OS::Nova::Server: its schema, its creation, its updates in place, and its replacement."""
