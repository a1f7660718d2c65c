"""Sphinx extension that finds the stem of a word once: Sphinx does so for each page, a seventh of a build's time."""

from __future__ import annotations

from functools import cache
from typing import Any

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish


class EnglishWords(SearchEnglish):
    """The words of the search index; `lang` is that of the base class, in whose place Sphinx uses this one."""

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        self._stem = cache(super().stem)

    def stem(self, word: str) -> str:
        return self._stem(word)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension; Sphinx calls this function."""
    app.add_search_language(EnglishWords)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
