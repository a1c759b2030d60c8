"""How Sphinx builds the laboratory's site: ``make docs``."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parents[2] / "docs" / "_ext")]

project = "hra-lab"
author = "the hra authors"
project_copyright = author

extensions = ["myst_parser", "evidence", "sites"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]

myst_enable_extensions = ["colon_fence", "attrs_inline", "deflist", "dollarmath"]
myst_heading_anchors = 4

html_theme = "pydata_sphinx_theme"
html_title = "hra-lab"
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True, "show_toc_level": 2, "footer_end": []}
suppress_warnings = ["config.cache"]
