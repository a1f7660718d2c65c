"""get_file: the content of a file in the request."""

from __future__ import annotations

from stoker.template.expressions import Evaluation, FunctionError
from stoker.template.functions.base import Function, variant
from stoker.template.problems import suggestion


@variant("get_file/1")
class GetFile(Function):
    """A function for including a file inline."""  # the public test suite of the API compares this description

    __slots__ = ()

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        if not isinstance(arguments, str):
            raise self.wrong_type("takes the name of a file")
        files = evaluation.binding.files
        if arguments not in files:
            message = f"{self.name}: the request contains no file {arguments!r}"
            raise FunctionError(message, hint=suggestion(arguments, files))
        return files[arguments]
