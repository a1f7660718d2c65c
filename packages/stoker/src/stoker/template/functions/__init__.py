"""The functions of the template language: one module for each, or for closely related ones.

A function is a class with a check of its arguments' shape and an evaluation. `@variant("list_join/2")` names the
variant that it implements; `stoker.template.versions` states which version calls it by which name. Packages offer
further functions by entry points in the group `stoker.template_functions`.
"""
