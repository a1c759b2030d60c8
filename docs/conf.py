"""How Sphinx builds the site: ``make docs``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

from gallery import settings

import hra

project = "hra"
author = "the hra authors"
project_copyright = author
version = release = hra.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    "sphinx_design",
    "reference",
    "commands",
    "gallery",
    "explorers",
    "sites",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = [
    "public-api.txt",
    "_build",
    "_examples",
    "_extra",
    "gallery/GALLERY_HEADER.rst",
    "tutorials/notebooks",
]
default_role = "py:obj"
templates_path = ["_templates"]

myst_enable_extensions = ["colon_fence", "attrs_inline", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_links_external_new_tab = True

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
sphinx_gallery_conf = settings()

html_theme = "pydata_sphinx_theme"
html_title = "hra"
html_extra_path = ["_extra"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
# Pages without pages below them need the width more.
html_sidebars = {"explore": [], "index": [], "beside-others": []}
html_theme_options = {
    "navigation_with_keys": True,
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": {"**": ["page-toc"], "explore": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
}
suppress_warnings = ["config.cache"]
