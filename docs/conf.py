"""How the manual is built. The reference pages are written by `_ext/stoker_reference` from the declarations."""

from __future__ import annotations

import sys
from pathlib import Path

from stoker import __version__
from stoker.processes.memory import reduce_garbage_collection

sys.path[:0] = [str(Path(__file__).parent / "_ext"), str(Path(__file__).parents[1])]  # the latter for the examples

reduce_garbage_collection()  # a build keeps nearly all objects that it makes

project = "Stoker"
author = "The Stoker authors"
release = version = __version__

extensions = ["myst_parser", "sphinx_copybutton", "search_words", "sidebar", "stoker_reference"]
source_suffix = {".md": "markdown"}
included = [f"generated/{name}.md" for name in ("control", "emulator-differences", "recovery")]  # by other pages
exclude_patterns = ["_build", "_ext", "how-to/plug-in", *included]
myst_enable_extensions = ["colon_fence", "deflist", "attrs_block", "attrs_inline"]
myst_heading_anchors = 3
nitpicky = True
copybutton_prompt_text = "$ "  # only the commands of a console are copied
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "furo"
html_title = f"Stoker {version}"
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_js_files = ["recordings.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
pygments_style = "default"
pygments_dark_style = "github-dark"
