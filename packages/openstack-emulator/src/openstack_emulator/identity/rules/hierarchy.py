"""Which projects are above and below which."""

from __future__ import annotations

from openstack_emulator.core.store import Table
from openstack_emulator.identity.records import Project


class Hierarchy:
    """The projects as trees, whose roots are below domains."""

    def __init__(self, projects: Table[Project]) -> None:
        self.projects = projects

    def above(self, project_id: str) -> list[str]:
        """The ids of the projects and the domain above a project, nearest first; nothing is above a domain."""
        found: list[str] = []
        project = self.projects.get(project_id)
        while project is not None:
            found.append(project.parent_id)
            project = self.projects.get(project.parent_id)
        return found

    def ancestors(self, project_id: str) -> list[Project]:
        """The projects above, nearest first; the domain is not among them."""
        above = (self.projects.get(key) for key in self.above(project_id))
        return [found for found in above if found is not None]

    def descendants(self, parent_id: str) -> list[Project]:
        """The projects below a project or domain, each after its parent."""
        found = self.projects.select(parent_id=parent_id)
        for each in found:
            found.extend(self.projects.select(parent_id=each.id))
        return found
