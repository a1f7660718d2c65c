"""The check for patterns that are matched by an engine that backtracks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.checks.patterns import check
from tools.checks.source_tree import load
from tools.tests.checks.test_method_bound import tree


def report(source: Path, code: str, *excepted: str) -> list[str]:
    """What the check finds in a module."""
    made = tree(source, forms='WORD, OTHER = "[a-z]+", "x"\nBOTH = f"{WORD}|{OTHER}"\n', use=code)
    return check(load(made), dict.fromkeys(excepted, "a reason"))


@pytest.mark.parametrize(
    "code",
    [
        "import re\ndef f(given): return re.search(given, 'x')",
        "import re as other\ndef f(given): return other.compile(f'^{given}$')",
        "from re import fullmatch as fits\ndef f(given): return fits('a' + given, 'x')",
        "import re\ndef f(given): return re.sub(pattern=given, repl='', string='x')",
        "import re\ndef f(given): return list(map(re.compile, given))",
        "from fnmatch import fnmatchcase\ndef f(given): return fnmatchcase('name', given)",
        "import fnmatch\ndef f(given): return fnmatch.filter(['name'], given)",
        "from glob import iglob\ndef f(given): return iglob(given)",
        "def f(column, given): return column.ilike(given)",
        "def f(folder, given): return folder.rglob(given)",
        "def f(given):\n    import re2\n    return given",
        "from re2 import search\ndef f(given): return given",
        "from keystonemiddleware import auth_token\ndef f(given): return auth_token._path_matches('/', given)",
        "from keystonemiddleware.auth_token import _path_matches as f\ndef g(given): return f(given)",
    ],
)
def test_a_pattern_that_is_data_is_found(tmp_path: Path, code: str) -> None:
    assert report(tmp_path, code)


@pytest.mark.parametrize(
    "code",
    [
        "import re\ndef f(given): return re.search('a+', given)",
        "import re\nfrom pack.forms import BOTH\nFORM = re.compile(rf'({BOTH}){{2}}', re.I)\n",
        "import re\nNAMES = ('a', 'b')\nFORM = re.compile('|'.join(NAMES))\n",
        "import re\nfrom pack import forms\ndef f(given): return re.escape(given) + re.sub(forms.WORD, '', given)",
        "from fnmatch import fnmatchcase\ndef f(given): return fnmatchcase(given, 'name*')",
        "def f(column, folder): return column.like('a%'), folder.glob('*.yaml')",
        "def f(form, given): return form.match(given)",
    ],
)
def test_a_constant_pattern_is_none(tmp_path: Path, code: str) -> None:
    assert report(tmp_path, code) == []


def test_an_exception_names_the_function_and_is_needed(tmp_path: Path) -> None:
    code = "import re\nclass A:\n    def f(self, given): return re.search(given, 'x')"
    assert report(tmp_path, code)[0].startswith("pack.use.A.f, line 3: ")
    assert report(tmp_path, code, "pack.use.A.f") == []
    assert report(tmp_path, code, "pack.use.A.f", "pack.use.A.g") == [
        "pack.use.A.g: remove it from tool.stoker.checks.patterns"
    ]
