"""The template formats of HOT, from which formats of plug-ins derive.

Derive from one of the classes, with other `functions` or `condition_functions`: names in templates, with classes of
functions; None removes one.
"""

from stoker_heat_plugins.format_classes import TemplateFormat


class HOTemplate20130523(TemplateFormat, value="2013-05-23"):
    """The format of 2013-05-23."""


class HOTemplate20141016(TemplateFormat, value="2014-10-16"):
    """The format of 2014-10-16."""


class HOTemplate20150430(TemplateFormat, value="2015-04-30"):
    """The format of 2015-04-30."""


class HOTemplate20151015(TemplateFormat, value="2015-10-15"):
    """The format of 2015-10-15."""


class HOTemplate20160408(TemplateFormat, value="2016-04-08"):
    """The format of 2016-04-08."""


class HOTemplate20161014(TemplateFormat, value="2016-10-14"):
    """The format of 2016-10-14."""


class HOTemplate20170224(TemplateFormat, value="2017-02-24"):
    """The format of 2017-02-24."""


class HOTemplate20170901(TemplateFormat, value="2017-09-01"):
    """The format of 2017-09-01."""


class HOTemplate20180302(TemplateFormat, value="2018-03-02"):
    """The format of 2018-03-02."""


class HOTemplate20180831(TemplateFormat, value="2018-08-31"):
    """The format of 2018-08-31."""


class HOTemplate20210416(TemplateFormat, value="2021-04-16"):
    """The format of 2021-04-16."""
