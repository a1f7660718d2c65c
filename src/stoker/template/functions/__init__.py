"""The functions of the template language: one small module each, or one for a closely related pair.

A function is a class with an argument shape, a check of it and an evaluation. `@variant("list_join/2")` puts it
into the table `VARIANTS`; which template version calls it by which name is said in `stoker.template.versions`.
"""
