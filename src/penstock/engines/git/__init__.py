"""Projects under version control, asked through git itself."""

from penstock.engines.git.projects import GitProjects

__all__ = ["GitProjects"]
