"""MkDocs hooks (`make docs`): pages generated from the commands, tasks, systems, models and notebooks.

They use the metadata that the commands print, so they are never out of date. Links to files outside `docs` go to the
repository.
"""

import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(\]\()([^)\s#]+)([^)]*\))")
FENCED = re.compile(r"^(```.*?^```)", re.DOTALL | re.MULTILINE)
API = {
    "Detect": ["detect", "load", "Detector", "Detection", "Dialogue", "Turn", "Example", "EmoscopeError"],
    "Tasks and systems": ["tasks", "systems", "get_task", "train", "predict", "crossvalidate", "evaluate", "compare"],
    "Scale": ["score"],
}
INTEGRATIONS = {
    "sklearn": ["EmotionClassifier"],
    "spacy": ["make_component"],
    "langchain": ["emotion_tool"],
    "mcp": ["mcp_server"],
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the generated pages to the navigation."""
    nav: list[dict[str, list[Any]]] = config.nav or []
    sections = {name: pages for section in nav for name, pages in section.items()}
    sections["Reference"][:0] = [
        {"Python": "reference/api.md"},
        {"Commands": [{title: f"reference/{name}.md"} for name, title, _ in _command_groups()]},
        {"Tasks": [{name: f"reference/tasks/{name}.md"} for name in _task_names()]},
        {"Systems": [{name: f"reference/systems/{name}.md"} for name in _system_names()]},
        {"Models": [{path.stem.removeprefix("card-"): f"results/{path.name}"} for path in _cards()]},
    ]
    for section, folder in (("Guide", "guide"), ("Results", "results")):  # pages that mkdocs.yml does not place
        placed = {page for each in sections[section] for page in each.values()}
        there = [path for path in sorted((ROOT / "docs" / folder).glob("*.md")) if path not in _cards()]
        others = (f"{folder}/{path.name}" for path in there)
        sections[section] += [{Path(path).stem.capitalize(): path} for path in others if path not in placed]
    sections["How to"] += [{_title(path): f"notebooks/{path.stem}.md"} for path in _notebooks()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for path, text in generated_pages():
        files.append(File.generated(config, path, content=text))
    for notebook in _notebooks():
        if (found := files.get_file_from_path(f"notebooks/{notebook.name}")) is not None:
            files.remove(found)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:  # noqa: ARG001
    """Add usage to model cards, and point links to files outside `docs` to the repository."""
    path = page.file.src_uri
    if re.fullmatch(r"results/card-\w+\.md", path):
        markdown = _with_usage(markdown, Path(path).stem.removeprefix("card-"))
    parts = FENCED.split(markdown)
    return "".join(part if part.startswith("```") else outward_links(part, path) for part in parts)


def outward_links(markdown: str, path: str) -> str:
    """Links of a page, those to files outside `docs` as addresses in the repository.

    >>> outward_links("[a](../../Makefile), [b](faq.md#x)", "guide/detect.md").endswith("main/Makefile), [b](faq.md#x)")
    True
    """

    def outward(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join("docs", posixpath.dirname(path), match[2]))
        if ":" in match[2] or target.startswith("docs/") or target == "docs":
            return match[0].replace(".ipynb", ".md")
        return f"{match[1]}{repository()}/blob/main/{target}{match[3]}"

    return LINK.sub(outward, markdown)


def repository() -> str:
    """The repository's address, as the package names it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["urls"]["Repository"])


def generated_pages() -> Iterator[tuple[str, str]]:
    """The path and text of every generated page."""
    yield "reference/api.md", _api_page()
    for name, title, commands in _command_groups():
        yield f"reference/{name}.md", _commands_page(title, commands)
    for name in _task_names():
        yield f"reference/tasks/{name}.md", _task_page(name)
    for name in _system_names():
        yield f"reference/systems/{name}.md", _system_page(name)
    for path in _notebooks():
        yield f"notebooks/{path.stem}.md", notebook_page(path)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown.

    >>> print(table(["a", "b"], [[1, "x|y"]]))
    | a | b |
    |---|---|
    | 1 | x\\|y |
    <BLANKLINE>
    """
    lines = [columns, ["---"] * len(columns), *rows]
    cells = [[" ".join(str(cell).split()).replace("|", "\\|") for cell in line] for line in lines]
    cells[1] = ["---"] * len(columns)
    head, _, *body = [f"| {' | '.join(line)} |" for line in cells]
    return "\n".join([head, "|" + "---|" * len(columns), *body]) + "\n"


def _api_page() -> str:
    parts = ["# Python\n\nWhat `import emoscope` gives, and the modules for other libraries.\n"]
    for title, names in API.items():
        parts += [f"## {title}\n", *(f"::: emoscope.{name}\n" for name in map(_defined_in, names))]
    parts.append("## Other libraries\n")
    parts += [f"::: emoscope.{module}.{name}\n" for module, names in INTEGRATIONS.items() for name in names]
    return "\n".join(parts)


def _defined_in(name: str) -> str:
    """The path below the package where `emoscope.NAME` is defined."""
    import emoscope

    found = getattr(emoscope, name)
    if name in ("tasks", "systems"):
        return f"api.{name}"
    return f"{found.__module__.removeprefix('emoscope.')}.{name}"


def _command_groups() -> list[tuple[str, str, dict[str, Any]]]:
    """The pages of the commands: file name, title, and the commands by what is typed."""
    from emoscope.cli.commands import root_command

    top = root_command().commands
    single = {f"emoscope {name}": each for name, each in top.items() if not hasattr(each, "commands")}
    groups = [("commands", "emoscope", single)]
    for group, inner in top.items():
        if hasattr(inner, "commands"):
            named = {f"emoscope {group} {name}": each for name, each in inner.commands.items()}
            groups.append((f"commands-{group}", f"emoscope {group}", named))
    return groups


def _commands_page(title: str, commands: dict[str, Any]) -> str:
    parts = [f"# {title}\n\nGenerated from the commands; `--help` shows the same. {JSON_RULE}\n"]
    for typed, command in commands.items():
        arguments = [each for each in command.params if each.param_type_name == "argument"]
        options = [each for each in command.params if each.param_type_name == "option"]
        usage = " ".join([typed, *("[OPTIONS]" for _ in options[:1]), *(_metavar(each) for each in arguments)])
        parts.append(f"## {typed}\n\n```text\n{usage}\n```\n\n{_plain(command.help)}\n")
        if arguments:
            parts.append(table(["argument", "is"], [(f"`{_metavar(each)}`", _plain(each.help)) for each in arguments]))
        if options:
            parts.append(table(["option", "does", "default"], map(_option_row, options)))
    return "\n".join(parts)


JSON_RULE = (
    "With `--json` a command prints one JSON document on standard output: an object, or for a list an array of "
    "objects; what it wrote is named in `output`. Notes and mistakes go to standard error. The exit code is 0, or 1 "
    "for a negative answer, or 2 for a mistake."
)


def _metavar(argument: Any) -> str:
    name = (argument.metavar or argument.name.upper()).strip("[]")
    name = f"{name}..." if argument.nargs == -1 and not name.endswith("...") else name
    return name if argument.required else f"[{name}]"


def _option_row(option: Any) -> tuple[str, str, str]:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    shown = None if callable(option.default) else option.default
    default = "" if shown in (None, False, [], ()) else "on" if shown is True else f"`{shown}`"
    return names, _plain(option.help) + (" Required." if option.required else ""), default


def _plain(text: str | None) -> str:
    """Help without rich's markup, and with angle brackets that Markdown leaves alone."""
    return re.sub(r"\[/?(bold|dim|italic)?\]", "", text or "").replace("<", "&lt;").replace("[", "\\[").strip()


def _task_names() -> list[str]:
    from emoscope.tasks import TASKS

    return list(TASKS)


def _task_page(name: str) -> str:
    from emoscope.cli.listing import describe_task
    from emoscope.tasks import get_task
    from emoscope.tasks.published import published

    task = describe_task(get_task(name), Path("nowhere"))
    facts = {
        "labels": ", ".join(task["labels"]),
        "neutral": task["neutral_label"] or "none of them",
        "metric": f"{task['metric']['name']}: {task['metric']['description']}",
        "data": task["formats"]["data"],
        "submission": task["formats"]["submission"],
        "terms": task["terms"],
        "cite": task["citation"],
        "home": f"<{task['home']}>",
    }
    results = published(name)
    split = next((each for each in ("dev", "test", "train") if each in task["splits"]), "dev")
    lines = [
        f"# {name}\n\n**{task['title']}.** {task['description']}\n",
        table(["", ""], [(f"**{key}**", value or "-") for key, value in facts.items()]),
        f"## Use it\n\n```text\nemoscope data get {name}\nemoscope data stats {name}\n"
        f"emoscope predict default --task {name} --split {split} -o out.txt\n```\n\n"
        "See [tasks and evaluation](../../guide/tasks.md).\n",
        "## Files\n",
    ]
    for revision in task["revisions"]:
        rows = [
            (split, f"`{file['name']}`", "yes" if file["labelled"] else "no", _count(file["examples"]))
            for split, file in revision["splits"].items()
        ]
        columns = ["split", "file", "labelled", "examples"]
        lines.append(f"**{revision['name']}**: {revision['note']}\n\n{table(columns, rows)}")
    entries = [
        (entry.rank or "-", entry.name, "-" if entry.score is None else f"{entry.score:.{results.decimals}f}")
        for entry in results.entries
    ]
    lines.append(
        f"## Published results\n\n{results.note} From {results.source.paper}, {results.source.table}; {results.metric} "
        f"on {results.split_name}.\n\n{table(['rank', 'system', 'score'], entries)}"
    )
    return "\n".join(lines)


def _count(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def _system_names() -> list[str]:
    from emoscope.systems import SYSTEMS

    return list(SYSTEMS)


def _system_page(name: str) -> str:
    from emoscope.cli.listing import describe_system

    system = describe_system(name)
    facts = {
        "team": system["team"],
        "paper": system["citation"],
        "learns from": system["learns_from"],
        "needs": ", ".join(f"`pip install 'emoscope[{extra}]'`" for extra in system["extras"]),
        "substitutions": "; ".join(system["substitutions"]),
    }
    scores = [
        (f"[{task}](../tasks/{task}.md)", system["published"].get(task, "-"), system["measured"].get(task, "-"))
        for task in system["tasks"]
    ]
    settings = [(f"`{each['name']}`", f"`{each['default']}`", each["meaning"]) for each in system["settings"]]
    return "\n".join(
        [
            f"# {name}\n\n{system['summary'].capitalize()}.\n",
            table(["", ""], [(f"**{key}**", value or "-") for key, value in facts.items()]),
            f"```text\nemoscope train {name} --task {system['tasks'][0]} -o runs/{name}\n```\n",
            table(["task", "the paper's score", "ours"], scores),
            "The papers' scores are on their test sets; ours are means over runs, on the data named in "
            "[systems](../../results/systems.md).\n",
            "## Settings\n\n`--set name=value` changes one. Defaults are the paper's, where it gives them.\n",
            table(["setting", "default", "meaning"], settings),
        ]
    )


def _cards() -> list[Path]:
    return sorted((ROOT / "docs" / "results").glob("card-*.md"))


def _with_usage(card: str, name: str) -> str:
    """A model's card with how to use it, if it comes with the package."""
    from emoscope.detector.bundle import PRESETS, Bundle, resolve

    if name not in PRESETS:
        return card
    bundle = Bundle.load(resolve(name))
    heads = table(["labels", "are"], [(f"`{head.name}`", ", ".join(head.labels)) for head in bundle.heads])
    usage = (
        f'## Use it\n\n```python\nimport emoscope\n\nemoscope.load("{name}").detect("I love you")\n```\n\n'
        f'```text\nemoscope detect "I love you" --model {name}\n```\n\n{heads}\n'
    )
    before, heading, after = card.partition("\n## ")
    return f"{before}\n{usage}{heading.lstrip()}{after}"


def _notebooks() -> list[Path]:
    return sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def _title(notebook: Path) -> str:
    text = "".join(json.loads(notebook.read_text(encoding="utf-8"))["cells"][0]["source"])
    return text.splitlines()[0].removeprefix("# ")


def notebook_page(path: Path) -> str:
    """A notebook as a page: its text, its code, and the outputs it was saved with."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        parts += [_output(output) for output in cell["outputs"]]
    link = f"{repository()}/blob/main/docs/notebooks/{path.name}"
    return "\n\n".join([*parts, f"This page is a notebook: [{path.name}]({link}).\n"])


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {"text/plain": output.get("text", "")})
    kinds: dict[str, Callable[[str], str]] = {
        "image/svg+xml": lambda text: text.strip(),
        "image/png": lambda text: f'<img alt="figure" src="data:image/png;base64,{text.strip()}">',
        "text/html": lambda text: re.sub(r"\n\s*\n", "\n", text.strip()),
        "text/plain": lambda text: f"```text\n{text.rstrip()}\n```",
    }
    return next((show("".join(data[kind])) for kind, show in kinds.items() if kind in data), "")
