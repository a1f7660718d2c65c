"""Output on a terminal: lines, tables, styles, formats for programs, and errors of commands."""
