"""What the identity service decides: one module for each kind of thing that it keeps."""
