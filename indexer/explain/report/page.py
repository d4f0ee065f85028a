"""A report as one HTML page that needs nothing else."""

from __future__ import annotations

_STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
  color: #1b1f24; background: #fff; }
code, pre { font: 0.9em/1.5 ui-monospace, monospace; }
pre { background: #f3f5f7; padding: 0.8rem; overflow-x: auto; border-radius: 6px; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.8rem 0.35rem 0;
  border-bottom: 1px solid #d9dee3; }
h2 { margin-top: 2.2rem; }
@media (prefers-color-scheme: dark) { body { color: #dfe5ea; background: #14181c; }
  pre { background: #1f252b; } th, td { border-color: #37414b; } }
"""


def page(markdown: str) -> str:
    """Return Markdown as a complete HTML page."""
    from markdown_it import MarkdownIt

    title = markdown.partition("\n")[0].lstrip("# ")
    body = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
    document = f'<html lang="en">\n<head>{head}\n<style>{_STYLE}</style></head>\n<body>\n{body}</body></html>'
    return f"<!doctype html>\n{document}\n"
