"""The page that asks somebody whether the app may be installed. Only its buttons decide; looking at it does not."""

import html
from collections.abc import Sequence

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Install vobo in {team}?</title>
<style>
:root {{ color-scheme: light dark; --paper: #fbfaf6; --ink: #1d2420; --line: #667069; --accent: #1f7a54; --on: #fff }}
@media (prefers-color-scheme: dark) {{
  :root {{ --paper: #151a17; --ink: #e7ece8; --line: #98a49c; --accent: #39a877; --on: #06170f }}
}}
body {{ background: var(--paper); color: var(--ink); font: 1.1rem/1.5 system-ui, sans-serif; margin: 0 }}
main {{ margin: 3rem auto; max-width: 34rem; padding: 0 1rem; overflow-wrap: anywhere }}
form {{ display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem }}
button {{ background: none; border: 1px solid var(--line); border-radius: 8px; color: inherit; cursor: pointer;
  flex: 1 1 9rem; font: inherit; font-weight: 600; min-height: 3rem; padding: .5rem 1rem }}
button.yes {{ background: var(--accent); border-color: var(--accent); color: var(--on) }}
:focus-visible {{ outline: 3px solid var(--accent); outline-offset: 3px }}
</style></head>
<body><main><h1>vobo wants to work in {team}</h1>
<p>It asks for:</p>
<ul>{scopes}</ul>
<form method="post"><button class="yes" name="decision" value="allow">Allow</button>
<button name="decision" value="cancel">Cancel</button></form>
</main></body></html>
"""


def install_page(team: str, scopes: Sequence[str]) -> str:
    """HTML for the workspace called `team`. Its form posts back to the address it was asked for with."""
    items = "".join(f"<li>{html.escape(one)}</li>" for one in scopes)
    return _PAGE.format(team=html.escape(team), scopes=items)
