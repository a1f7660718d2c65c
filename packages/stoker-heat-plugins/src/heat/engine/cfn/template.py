"""The template formats of CloudFormation, from which formats of plug-ins derive; see `heat.engine.hot.template`."""

from stoker_heat_plugins.format_classes import TemplateFormat


class CfnTemplate(TemplateFormat, value="2010-09-09"):
    """The format of 2010-09-09."""


class HeatTemplate(TemplateFormat, value="2012-12-12"):
    """The format of 2012-12-12."""
