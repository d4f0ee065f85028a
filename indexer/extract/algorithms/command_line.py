"""What the command line accepts as an algorithm: a list of choices, or any name."""

from __future__ import annotations

from dataclasses import dataclass, field

from indexer.extract.choice_sites import choice_sites
from indexer.extract.flag_sites import Argument, flag_sites
from indexer.extract.literal_sites import LiteralSites
from indexer.syntax.graph import ModuleGraph

FIELD = "speculative_algorithm"


@dataclass
class CommandLineChoice:
    """The flag's choices (``listed`` where there are any) and its help as source text."""

    listed: bool = False
    sites: LiteralSites = field(default_factory=LiteralSites)
    help: str = ""


def command_line_choice(graph: ModuleGraph) -> CommandLineChoice:
    """Return what the algorithm flag accepts."""
    declarations = flag_sites(graph)
    call = next((one for one in declarations.calls if one.dest == FIELD), None)
    site = call or declarations.fields.get(FIELD)
    if site is None:
        return CommandLineChoice()
    keywords: dict[str, Argument] = site.keywords if call else site.metadata  # type: ignore[union-attr]
    sites = choice_sites(graph, site)
    return CommandLineChoice(bool(sites.values), sites, keywords["help"].text if "help" in keywords else "")
