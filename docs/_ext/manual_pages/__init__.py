"""Generate the manual pages (`man stoker`) from the declarations of the programs' commands and options."""
