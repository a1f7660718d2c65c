"""A server of the Model Context Protocol: programs with language models look at stacks, write templates, plan, and
apply what people have approved."""
