"""Reading a page: what a form would send, and what is to be seen."""

from __future__ import annotations

import pytest

from tools.conformance.pages import Page

TEXT = """
<html><head><title>Stacks</title><script>var hidden = "<b>";</script></head><body>
<div class="alert alert-danger javascript-disabled">JavaScript!</div>
<div class="alert alert-danger">no   such <b>type</b></div>
<form id="launch" action="/launch">
  <input type="hidden" name="token" value="t">
  <input name="name">
  <input type="checkbox" name="fast" checked>
  <input type="checkbox" name="slow">
  <input type="submit" name="go" value="Launch">
  <select name="flavor"><option value="1">tiny</option><option value="2" selected>small</option></select>
  <select name="kind"><option>first</option><option>second</option></select>
  <textarea name="text">
a &amp; b</textarea>
</form>
<p>one<p class="big red">two
</body></html>
"""


@pytest.fixture
def page() -> Page:
    return Page.read("http://127.0.0.1/", TEXT)


def test_form_has_the_fields_that_a_browser_would_send(page: Page) -> None:
    assert page.form(id="launch").fields() == {
        "token": "t",
        "name": "",
        "fast": "on",
        "flavor": "2",
        "kind": "first",
        "text": "a & b",
    }


def test_an_unknown_form_is_an_error(page: Page) -> None:
    with pytest.raises(LookupError, match="no form with"):
        page.form(id="other")


def test_errors_are_those_of_the_site(page: Page) -> None:
    assert page.errors == ["no such type"]


def test_script_elements_are_ignored(page: Page) -> None:
    assert "hidden" not in page.body.text


def test_elements_are_found_by_one_of_their_classes(page: Page) -> None:
    assert [element.text for element in page.body.elements(class_="red")] == ["two"]
