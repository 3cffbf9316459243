"""`emoscope mcp`: detection as tools for assistants."""

from emoscope.cli.detect import parse_prior
from emoscope.cli.options import LabelsOption, ModelOption, PriorOption


def mcp_cli(model: ModelOption = "default", labels: LabelsOption = None, prior: PriorOption = None) -> None:
    """Serve detection to assistants over the Model Context Protocol, on standard input and output."""
    from emoscope.mcp import mcp_server

    mcp_server(model, labels=labels, prior=parse_prior(prior)).run(transport="stdio")
