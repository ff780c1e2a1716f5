"""`tenuto doctor` on programs as their authors would have written them (programs/README.md)."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenuto.cli import main
from tenuto.cli.program.judging import SECTIONS
from tenuto.cli.program.makers import maker_of, makers
from tenuto.clients import cohere_client, google_client, mistral_client, sdk_client
from tenuto_sim import STEPS, Simulator

ROOT = Path(__file__).resolve().parents[2]
PAGE = Path(__file__).parent / "programs" / "README.md"
FRAMEWORKS = (ROOT / "docs/frameworks.md").read_text("utf-8")
EXAMPLES = dict(re.findall(r"^```python (\S+)\n(.*?)^```", FRAMEWORKS, re.MULTILINE | re.DOTALL))
UNCOVERED = ("not covered", "partly covered")
MARK = re.compile(r"  # (covered|not covered|partly covered|unknown|no turns)$")
WORDS = {"Covered.": 0, "Not": 1, "Unknown.": 3, "Partly": 0}


class Program(NamedTuple):
    """A section of the page: its title, its files, and the right exit code."""

    title: str
    files: dict[str, str]
    code: int

    def marks(self) -> set[tuple[str, int, str]]:
        return {
            (file, number, found[1])
            for file, text in self.files.items()
            for number, line in enumerate(text.splitlines(), 1)
            if (found := MARK.search(line))
        }

    def write(self, folder: Path) -> None:
        for file, text in self.files.items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")


def programs() -> list[Program]:
    found = []
    for section in PAGE.read_text("utf-8").split("\n## ")[1:]:
        title, _, rest = section.partition("\n")
        files = dict(re.findall(r"^```python (\S+)\n(.*?)^```$", rest, re.MULTILINE | re.DOTALL))
        found.append(Program(title, files, WORDS[rest.split()[0]]))
    return found


def told(folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    code = main(["doctor", "--json", str(folder)])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("program", programs(), ids=lambda p: p.title)
def test_each_client_of_a_program_is_judged_as_it_was_in_writing(
    program: Program, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program.write(tmp_path)
    code, found = told(tmp_path, capsys)
    judged = {
        (str(Path(c["file"]).relative_to(tmp_path)), c["line"], c["verdict"])
        for c in found["clients"]
    }
    assert judged == program.marks()
    assert code == program.code


def covered(folder: Path, clients: list[dict[str, Any]]) -> None:
    """Write the lines that the command names into the files, as an author would."""
    for client in sorted(clients, key=lambda c: (c["line"], c["column"]), reverse=True):
        path = Path(client["file"])
        lines = path.read_text("utf-8").splitlines(keepends=True)
        first, last = client["line"] - 1, client["end_line"] - 1
        if client["replace"]:
            before, after = lines[first][: client["column"]], lines[last][client["end_column"] :]
            lines[first : last + 1] = [before + client["replace"] + after]
            last = first
        at_end = client["add"] if client["add"].startswith("llm.") else ""
        begin = "" if at_end else client["add"]
        futures = [n for n, line in enumerate(lines) if line.startswith("from __future__")]
        imports = [f"{line}\n" for line in (*client["imports"], *begin.splitlines())]
        head = max(futures, default=-1) + 1
        text = "".join([*lines[:head], *imports, *lines[head : last + 1], *lines[last + 1 :]])
        path.write_text(f"{text}\n{at_end}\n", "utf-8")


@pytest.mark.parametrize("program", programs()[10:20], ids=lambda p: p.title)
def test_the_line_that_is_named_covers_the_client(
    program: Program, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program.write(tmp_path)
    _, found = told(tmp_path, capsys)
    wrong = [c for c in found["clients"] if c["verdict"] in UNCOVERED]
    named = [c for c in wrong if c["replace"] or c["add"]]
    assert all(c["why"] for c in wrong)
    covered(tmp_path, named)
    _, found = told(tmp_path, capsys)
    left = [c for c in found["clients"] if c["verdict"] in UNCOVERED]
    assert len(left) == len(wrong) - len(named)
    assert {c["what"] for c in left} <= ADVISED


ADVISED = {"OpenAI", "Agent", "instructor.from_provider", "requests.post"}
"""Where only a person can say what to write: another client is already wrapped, nothing is known of
the provider, or the library takes nothing of Tenuto's."""


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_example_of_the_page_about_frameworks_is_covered(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "example.py").write_text(EXAMPLES[name], "utf-8")
    code, found = told(tmp_path, capsys)
    assert code == 0
    assert [c["verdict"] for c in found["clients"]] == ["covered"]


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in ("llm", "smolagents")])
def test_each_example_without_tenuto_is_not_covered_until_its_line_is_written(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = ast.unparse(WithoutTenuto().visit(ast.parse(EXAMPLES[name])))
    (tmp_path / "example.py").write_text(bare, "utf-8")
    code, found = told(tmp_path, capsys)
    assert (code, [c["verdict"] for c in found["clients"]]) == (1, ["not covered"])
    covered(tmp_path, found["clients"])
    code, found = told(tmp_path, capsys)
    assert (code, [c["verdict"] for c in found["clients"]]) == (0, ["covered"])


class WithoutTenuto(ast.NodeTransformer):
    """Takes out of a program what an author writes for Tenuto."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if ast.unparse(node.func) == "tenuto.wrap":
            return node.args[0]
        ours = ("tenuto", "http_client", "litellm'")
        node.keywords = [
            k for k in node.keywords if not any(o in ast.unparse(k.value) for o in ours)
        ]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | None:
        self.generic_visit(node)
        attribute = isinstance(node.targets[0], ast.Attribute)
        return None if attribute or "tenuto" in ast.unparse(node) else node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | None:
        self.generic_visit(node)
        return None if "tenuto" in ast.unparse(node) else node


def test_a_program_of_langgraph_is_told_its_own_section_and_what_the_policy_should_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = tmp_path / "graph.py"
    graph.write_text(
        "from langchain_openai import ChatOpenAI\nfrom langgraph.prebuilt import create_react_agent\n"
        'agent = create_react_agent(ChatOpenAI(model="gpt-5.4-mini"), [])\n'
    )
    assert main(["doctor", "--json", str(graph)]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [client["section"] for client in told["clients"]] == ["LangGraph"]
    assert "## LangGraph" in FRAMEWORKS
    assert 'on_incomplete to "error"' in told["advice"][0]
    graph.write_text("import openai\nopenai.OpenAI()\n")
    assert main(["doctor", "--json", str(graph)]) == 1
    assert json.loads(capsys.readouterr().out)["advice"] == []


def test_the_sections_are_headings_of_the_page() -> None:
    headings = set(re.findall(r"^## (.*)$", FRAMEWORKS, re.MULTILINE))
    assert headings >= SECTIONS
    assert {row.title for row in makers()} >= SECTIONS


@pytest.mark.parametrize(
    "package", [*sdk_client.CLASSES, "google.genai", "cohere", "mistralai.client"]
)
def test_each_client_of_an_installed_sdk_that_can_be_wrapped_is_known(package: str) -> None:
    module = importlib.import_module(package)
    names = {**sdk_client.CLASSES, **cohere_client.CLASSES, **mistral_client.CLASSES}
    names["google.genai"] = frozenset({"Client"})
    assert google_client.NAMES == ("google.genai.Client",)
    own = {
        name
        for name in {*vars(module), *names.get(package, ())}  # cohere imports them when asked
        if inspect.isclass(cls := getattr(module, name, None))
        and not name.startswith("_")
        and not cls.__module__.startswith(("cohere.aws_client", "cohere.oci_client"))
        and any(
            base.__name__ in known and f"{base.__module__}.".startswith(f"{there}.")
            for base in cls.__mro__
            for there, known in names.items()
        )
    }
    assert own
    rows = {name: maker_of(f"{package}.{name}") for name in own}
    assert [name for name, row in rows.items() if row is None or not row.wraps] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "arguments", "requests"),
    [
        (8, ["cli.py", "claude:claude-haiku-4-5", "Why?"], 2),
        (11, ["chat.py"], 2),  # the cut answer of the bare client, and the other call
        (18, ["app.py", "gemini", "Why?"], 1),
        (22, ["flagged.py"], 1),
    ],
)
def test_programs_do_what_was_judged(
    number: int, arguments: list[str], requests: int, tmp_path: Path
) -> None:
    programs()[number - 1].write(tmp_path)
    with Simulator() as sim:
        sim.script([STEPS["length"]])
        keys = {f"{name}_API_KEY": "none" for name in ("OPENAI", "ANTHROPIC", "GEMINI")}
        urls = {"OPENAI_BASE_URL": sim.base_url, "ANTHROPIC_BASE_URL": sim.root_url,
                "GOOGLE_GEMINI_BASE_URL": sim.root_url}  # fmt: skip
        done = subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, env=os.environ | keys | urls,
            capture_output=True, text=True, check=False, timeout=50,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert len(sim.requests) == requests


def test_a_client_that_its_comment_leaves_bare_is_listed_and_not_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    app = tmp_path / "app.py"
    app.write_text(
        "import openai, tenuto\n"
        "bare = openai.OpenAI()  # the baseline; tenuto: bare\n"
        "first = openai.OpenAI()  # tenuto: bare\n"
        "second = openai.OpenAI(  #tenuto:bare\n    max_retries=1,\n)\n"
        "third = tenuto.wrap(openai.OpenAI())  # tenuto: bare\n"
    )
    code, found = told(tmp_path, capsys)
    verdicts = [client["verdict"] for client in found["clients"]]
    assert verdicts == ["not covered", "left bare", "left bare", "covered"]
    assert code == 1
    app.write_text(app.read_text().replace("# the baseline;", "#"))
    code, found = told(tmp_path, capsys)
    assert (code, found["verdicts"]["left bare"]) == (0, 3)
    assert {c["replace"] for c in found["clients"]} == {""}
    assert main(["doctor", str(app)]) == 0
    assert f"{app}:2: openai.OpenAI (openai): left bare" in capsys.readouterr().out


def test_files_of_one_name_in_several_folders_are_all_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "main.py").write_text(
            "from clients import client\nclient.responses.create(model='m', input='Hi')\n", "utf-8"
        )
    (tmp_path / "one/clients.py").write_text(
        "import openai, tenuto\nclient = tenuto.wrap(openai.OpenAI())\n", "utf-8"
    )
    (tmp_path / "two/clients.py").write_text("import openai\nclient = openai.OpenAI()\n", "utf-8")
    assert main(["doctor", "--json", str(tmp_path / "one"), str(tmp_path / "two")]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [c["verdict"] for c in found["clients"]] == ["covered", "not covered"]


def test_a_line_is_named_only_for_the_models_that_take_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = "from langchain.chat_models import init_chat_model\nllm = init_chat_model({!r})\n"
    for model, line in (("openai:gpt-5.4-mini", True), ("anthropic:claude-haiku-4-5", False)):
        (tmp_path / "a.py").write_text(made.format(model), "utf-8")
        _, found = told(tmp_path, capsys)
        (client,) = found["clients"]
        assert (client["verdict"], bool(client["replace"])) == ("not covered", line)


def test_nothing_of_the_program_is_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "evil.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w')\nimport openai\nopenai.OpenAI()\n", "utf-8"
    )
    (tmp_path / "openai.py").write_text("raise SystemExit(9)\n", "utf-8")
    assert main(["doctor", str(tmp_path)]) in (0, 1)
    capsys.readouterr()
    assert not (tmp_path / "ran").exists()


def test_what_was_not_read_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "new.py").write_text("print 'hello'\n", "utf-8")
    (tmp_path / "null.py").write_bytes(b"a = '\0'\n")
    (tmp_path / "latin.py").write_bytes(b"a = '\xe9'\n")
    (tmp_path / "explore.ipynb").write_text("{}", "utf-8")
    for folder in (".hidden", "node_modules", "venv"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").write_text("import openai; openai.OpenAI()\n", "utf-8")
    (tmp_path / "venv/pyvenv.cfg").touch()
    code, found = told(tmp_path, capsys)
    assert code == 2
    assert (found["files"], found["clients"]) == (0, [])
    said = sorted(Path(line.split(" ")[0]).name for line in found["not_read"])
    assert said == ["explore.ipynb", "latin.py", "new.py", "null.py"]
    assert main(["doctor", str(tmp_path)]) == 2
    assert "new.py was not read: line 1: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "said"),
    [("nowhere", "'nowhere' cannot be read: No such file"), ("empty", "no Python file in empty")],
)
def test_a_wrong_path_is_told_in_one_line(
    name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    assert main(["doctor", name]) == 2
    out, err = capsys.readouterr()
    assert (out, said in err) == ("", True)


def test_a_person_reads_the_line_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text("import openai\nclient = openai.OpenAI(max_retries=5)\n", "utf-8")
    assert main(["doctor"]) == 1
    assert capsys.readouterr().out.splitlines()[:4] == [
        "a.py:2: openai.OpenAI (openai): not covered",
        "  Tenuto does not see its requests.",
        "  write: tenuto.wrap(openai.OpenAI(max_retries=5))",
        "  with: import tenuto",
    ]
    Path("a.py").write_text("print(1)\n", "utf-8")
    assert main(["doctor"]) == 0
    assert "1 file: no client of a model was found." in capsys.readouterr().out


@settings(max_examples=30)
@given(st.data())
def test_no_program_of_these_pieces_makes_it_raise(data: st.DataObject) -> None:
    from tenuto.cli.program.judging import judged
    from tenuto.cli.program.reading import Reader
    from tenuto.cli.program.sources import Module, Sources

    pieces = [
        line for each in programs() for text in each.files.values() for line in blocks_of(text)
    ]
    chosen = data.draw(st.lists(st.sampled_from(pieces), min_size=1, max_size=8))
    text = "\n".join(chosen)
    module = Module("a.py", "a", text, ast.parse(text), is_package=False)
    reader = Reader(Sources([module]))
    reader.read()
    list(judged(reader))


def blocks_of(text: str) -> list[str]:
    """The statements of a file."""
    tree = ast.parse(text)
    return [ast.unparse(node) for node in tree.body]
