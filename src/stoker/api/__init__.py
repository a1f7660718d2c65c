"""The faces of Stoker over HTTP. They check, call an engine through `stoker.rpc`, and render; they hold no state."""
