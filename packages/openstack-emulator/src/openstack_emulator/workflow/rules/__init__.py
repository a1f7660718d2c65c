"""What the workflow service decides: one module for each kind of thing that it keeps."""
