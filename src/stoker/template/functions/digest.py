"""digest: a checksum of a text."""

from __future__ import annotations

import hashlib
from typing import Any

from stoker.base.budget import size_of
from stoker.template.expressions import Evaluation
from stoker.template.functions.base import Function, is_list, variant


@variant("digest/1")
class Digest(Function):
    """The hexadecimal checksum of a text in Latin-1; takes the algorithm's name (md5, sha512, …) and the text."""

    __slots__ = ()

    def apply(self, arguments: Any, evaluation: Evaluation) -> Any:
        if not is_list(arguments) or not all(isinstance(item, str) for item in arguments):
            raise self.wrong_type("takes a list of texts: an algorithm and a text")
        if len(arguments) != 2:
            raise self.wrong("takes a list of two: an algorithm and a text")
        algorithm, text = arguments
        evaluation.budget.charge(made=size_of(text))
        try:
            # A checksum that the template asks for by name; nothing of ours rests on its strength.
            return hashlib.new(algorithm.lower(), text.encode("latin-1"), usedforsecurity=False).hexdigest()
        except UnicodeEncodeError as error:
            raise self.wrong("the text has characters that Latin-1 does not have", "UnicodeEncodeError") from error
        except (ValueError, TypeError) as error:
            raise self.wrong(f"there is no algorithm {algorithm!r}") from error
