"""Lists the pages of growing sections in the site's navigation: an added game or design note needs no other edit."""

from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
GROWING = {"Environments": "environments", "Design notes": "design"}


def on_config(config: Any) -> Any:  # noqa: ANN401 - mkdocs' configuration has no public type
    """Called by mkdocs: replaces each growing section by its folder, the index first."""
    for section in config.nav:
        for title, folder in GROWING.items():
            if title in section:
                pages = sorted((DOCS / folder).glob("*.md"), key=lambda page: (page.stem != "index", page.name))
                section[title] = [page.relative_to(DOCS).as_posix() for page in pages]
    return config
