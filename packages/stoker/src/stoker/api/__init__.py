"""The HTTP APIs of Stoker: they check requests, call an engine through `stoker.rpc`, and render; they are stateless."""
