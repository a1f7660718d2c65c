"""digest: a checksum of a string."""

from __future__ import annotations

import hashlib

from stoker.base.budget import size_of
from stoker.template.expressions import Evaluation
from stoker.template.functions.base import Function, is_list_of_strings, variant


@variant("digest/1")
class Digest(Function):
    """The hexadecimal checksum of a string in Latin-1; takes the algorithm's name (md5, sha512, …) and the string."""

    __slots__ = ()

    def apply(self, arguments: object, evaluation: Evaluation) -> object:
        if not is_list_of_strings(arguments):
            raise self.wrong_type("takes a list of strings: an algorithm and a string")
        if len(arguments) != 2:
            raise self.wrong("takes a list of two: an algorithm and a string")
        algorithm, text = arguments
        evaluation.budget.charge(made=size_of(text))
        try:
            # The template chooses the algorithm by name; the security of Stoker does not depend on its strength.
            return hashlib.new(algorithm.lower(), text.encode("latin-1"), usedforsecurity=False).hexdigest()
        except UnicodeEncodeError as error:
            raise self.wrong(
                "the string contains characters that Latin-1 does not have", "UnicodeEncodeError"
            ) from error
        except (ValueError, TypeError) as error:
            raise self.wrong(f"there is no algorithm {algorithm!r}") from error
