"""Tasks that a walk over the pages does not show: protecting, comparing, finding, importing, refactoring."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.console.browser import Walk

LEFT = """
heat_template_version: 2021-04-16
resources:
  network: {type: OS::Neutron::Net}
  data: {type: OS::Cinder::Volume, properties: {size: 1}}
  more: {type: OS::Cinder::Volume, properties: {size: 1}}
"""
_FREEZE = "freezes:\n- {name: the sale, start: 2099-11-20T00:00, end: 2099-12-01T00:00}\n"
_SIZES = ((390, "dark"), (1280, "light"))


def check_tasks(walk: Walk, base: str, act: Callable[..., Any], directory: Path) -> None:
    """Do all tasks, on a stack of their own."""
    (directory / "left.yaml").write_text(LEFT)
    for name in ("kept", "gone"):
        act("deploy", name, "-t", str(directory / "left.yaml"), "--yes").wait(120)
    retained = [f"--retain={name}" for name in ("network", "data", "more")]
    act("delete", "gone", "--yes", *retained).wait(120)
    with walk.page(1280, "light") as page:
        kept = (page.get_by_role("link", name="kept").get_attribute("href") or "").removeprefix("/console")
    protection(walk, base, kept)
    change_control(walk, base)
    comparison(walk, base, kept)
    deletion_with_marks(walk, base, kept)
    generation(walk, base)
    refactoring(walk, base)
    orphans(walk, base)


def protection(walk: Walk, base: str, path: str) -> None:
    """Lock a stack and protect it by the keyboard alone, and take both back."""
    with walk.page(1280, "light", expect="400 (Bad Request)") as page:
        page.goto(f"{base}{path}/protection")
        _choose(page, "Lock…")
        page.get_by_label("Reason").press_sequentially("a release")
        page.keyboard.press("Enter")
        page.locator("#lock", has_text="a release").wait_for()
        page.goto(f"{base}{path}/protection")
        _choose(page, "Protect from deletion…")
        page.get_by_role("button", name="Protect from deletion").press("Enter")
        page.locator("dd", has_text="the stack cannot be deleted").wait_for()
        page.locator(".setting summary").press("Enter")
        page.get_by_label("Stack policy of this stack").fill("Statement: [")
        page.get_by_role("button", name="Set", exact=True).press("Enter")
        page.get_by_role("alert").wait_for()
    for width, scheme in _SIZES:
        with walk.page(width, scheme) as page:
            page.goto(f"{base}{path}/protection")
            page.locator(".setting summary").click()
            walk.check_page(page, "protected", manual=(width, scheme) == (1280, "light"))
    with walk.page(1280, "light") as page:
        for name, label in (("unlock", "Unlock"), ("unprotect", "Allow deletion")):
            page.goto(f"{base}{path}/actions/{name}")
            page.get_by_role("button", name=label).click()
            page.wait_for_load_state()


def _choose(page: Page, name: str) -> None:
    page.get_by_role("link", name=name).press("Enter")
    page.get_by_role("dialog").wait_for()


def change_control(walk: Walk, base: str) -> None:
    """Set a freeze for a project as its administrator, look at the page, and remove it."""
    for width, scheme in _SIZES:
        with walk.page(width, scheme, user="admin") as page:
            page.goto(f"{base}/services")
            walk.check_page(page, "services")
            page.goto(f"{base}/control")
            page.locator(".setting summary").first.click()
            page.get_by_label("Approvals, windows and freezes of the project").fill(_FREEZE)
            page.get_by_role("button", name="Set", exact=True).first.click()
            page.get_by_role("region", name="Freezes").wait_for()
            page.locator(".setting summary").first.click()
            walk.check_page(page, "freeze")
            page.get_by_role("button", name="Remove").first.click()
            page.get_by_role("region", name="Freezes").wait_for(state="detached")


def comparison(walk: Walk, base: str, path: str) -> None:
    """Compare a stack with the cloud: the page shows how far that is, and then the result, by itself."""
    for width, scheme in _SIZES:
        with walk.page(width, scheme) as page:
            page.goto(f"{base}{path}/drift")
            page.get_by_role("button", name="Compare with the cloud").press("Enter")
            page.get_by_text("No differences in what could be compared").wait_for(timeout=60_000)
            walk.check_page(page, "drift-compared")


def deletion_with_marks(walk: Walk, base: str, path: str) -> None:
    """Mark a resource in the plan of a deletion: another plan is shown, which keeps its object."""
    for width, scheme in _SIZES:
        with walk.page(width, scheme) as page:
            page.goto(f"{base}{path}")
            _choose(page, "Delete…")
            page.get_by_label("Keep its object data", exact=True).press("Space")
            page.get_by_role("button", name="Delete", exact=True).click()
            page.get_by_text("Retained in the cloud: data.").wait_for()
            page.evaluate("scrollTo(0, 0)")
            walk.check_page(page, "delete-and-keep", manual=(width, scheme) == (1280, "light"))


def generation(walk: Walk, base: str) -> None:
    """Generate a template of volumes, and take it to the form for a new stack."""
    for width, scheme in _SIZES:
        with walk.page(width, scheme) as page:
            page.goto(f"{base}/generate")
            page.get_by_label("Types").select_option("OS::Cinder::Volume")
            page.get_by_role("button", name="Scan the project").press("Enter")
            with page.expect_download() as download:
                page.get_by_role("button", name="Download environment.yaml").click()
            walk.require(
                "imports:" in download.value.path().read_text() and download.value.suggested_filename.endswith(".yaml"),
                "the environment is not downloaded",
            )
            page.evaluate("scrollTo(0, 0)")
            walk.check_page(page, "generated-volumes", manual=(width, scheme) == (1280, "light"))
            page.get_by_role("button", name="Import as a new stack").click()
            page.get_by_label("Name", exact=True).fill("imported")
            page.get_by_role("button", name="Plan…").click()
            page.get_by_role("heading", name="Plan for imported").wait_for()
            walk.check_page(page, "plan-of-import")


def refactoring(walk: Walk, base: str) -> None:
    """Plan a refactoring that moves a volume to a new stack, and carry it out."""
    for number, (width, scheme) in enumerate(_SIZES):
        with walk.page(width, scheme) as page:
            page.goto(f"{base}/refactors/new?stack=kept")
            template = page.get_by_label("New template of stack 1")
            name = ("data", "more")[number]
            text = template.input_value()
            start = text.index(f"  {name}:")
            volume = text[start : text.index("size: 1", start) + len("size: 1")]
            template.fill(text.replace(f"{volume}\n", ""))
            page.get_by_label("Name of stack 2").fill(f"part-{number}")
            page.get_by_label("New template of stack 2").fill(
                f"heat_template_version: 2021-04-16\nresources:\n{volume}\n"
            )
            page.get_by_label("Create the stacks that do not exist").press("Space")
            walk.check_page(page, "refactor-form")
            page.get_by_role("button", name="Plan…").press("Enter")
            page.get_by_text("1 to move, 1 to create").wait_for()
            walk.check_page(page, "refactor", manual=(width, scheme) == (1280, "light"))
            page.get_by_role("button", name="Carry it out").click()
            page.get_by_text("execute complete").wait_for()
            page.goto(f"{base}/refactors")
            walk.check_page(page, "refactors-listed")


def orphans(walk: Walk, base: str) -> None:
    """Delete an object without an owner after the plan, and keep another one."""
    for number, (width, scheme) in enumerate(_SIZES):
        with walk.page(width, scheme) as page:
            page.goto(f"{base}/orphans")
            page.get_by_role("checkbox").first.press("Space")
            walk.check_page(page, "orphans-marked")
            page.get_by_role("button", name="Delete them").press("Enter")
            page.get_by_role("link", name="Show the plan").wait_for(timeout=60_000)
            walk.check_page(page, "orphans-removal")
            if number:
                page.get_by_role("button", name="Keep the objects").click()
                page.get_by_role("heading", name="Objects without an owner").wait_for()
                continue
            page.get_by_role("link", name="Show the plan").click()
            page.get_by_role("button", name="Delete", exact=True).wait_for()
            walk.check_page(page, "orphans-plan")
            page.get_by_role("button", name="Delete", exact=True).click()
            page.locator("#stack-state").wait_for()
