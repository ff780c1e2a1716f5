"""Joining a continuation to what was said: examples, properties, and measured rates.

``python tests/core/test_seam.py`` prints the table of `measure`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tenuto.core.seam.seam import Seam, join, trailing_space

# Texts that look like what models write ----------------------------------------------------------


def words(text: str) -> list[str]:
    return text.split()


NOUNS = words(
    """river engine market window teacher protocol garden council budget harbour signal winter
method library station committee forest treaty voltage patient orchard theory railway festival
kernel archive bridge customer island painter reactor novel sample village census molecule"""
)
VERBS = words(
    """describes follows improves replaces measures crosses explains limits supports reaches
forgets carries reduces collects predicts avoids rebuilds confirms opens questions"""
)
ADJECTIVES = words(
    """small quiet northern careful recent expensive open stable ancient practical bright
narrow common digital formal hidden gradual reliable warm uneven"""
)
LINKS = (", because", ", although", " while", " so that", ", and then", " even when", " unless")
NAMES = words("load_config parse_row send_batch open_file count_words merge_tree read_header")
FIELDS = words("path retries timeout user_id total payload status name offset score")
CHINESE = words(
    """系统 会在 每次 请求 之后 记录 日志 如果 超过 限制 模型 停止 输出 因此 我们 需要 检查
结果 是否 完整 城市 的 交通 正在 变得 更加 方便 研究 人员 发现 这种 方法 能够 提高 效率 但是 成本
仍然 很高 学生 可以 通过 网络 学习 新的 知识"""
)
JAPANESE = words(
    """この システムは 毎回 リクエストの あとで ログを 記録します。 もし 制限を 超えた
場合は、 モデルが 出力を 止めます。 したがって 結果が 完全かどうか 確認する 必要が あります。 東京の
天気は 明日から 回復する 見込みです。 研究者は 新しい 方法を 見つけました。 ただし 費用は まだ
高いままです。 学生は ネットで 学ぶことが できます。"""
)


def sentence(rng: random.Random) -> str:
    def phrase() -> str:
        return f"{rng.choice(['the', 'a', 'every', 'this'])} {rng.choice(ADJECTIVES)} {rng.choice(NOUNS)}"

    text = f"{phrase()} {rng.choice(VERBS)} {phrase()}"
    if rng.random() < 0.6:
        text += (
            f"{rng.choice([',', ''])} {rng.choice(LINKS).strip()} {phrase()} {rng.choice(VERBS)}"
        )
        text += f" {rng.choice(NOUNS)}s in {rng.randint(1800, 2026)}"
    return text[0].upper() + text[1:] + rng.choice("...!?")


def essay(sentences: int) -> str:
    rng = random.Random(4)
    return " ".join(sentence(rng) for _ in range(sentences))


def prose(rng: random.Random) -> str:
    return "\n\n".join(
        " ".join(sentence(rng) for _ in range(rng.randint(2, 6))) for _ in range(rng.randint(2, 5))
    )


def python(rng: random.Random) -> str:
    lines = ["import json", "import re", ""]
    for name in rng.sample(NAMES, rng.randint(2, 4)):
        one, two = rng.sample(FIELDS, 2)
        lines += [
            "",
            f"def {name}({one}, {two}=None):",
            f'    """{sentence(rng)}"""',
            f"    for {rng.choice(NOUNS)}, value in {one}.items():",
            f"        if value is None or value > {rng.randint(2, 999)}:",
            f"            {two} = {rng.choice(NAMES)}({one}, value)",
            "            continue",
            f'        print(f"{{value:>{rng.randint(2, 20)}}} {rng.choice(NOUNS)}")',
            f"    return {{'{one}': {one}, '{two}': {two}}}",
            "",
        ]
    return "\n".join(lines)


def json_text(rng: random.Random) -> str:
    rows = [
        f'  {{\n    "id": {number + rng.randint(100, 9999)},\n    "name": "{rng.choice(ADJECTIVES)} '
        f'{rng.choice(NOUNS)}",\n    "{rng.choice(FIELDS)}": {rng.random():.6f},\n'
        f'    "tags": ["{rng.choice(NOUNS)}", "{rng.choice(NOUNS)}"],\n'
        f'    "ok": {rng.choice(["true", "false", "null"])}\n  }}'
        for number in range(rng.randint(3, 8))
    ]
    return "[\n" + ",\n".join(rows) + "\n]\n"


def markdown(rng: random.Random) -> str:
    parts = [f"# {rng.choice(ADJECTIVES).title()} {rng.choice(NOUNS)}"]
    for _ in range(rng.randint(2, 4)):
        parts.append(f"## {sentence(rng)[:-1]}")
        parts.append(sentence(rng))
        parts.append(
            "\n".join(
                f"{rng.choice('-*')} **{rng.choice(NOUNS)}**: {sentence(rng)}"
                for _ in range(rng.randint(2, 5))
            )
        )
        if rng.random() < 0.5:
            parts.append(
                f"```{rng.choice(['python', 'sh', ''])}\n{rng.choice(NAMES)} --{rng.choice(FIELDS)}\n```"
            )
    return "\n\n".join(parts)


def table(rng: random.Random) -> str:
    rows = ["| Name | Kind | Share | Remark |", "|------|------|------:|--------|"]
    rows += [
        f"| {rng.choice(NOUNS)} | {rng.choice(ADJECTIVES)} | {rng.random() * 100:.1f} % | "
        f"{' '.join(rng.sample(NOUNS, 3))} |"
        for _ in range(rng.randint(6, 20))
    ]
    return "\n".join(rows)


def log(rng: random.Random) -> str:
    second = rng.randint(0, 20_000)
    lines = []
    for _ in range(rng.randint(8, 25)):
        second += rng.randint(0, 90)
        lines.append(
            f"2026-11-21 {second // 3600:02}:{second // 60 % 60:02}:{second % 60:02} "
            f"{rng.choice(['INFO', 'INFO', 'WARN', 'ERROR'])} [{rng.choice(NAMES)}] "
            f"{rng.choice(NOUNS)} {rng.choice(VERBS)} {rng.choice(FIELDS)}={rng.randint(0, 999)}"
        )
    return "\n".join(lines)


def chinese(rng: random.Random) -> str:
    return "\n\n".join(
        "".join(
            "".join(rng.sample(CHINESE, k=rng.randint(4, 12))) + rng.choice("，。。；")
            for _ in range(rng.randint(4, 9))
        )
        for _ in range(3)
    )


def japanese(rng: random.Random) -> str:
    return "\n".join("".join(rng.sample(JAPANESE, k=rng.randint(6, 25))) for _ in range(4))


SORTS: tuple[Callable[[random.Random], str], ...] = (
    prose,
    python,
    json_text,
    markdown,
    table,
    log,
    chinese,
    japanese,
)

PREAMBLES = (
    "Here is the rest:",
    "Sure! Continuing from where the text was cut:",
    "Of course. I will go on with the last line.",
    "Apologies for the interruption.",
    "Certainly, here's the remaining part of the file:",
    "Picking up at the interrupted line:",
    "Continuation:",
    "OK, finishing the answer now…",
    "No problem! The answer goes on as follows:",
    "续写如下：",
    "好的，我从中断的地方继续。",
    "続きを書きます。",
)


# Continuations, right and wrong --------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    kind: str
    said: str
    trimmed: str
    continuation: str
    whole: str

    @property
    def joined(self) -> str:
        return join(self.said, self.continuation, trimmed=self.trimmed)


def cut(rng: random.Random, whole: str) -> tuple[str, str]:
    """What the request carries, and the white space left out of it."""
    return trailing_space(whole[: rng.randint(len(whole) // 5, len(whole) - 2)])


def has_evidence(said: str, passage: str) -> bool:
    """A repeated passage that says something: varied, and said once only."""
    wide = sum(char >= "\u3041" for char in passage)
    return (
        len(passage) + 2 * wide >= 12
        and len(set(passage)) + 2 * wide >= 8
        and said.count(passage) == 1
    )


def exact(rng: random.Random, whole: str) -> Case | None:
    said, trimmed = cut(rng, whole)
    rest = whole[len(said) :]
    if trimmed and rest[len(trimmed) :][:1].strip() and rng.random() < 0.5:
        rest = rest[len(trimmed) :]  # the model leaves the white space out
    return Case("exact", said, trimmed, rest, whole)


def overlap(rng: random.Random, whole: str) -> Case | None:
    said, trimmed = cut(rng, whole)
    begin = len(said) - rng.choice([rng.randint(4, 30), rng.randint(12, 400)])
    begin = max(begin, 0)
    if rng.random() < 0.7:  # models begin at a word
        begin = whole.rfind(" ", 0, begin) + 1
    if not has_evidence(said, said[begin:]):
        return None
    return Case("overlap", said, trimmed, whole[begin:], whole)


def word(rng: random.Random, whole: str) -> Case | None:
    said, trimmed = cut(rng, whole)
    found = re.search(r"(?<!\w)[a-zA-Z]{3,}$", said)
    if trimmed or not found or not re.match(r"[a-zA-Z]", whole[len(said) :]):
        return None
    return Case("word", said, "", whole[found.start() :], whole)


def line(rng: random.Random, whole: str) -> Case | None:
    said, trimmed = cut(rng, whole)
    begin = said.rfind("\n") + 1
    unfinished = said[begin:]
    if "\n" in trimmed or sum(map(str.isalpha, unfinished)) < 3 or begin == 0:
        return None
    if re.fullmatch(r"\w{1,4}", unfinished):
        return None
    if rng.random() < 0.5:
        begin += len(unfinished) - len(unfinished.lstrip())
    return Case("line", said, trimmed, whole[begin:], whole)


def restart(rng: random.Random, whole: str) -> Case | None:
    said, trimmed = cut(rng, whole)
    return Case("restart", said, trimmed, whole, whole)


def preamble(rng: random.Random, whole: str) -> Case | None:
    base = line(rng, whole)
    if base is None:
        return None
    unfinished = base.said[base.said.rfind("\n") + 1 :].strip()
    if len(unfinished) < 10 or base.said.count(unfinished) > 1:
        return None
    continuation = rng.choice(PREAMBLES) + "\n\n" + base.continuation
    return Case("preamble", base.said, base.trimmed, continuation, whole)


def fence(rng: random.Random, whole: str) -> Case | None:
    info = rng.choice(["python", "json", "markdown"])
    opening = f"{sentence(rng)}\n\n```{info}\n"
    if "```" in whole:
        return None
    said, trimmed = trailing_space(opening + whole[: rng.randint(20, len(whole) - 2)])
    rest = (opening + whole)[len(said) + len(trimmed) :]
    if not rest[:1].strip():
        return None
    if rng.random() < 0.5 and "\n" not in trimmed:
        rest = said[said.rfind("\n") + 1 :] + trimmed + rest
    return Case("fence", said, trimmed, f"```{info}\n{rest}", opening + whole)


MAKERS = (exact, overlap, word, line, restart, preamble, fence)


def cases(
    maker: Callable[[random.Random, str], Case | None], count: int, seed: int
) -> Iterator[Case]:
    rng = random.Random(f"{maker.__name__} {seed}")
    made = 0
    while made < count:
        whole = SORTS[made % len(SORTS)](rng).rstrip()
        case = maker(rng, whole)
        if case is not None:
            made += 1
            yield case
        elif SORTS[made % len(SORTS)] in (chinese, japanese, table) and rng.random() < 0.1:
            made += 1  # a sort of text that hardly has such a place


def measure(count: int = 2_000, seed: int = 1) -> dict[str, tuple[int, int]]:
    """Kind of continuation → (restored exactly, tried), over all sorts of text."""
    rates = {}
    for maker in MAKERS:
        tried = list(cases(maker, count, seed))
        rates[maker.__name__] = (sum(case.joined == case.whole for case in tried), len(tried))
    return rates


def table_of_rates(rates: dict[str, tuple[int, int]]) -> str:
    rows = ["| continuation | restored | tried | rate |", "|---|---:|---:|---:|"]
    rows += [
        f"| {kind} | {right:,} | {tried:,} | {right / tried:.2%} |"
        for kind, (right, tried) in rates.items()
    ]
    return "\n".join(rows)


# The rates ---------------------------------------------------------------------------------------


@pytest.mark.behaviour("C14", "C15")
@pytest.mark.slow
def test_two_thousand_exact_continuations_are_left_untouched():
    changed = [case for case in cases(exact, 2_000, seed=2) if case.joined != case.whole]
    assert changed == []


@pytest.mark.behaviour("C14", "C7")
@pytest.mark.slow
@pytest.mark.parametrize("maker", MAKERS[1:], ids=lambda maker: maker.__name__)
def test_what_is_said_again_is_removed_in_99_of_100_places(maker):
    tried = list(cases(maker, 400, seed=3))
    failed = [case for case in tried if case.joined != case.whole]
    assert len(failed) <= len(tried) // 100, failed


# The examples of the behaviours ------------------------------------------------------------------


@pytest.mark.behaviour("C14")
@pytest.mark.parametrize(
    ("said", "continuation", "whole", "kind"),
    [
        ("The result is wor", "world.", "The result is world.", "overlap"),
        ("The result is wor", "The result is world.", "The result is world.", "line"),
        (
            "1. First, open the fi",
            "open the file.\n2. Done",
            "1. First, open the file.\n2. Done",
            "overlap",
        ),
        (
            "We tried three ways.\nThe second way is the be",
            "We tried three ways.\nThe second way is the best.",
            "We tried three ways.\nThe second way is the best.",
            "restart",
        ),
        (
            "Two steps:\nThe first step opens the fi",
            "Sure, here is the rest:\n\nThe first step opens the file.",
            "Two steps:\nThe first step opens the file.",
            "preamble",
        ),
        (
            "Code:\n```python\nrows = read()\nfor row in ro",
            "```python\nfor row in rows:\n    pass\n```",
            "Code:\n```python\nrows = read()\nfor row in rows:\n    pass\n```",
            "fence",
        ),
        (
            "Code:\n```python\nfor row in ro",
            "```python\nws:\n    pass\n```",
            "Code:\n```python\nfor row in rows:\n    pass\n```",
            "fence",
        ),
        (
            "Code:\n```python\nfor row in ro",
            "Here is the remaining code:\n\n```python\nfor row in rows:\n    pass\n```",
            "Code:\n```python\nfor row in rows:\n    pass\n```",
            "preamble",
        ),
        (
            "经过计算，最终的结果是正",
            "最终的结果是正确的。",
            "经过计算，最终的结果是正确的。",
            "overlap",
        ),
        (
            "経過を見ると、結果は正しいよ",
            "結果は正しいようです。",
            "経過を見ると、結果は正しいようです。",
            "overlap",
        ),
        ("你好，世\ufffd", "界。", "你好，世界。", "exact"),
        ("最终的结果是正\ufffd", "最终的结果是正确的。", "最终的结果是正确的。", "line"),
        (
            "2026-11-23T09:3",
            "2026-11-23T09:31:45Z WARN pressure=686509\n",
            "2026-11-23T09:31:45Z WARN pressure=686509\n",
            "line",
        ),
        (
            "From 10 to 12:\n2026-11-23T09:31:4",
            "2026-11-23T09:31:45Z WARN pressure=686509\n",
            "From 10 to 12:\n2026-11-23T09:31:45Z WARN pressure=686509\n",
            "line",
        ),
    ],
)
def test_what_is_said_again_is_given_out_once(said, continuation, whole, kind):
    seam = Seam(said)
    rest = seam.feed(continuation) + seam.finish()
    assert (said.rstrip("\ufffd") + rest, seam.kind) == (whole, kind)


@pytest.mark.behaviour("C15")
@pytest.mark.parametrize(
    ("said", "continuation", "whole"),
    [
        ("book", "keeper", "bookkeeper"),
        ("ha", "ha", "haha"),
        ("wor", "ld", "world"),
        ("an ass", "essment", "an assessment"),
        ("the bo", "ok", "the book"),
        ("x = 1", "1", "x = 11"),
        ("He said that", " that is", "He said that that is"),
        ("we ate cous", "cous and dates", "we ate couscous and dates"),
        ("the bar", "barian came", "the barbarian came"),
        ("le parlate ghe", "ghe del nord", "le parlate gheghe del nord"),
        ("- a", "\n- a\n- b", "- a\n- a\n- b"),
    ],
)
def test_a_short_accidental_overlap_is_kept(said, continuation, whole):
    assert join(said, continuation) == whole


@pytest.mark.behaviour("C14", "C7")
@pytest.mark.parametrize("size", [1, 5, 1_000])
@pytest.mark.parametrize("info", ["json", ""])
@pytest.mark.parametrize("lead", ["\n        ", "        "])
@pytest.mark.parametrize("cut", ["\n        ", "\n    ", "\n"])
def test_white_space_that_was_held_is_there_once_behind_a_fence(size, info, lead, cut):
    before = f'Here:\n\n```{info}\n{{\n    "license": 1,\n    "hashes": ['
    line = '    "hashes": [' if not info else ""
    more = f"```{info}\n{line}{lead if not line else chr(10) + ' ' * 8}{{"
    seam = Seam(before, trimmed=cut)
    came = "".join(seam.feed(more[at : at + size]) for at in range(0, len(more), size))
    assert before + came + seam.finish() == before + "\n        {"


@pytest.mark.behaviour("C14")
@pytest.mark.parametrize("size", [1, 5, 1_000])
@pytest.mark.parametrize("break_", ["\n\n", "\n\n---\n\n"])
@pytest.mark.parametrize(
    "words",
    [
        "[continuing from the cut]",
        "\u2026and on we go",
        "Right. Where was I.",
        "Sorry about that!\n\nHere is the rest",
        "\uff08\u63a5\u4e0a\u6587\uff09",
    ],
)
def test_words_that_are_no_sentence_go_where_the_line_comes_again(words, break_, size):
    said = "Tides.\n\nThe moon pulls the sea tow"
    more = f"{words}{break_}The moon pulls the sea towards it."
    seam = Seam(said)
    came = "".join(seam.feed(more[at : at + size]) for at in range(0, len(more), size))
    assert said + came + seam.finish() == "Tides.\n\nThe moon pulls the sea towards it."


@pytest.mark.behaviour("C14")
def test_all_of_a_short_text_again_is_there_once():
    for said in ("10.0.3.91 - - [1", "[ticket.format]"):
        assert join(said, said + "2/Jun", trimmed="") == said + "2/Jun"


@pytest.mark.behaviour("C14b")
@pytest.mark.parametrize(
    ("said", "continuation"),
    [
        ("0" * 50, "0" * 70),
        ("ha ha ha", " ha ha ha"),
        ("- item\n- item\n- item", "\n- item\n- item"),
        ("na na na na na na", "na na na na na na"),
        ("[0, 0, 0, 0, 0, 0, 0, 0,", " 0, 0, 0, 0, 0, 0]"),
        ("abcabcabcabcabcabc", "abcabcabcabc"),
        ("| a | b |\n|---|---|", "\n|---|---|"),
        ("the quick brown fox. the quick brown fox.", " the quick brown fox."),
        ("* * * * * *", " * * * *"),
        ("一步一步一步", "一步一步"),
    ],
)
def test_periodic_text_is_no_evidence(said, continuation):
    assert join(said, continuation) == said + continuation


@pytest.mark.behaviour("C14")
@pytest.mark.parametrize(
    ("said", "continuation"),
    [
        ("Code:\n```\nrun\n", "```\nThat was all."),  # the document's own closing fence
        ("First part.\n\n", "Here is the rest:\n\nSecond part."),  # and its own announcement
        ("- one thing\n", "- one thing more\n"),
        ("Run this:\n\n", "```sh\nmake\n```"),
        (  # its closing fence was cut
            "```python\nx = 1\n``",
            "`\n\nRain waters more than snow.\n\n```python\n    end += 6\n",
        ),
        (  # it closes its block, and opens another one
            "```python\ndef f(m):\n    if frac or exp:\n",
            "```\n\nOthers carry it along.\n\nThen comes this.\n\n```python\n    end += 6\n",
        ),
        ("Name: Ann\n\nName:", " Paul.\n\nName: George"),
        # A digit before a capital is no word that breaks off.
        (
            "17882。\n\n2026-11-23",
            "T21:05:01Z INFO the stations that record!\n2026-11-23T00:15:55Z ERROR snow\n",
        ),
        (
            "More water people first gate more.\n2026-11-23",
            "T08:51:59Z INFO pressure opened a dam.\n2026-11-23T12:20:13Z WARN that year\n",
        ),
        (  # who begins a new message begins with no white space
            "ふるさとについての作文を書くようにと言った。\n\n## 結果\n\n## よくある質問",
            "\n\nこの橋は江戸時代の終わりに架けられた。\n\n## よくある質問\n",
        ),
    ],
)
def test_a_document_keeps_its_own_fences_and_announcements(said, continuation):
    trimmed, space = trailing_space(said)
    assert join(trimmed, continuation, trimmed=space) == said + continuation


@pytest.mark.behaviour("C14a", "S3b")
def test_an_echo_that_is_cut_inside_a_character_is_no_new_text():
    said = "担当者は資料を配りながら、来月までに結論を出すと約束した。三个观测站每小时记录"
    seam = Seam(said, exact=True)
    given_out = seam.feed(said[:30] + "\ufffd") + seam.finish(broke_off=True, at_limit=True)
    assert (given_out, seam.kind, seam.new_chars) == ("", "echo", 0)


@pytest.mark.behaviour("C14", "C28a")
def test_a_restart_in_other_words_is_not_spliced():
    said = essay(20)
    seam = Seam(said[:-40], trimmed=" ")
    given_out = seam.feed(said[:300] + " But now otherwise.") + seam.feed(" More.") + seam.finish()
    assert (given_out, seam.kind, seam.new_chars) == (" ", "diverged", 0)


@pytest.mark.behaviour("C14", "C13")
def test_a_restart_that_is_cut_again_adds_nothing():
    said = essay(200)
    seam = Seam(said)
    assert seam.feed(said[: len(said) // 2]) + seam.finish() == ""
    assert (seam.kind, seam.new_chars) == ("restart", 0)


# After a prefill ---------------------------------------------------------------------------------


@pytest.mark.behaviour("C14a")
def test_after_a_prefill_only_a_full_echo_is_removed():
    said = "The quick brown fox jumps over the lazy"
    assert join(said, said + " dog", exact=True) == said + " dog"
    for continuation in ("the lazy dog", " dog", "The quick brown fox runs", said[:-3], "", "lazy"):
        assert join(said, continuation, exact=True) == said + continuation


@pytest.mark.behaviour("C14a")
def test_an_echo_is_followed_by_an_index_and_nothing_is_held():
    said = "".join(f"line {number} of the text\n" for number in range(50_000)) + "end"
    seam = Seam(said, exact=True)
    assert all(seam.feed(said[at : at + 1_000]) == "" for at in range(0, len(said), 1_000))
    assert len(seam._held) == 0
    assert seam.feed(" of it") == " of it"
    assert (seam.kind, seam.new_chars, seam.is_passthrough) == ("echo", 6, True)


@pytest.mark.behaviour("C14a")
def test_a_prefill_too_short_to_prove_an_echo_is_kept():
    assert join("{", '{"a": 1}', exact=True) == '{{"a": 1}'
    assert join("ha", "haha", exact=True) == "hahaha"


# White space -------------------------------------------------------------------------------------


@pytest.mark.behaviour("C7", "C14")
@pytest.mark.parametrize("exact_seam", [False, True])
@pytest.mark.parametrize(
    ("trimmed", "continuation", "rest"),
    [
        ("", "x", "x"),
        (" ", "x", " x"),
        (" ", " x", " x"),
        ("\n", "\n\n    x", "\n\n    x"),
        ("\n\n", "\nx", "\n\nx"),
        ("\n", " x", "\n x"),
        ("\n    ", "    x", "\n    x"),  # the model left out the line break only
        ("\n  ", "\n    x", "\n    x"),
        (" ", "\nx", " \nx"),
        ("\n\n", "", "\n\n"),
        ("\n\n", "\n", "\n\n"),
    ],
)
def test_white_space_at_the_seam_is_merged(trimmed, continuation, rest, exact_seam):
    said = "Chapter one is over."
    assert join(said, continuation, trimmed=trimmed, exact=exact_seam) == said + rest
    for upto in range(len(trimmed) + 1):
        delivered = trimmed[:upto]
        seam = Seam(said, trimmed=trimmed, delivered_trimmed=delivered, exact=exact_seam)
        assert delivered + seam.feed(continuation) + seam.finish() == rest
        assert seam.new_chars == len(rest) - len(trimmed)


@pytest.mark.behaviour("C7", "C14")
@pytest.mark.parametrize("exact_seam", [False, True])
@pytest.mark.parametrize(
    ("trimmed", "continuation", "rest"),
    [
        ("\n        ", "\n    return b()", "\n    return b()"),
        ("\n        ", "\nx = 1", "\nx = 1"),
        ("\n\n        ", "\n    return b()", "\n\n    return b()"),
        ("\n\t\t", "\n\treturn b()", "\n\treturn b()"),
        ("\n\t\t", "\n    return b()", "\n    return b()"),
        ("\r\n        ", "\r\n    return b()", "\r\n    return b()"),
        ("\n    ", "\n\n  x", "\n    \n  x"),  # a line of white space, and the next one
        ("\n    ", "\n        x", "\n        x"),
    ],
)
def test_a_line_break_of_the_models_own_brings_its_own_indentation(
    trimmed, continuation, rest, exact_seam
):
    said = "def f(x):\n    if x:\n        a()"
    assert join(said, continuation, trimmed=trimmed, exact=exact_seam) == said + rest
    for upto in range(len(trimmed) + 1):
        delivered = trimmed[:upto]
        seam = Seam(said, trimmed=trimmed, delivered_trimmed=delivered, exact=exact_seam)
        whole = delivered + "".join(map(seam.feed, continuation)) + seam.finish()
        # What was delivered stays. Then the line is left blank, and the next one is right.
        assert whole == (rest if rest.startswith(delivered) else delivered + continuation)
        assert seam.new_chars >= len(rest.lstrip())


@pytest.mark.behaviour("C13", "C14a")
def test_white_space_alone_goes_on_with_nothing_but_after_a_prefill():
    said, trimmed = "Chapter one is over.", "\n"
    for more in ("\n\n\n", " ", ""):
        for delivered in ("", trimmed):
            seam = Seam(said, trimmed=trimmed, delivered_trimmed=delivered)
            assert delivered + "".join(map(seam.feed, more)) + seam.finish() == trimmed
            assert seam.new_chars == 0
    assert join(said, "\n\n\n", trimmed=trimmed, exact=True) == said + "\n\n\n"


def test_white_space_that_was_not_trimmed_cannot_have_been_delivered():
    with pytest.raises(ValueError, match="delivered_trimmed"):
        Seam("a", trimmed="\n", delivered_trimmed=" ")


@pytest.mark.behaviour("C28a")
def test_a_restart_in_other_words_in_mid_line_is_discarded_early():
    said = "The moon is a celestial body orbiting our planet. It's a satellite of Earth, it's a sight to"
    seam = Seam(said)
    again = "The moon is a celestial body orbiting our planet. It's a beautiful sight to see."
    assert seam.feed(again) + seam.finish() == ""
    assert seam.kind == "diverged"


def test_trailing_space_is_split_off():
    assert trailing_space("a b \n\t") == ("a b", " \n\t")
    assert trailing_space(" \n") == ("", " \n")
    assert trailing_space("a") == ("a", "")


# A live stream -----------------------------------------------------------------------------------

_texts = st.text(alphabet="ab \n`-x0é结", max_size=60)


def _in_pieces(seam: Seam, continuation: str, cuts: list[int]) -> str:
    given_out = ""
    edges = [0, *sorted({cut % (len(continuation) + 1) for cut in cuts}), len(continuation)]
    for begin, end in pairwise(edges):
        given_out += seam.feed(continuation[begin:end])
    return given_out + seam.finish()


@pytest.mark.behaviour("C16")
@settings(max_examples=400)
@given(
    said=_texts,
    continuation=_texts,
    cuts=st.lists(st.integers(0, 60)),
    exact_seam=st.booleans(),
    hold_chars=st.sampled_from([0, 1, 5, 30, 2_000]),
)
@example(said="\n", continuation=" \n 00", cuts=[1, 2, 3], exact_seam=False, hold_chars=0)
def test_any_chunking_of_any_continuation_gives_the_same(
    said, continuation, cuts, exact_seam, hold_chars
):
    said, trimmed = trailing_space(said)
    seam = Seam(said, trimmed=trimmed, exact=exact_seam, hold_chars=hold_chars)
    whole = join(said, continuation, trimmed=trimmed, exact=exact_seam, hold_chars=hold_chars)
    assert said + _in_pieces(seam, continuation, cuts) == whole


@pytest.mark.behaviour("C16")
@settings(max_examples=300)
@given(
    maker=st.sampled_from(MAKERS),
    seed=st.integers(0, 10_000),
    cuts=st.lists(st.integers(0, 3_000), max_size=30),
    hold_chars=st.sampled_from([20, 150, 2_000]),
)
def test_any_chunking_of_a_likely_continuation_gives_the_same(maker, seed, cuts, hold_chars):
    case = next(iter(cases(maker, 1, seed)))
    whole, by_char, in_pieces = (
        Seam(case.said, trimmed=case.trimmed, hold_chars=hold_chars) for _ in range(3)
    )
    expected = whole.feed(case.continuation) + whole.finish()
    assert _in_pieces(in_pieces, case.continuation, cuts) == expected
    assert "".join(map(by_char.feed, case.continuation)) + by_char.finish() == expected
    assert whole.kind == by_char.kind == in_pieces.kind
    assert whole.new_chars == by_char.new_chars == in_pieces.new_chars


@pytest.mark.behaviour("C16")
@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_what_is_held_back_is_bounded(maker):
    for case in cases(maker, 40, seed=6):
        seam = Seam(case.said, trimmed=case.trimmed, hold_chars=500)
        for char in case.continuation:
            seam.feed(char)
            assert len(seam._held) <= 500 + len(case.trimmed) + 1


@pytest.mark.behaviour("C16", "C14b")
@pytest.mark.parametrize("exact_seam", [False, True])
def test_a_megabyte_of_zeros_flows_from_its_first_delta(exact_seam):
    zeros = "0" * 1_000_000
    seam = Seam(zeros, exact=exact_seam)
    assert seam.feed("0" * 10) == "0" * 10
    assert seam.is_passthrough
    assert join(zeros, zeros, exact=exact_seam) == zeros + zeros


@pytest.mark.behaviour("C16", "C14")
def test_a_restart_of_a_megabyte_is_followed_by_an_index():
    said = "".join(f"line {number} of the text\n" for number in range(50_000)) + "end"
    seam = Seam(said)
    for at in range(0, len(said), 997):
        assert seam.feed(said[at : at + 997]) == ""
        assert len(seam._held) <= 2_000
    assert seam.feed(" of it") == " of it"
    assert (seam.kind, seam.new_chars) == ("restart", 6)


@given(said=_texts, continuation=_texts)
def test_after_a_prefill_without_echo_no_character_is_lost(said, continuation):
    said = said.strip()
    if not continuation.lstrip().startswith(said):
        assert join(said, continuation, exact=True) == said + continuation


# What the text shows -----------------------------------------------------------------------------


@pytest.mark.behaviour("C14")
@pytest.mark.parametrize(
    ("said", "continuation", "whole", "kind"),
    [
        (
            "2025-06-24 14:35:02 start one\n2025-06-24 14:35:09 stop one\n2025-06-24 14:3",
            "2025-06-24 14:37:16 start two\n",
            "2025-06-24 14:35:02 start one\n2025-06-24 14:35:09 stop one\n2025-06-24 14:37:16 start two\n",
            "line",
        ),
        (
            "10.0.0.17 - - GET\n10.0.0.18 - - GET\n10.0.0.",
            "10.0.0.222 - - GET\n",
            "10.0.0.17 - - GET\n10.0.0.18 - - GET\n10.0.0.222 - - GET\n",
            "line",
        ),
        (
            "for row in read_rows(path):\n    keep(row)\nfor row in read_lines(path):",
            "h):\n    keep(row)\n",
            "for row in read_rows(path):\n    keep(row)\nfor row in read_lines(path):\n    keep(row)\n",
            "overlap",
        ),
    ],
)
def test_the_text_shows_how_it_goes_on_where_little_is_said_again(said, continuation, whole, kind):
    trimmed, space = trailing_space(said)
    seam = Seam(trimmed, trimmed=space)
    given_out = "".join(map(seam.feed, continuation)) + seam.finish()
    assert (said + given_out, seam.kind) == (whole, kind)
    assert join(trimmed, continuation, trimmed=space) == whole


@pytest.mark.behaviour("C15")
@pytest.mark.parametrize(
    ("said", "continuation"),
    [
        ("INCLUDING, LIABLE FOR ANY DIRECT, IN", "DIRECT, INCIDENTAL, SPECIAL"),
        ("list(ini)\n>>> list(", "list(ini)[0].items())\n"),
        ("[\n    1,\n    null,\n    2,\n    null,", "\n    null,\n    3\n]"),
        ("* River water was pressure losses more th", "e the engineers why compare"),
        ("* River water was pressure losses more th", "e the"),
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_what_a_text_may_well_say_twice_is_kept(said, continuation, size):
    seam = Seam(said)
    pieces = [continuation[at : at + size] for at in range(0, len(continuation), size)]
    assert "".join(map(seam.feed, pieces)) + seam.finish() == continuation


@pytest.mark.behaviour("C14")
def test_a_fence_behind_the_end_of_another_is_kept():
    said = "```sql\nSELECT 1;\n```\n\nAnd then:\n\n```sh\nls\n```"
    continuation = "\n\n```javascript\nexport const one = 1;\n```\n"
    assert join(said, continuation) == said + continuation


@pytest.mark.behaviour("C14")
def test_lines_that_come_again_behind_an_announcement_may_stand_below_a_colon():
    said = (
        "def load(rows):\n    for row in rows:\n        if not row:\n"
        '            raise ValueError("no row")\n        keep(row)\n        re'
    )
    again = said[said.index("            raise") :]
    for break_ in ("\n", "\n\n"):
        continuation = f"Here is the rest of the file:{break_}{again}port(row)\n"
        assert join(said, continuation) == said + "port(row)\n"


if __name__ == "__main__":
    print(table_of_rates(measure()))


@pytest.mark.behaviour("C14a", "C15")
def test_white_space_that_the_client_has_comes_no_second_time_from_a_prefill():
    for had, came in (("\n ", ""), ("\n", ""), ("", "\n")):
        seam = Seam("cls = Encoder", trimmed="\n ", delivered_trimmed=had, exact=True)
        assert seam.feed("\n") + seam.finish() == came


@pytest.mark.behaviour("C16")
def test_a_replacement_character_that_white_space_follows_was_not_cut_there():
    said, space = trailing_space("caf\ufffd\n")
    assert (said, space) == ("caf\ufffd", "\n")
    assert join(said, "and tea", trimmed=space, delivered_trimmed=space) == "caf\ufffd\nand tea"


@pytest.mark.behaviour("C15", "S8")
def test_a_line_too_long_to_be_waited_for_opens_no_fence_in_a_body_either():
    said, more = "```python\n    return", "```python " + "x" * 61 + "\n    return x\n```"
    whole, cut = Seam(said), Seam(said)
    body = whole.feed(more) + whole.finish()
    assert "".join(map(cut.feed, more)) + cut.finish() == body
    assert whole.kind == cut.kind == "exact"


@pytest.mark.behaviour("C14", "C16")
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_one_letter_behind_a_fence_that_opens_again_is_not_lost_where_words_begin_with_two(size):
    lines = "".join(f"llm_model/{name},1\n" for name in ("a", "b", "c"))
    said, fence = f"Text.\n\n```csv\n{lines}l", "```csv\n"
    for rest in ("lm_model/d,1\n```\n", "lm_model/d,1"):
        seam, text = Seam(said), fence + rest
        out = "".join(seam.feed(text[n : n + size]) for n in range(0, len(text), size))
        out += seam.finish()
        assert said + out == f"Text.\n\n```csv\n{lines}l{rest}"


@pytest.mark.behaviour("C14", "C16")
@pytest.mark.parametrize(
    "preamble",
    [
        "You're right, it was cut off!\nNothing above has changed.",
        "---\n**Continued from previous message**",
        "🔄 Reprise\n________",
        "申し訳ございません。\n以下、続きです。",
        "// ... continued from previous message",
        "2/2",
        "ok so\nhere is the rest",
        "Sorry! The rest of the code:\n```python\n\n---",
    ],
)
def test_a_preamble_of_any_shape_goes_where_its_line_comes_again(preamble):
    said = "Two steps:\nThe first step opens the fi"
    continuation = f"{preamble}\n\nThe first step opens the file."
    seam = Seam(said)
    assert seam.feed(continuation) + seam.finish() == "le."
    assert seam.kind == "preamble"
    seam = Seam(said)
    assert "".join(map(seam.feed, continuation)) + seam.finish() == "le."


@pytest.mark.behaviour("C14b")
@pytest.mark.parametrize(
    ("said", "continuation"),
    [
        (
            "- Apples\n- Pears from the gar",
            "den\n- Plums\nThese grow here:\n\n- Pears from the garden, too\n",
        ),
        ("#define FOO_A 1\n#define FOO_", "BAR_B 2\n#endif\n\n#define FOO_C 3\n"),
        (
            "PyAPI_FUNC(int) PyOne(void);\nPy",
            "API_FUNC(int) PyTwo(void);\n\nPyMODINIT_FUNC init;\n",
        ),
        (
            "Call $obj->one.\n\n=item $item = $obj-",
            ">get\n\n=item $item = $obj->get($key)\n\nAs $obj->get.\n",
        ),
        ("#define A 1\n#include", " <one.h>\n\n#include <two.h>\n"),
        (
            "2026-11-23",
            "T07:48:25Z INFO count=312 Few people were there as was the:\n2026-11-23T16:59:10Z WARN ",
        ),
    ],
)
def test_several_lines_of_the_text_itself_are_no_preamble(said, continuation):
    assert join(said, continuation) == said + continuation


LAMPS = "First line of it here.\n- The old lighthouse stands on the rock and lights the boats that"
SUM = (
    "So:\n\n```python\ndef lights(boats):\n"
    "    return sum(boat.lamp for boat in boats if boat.sails and"
)


@pytest.mark.behaviour("S3b")
@pytest.mark.parametrize(
    ("said", "continuation"),
    [
        (LAMPS, "[continued]\n\n- The old lighthouse stands on the rock and lights"),
        (LAMPS, "Continuing:\n- The old lighthouse stands on the rock and lights"),
        (LAMPS, "好的,继续:\n\n- The old lighthouse stands on the rock and lights"),
        (SUM, "```python\n    return sum(boat.lamp for boat in boats if boat"),
    ],
)
def test_what_breaks_off_in_a_repetition_behind_a_preamble_or_a_fence_adds_nothing(
    said, continuation
):
    for size in (1, len(continuation)):
        seam = Seam(said)
        pieces = [continuation[at : at + size] for at in range(0, len(continuation), size)]
        came = "".join(map(seam.feed, pieces))
        assert came + seam.finish(broke_off=True) == ""
        assert seam.new_chars == 0


@pytest.mark.behaviour("C14")
def test_a_row_that_has_ended_is_not_gone_on_with_by_one_of_its_cells():
    said = "| stations | pressure | pressure |"
    continuation = "sure | pressure |\n| --- | --- | ---: |\n"
    seam = Seam(said, trimmed="\n")
    assert seam.feed(continuation) + seam.finish() == "\n| --- | --- | ---: |\n"
    assert seam.kind == "overlap"


@pytest.mark.behaviour("S4a", "C7")
@pytest.mark.parametrize("size", [1, 3, 10_000])
@pytest.mark.parametrize(
    ("aside", "came", "new"),
    [
        ("\n    kw['o", "kw['one'] = 1", "\n    kw['one'] = 1"),
        (
            "\n    kw['o",
            "    kw['one'] = 1",
            "\n    kw['one'] = 1",
        ),  # the line break alone is missing
        ("\n    kw['o", "\n    kw['one'] = 1", "\n    kw['one'] = 1"),
        ("\n    kw['o", "kw", "\n    kw"),  # it ends before it could say all of that
        ("\n    kw['o", " and so on", " and so on"),
        ("\n    kw['o", "ld.", "ld."),  # other words: nothing tells of white space
        (" caf\ufffd", "café", " café"),
        (" \ufffd", "ψαράδες", " ψαράδες"),
        (" \ufffd", " ψαράδες", " ψαράδες"),
        ("\n \ud83d", "🎣 at six", "\n 🎣 at six"),
        (" \ufffd", "fishers", "fishers"),  # a character of one byte cannot be cut
        (" \ufffd", "…", " …"),
        ("kw['o", "kw['one']", "kw['one']"),
    ],
)
def test_white_space_that_was_put_aside_comes_back_with_its_words(
    aside: str, came: str, new: str, size: int
) -> None:
    seam = Seam("if one is not None:", aside=aside)
    pieces = [came[at : at + size] for at in range(0, len(came), size)]
    assert "".join(map(seam.feed, pieces)) + seam.finish() == new


BORDER = "    +---------------+-------------------+"
CUT_BORDER = BORDER[:-8]
TABLE = f"Said:\n\n{BORDER}\n    | true          | True              |\n"
TRUE = "    | true          | True              |\n"


@pytest.mark.behaviour("C14")
@pytest.mark.parametrize("size", [1, 3, 1_000])
@pytest.mark.parametrize(
    ("before", "again"),
    [(TABLE, "|\n" + BORDER), (TRUE, "|\n" + BORDER), (TABLE, BORDER[-19:])],
    ids=["known", "new", "a part"],
)
def test_a_border_that_comes_again_is_known_by_the_line_that_it_completes(
    before: str, again: str, size: int
) -> None:
    rest = "\n    | false         | False             |\n"
    assert _pieced(before + CUT_BORDER, again + rest, size) == before + BORDER + rest
    for cut in range(1, 9):
        honest = BORDER[-cut:] + rest
        assert _pieced(before + BORDER[:-cut], honest, size) == before + BORDER + rest


@pytest.mark.behaviour("C14")
@pytest.mark.parametrize("size", [1, 1_000])
def test_a_rule_of_any_length_goes_on(size: int) -> None:
    for said, rest in [
        ("Title\n" + "-" * 30, "-" * 10 + "\nText"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\n| c | d |\n|---|-", "--|\n| 3 | 4 |"),
        ("\n".join(["=" * 24] * 3) + "\n" + "=" * 12, "=" * 12 + "\n"),
        ("+-----+" * 4 + "\n" + "+-----+" * 2, "+-----+" * 2 + "\n"),
    ]:
        assert _pieced(said, rest, size) == said + rest


def _pieced(said: str, came: str, size: int) -> str:
    seam = Seam(said)
    pieces = [came[at : at + size] for at in range(0, len(came), size)]
    return said + "".join(map(seam.feed, pieces)) + seam.finish()


@pytest.mark.behaviour("S3b", "C14")
@pytest.mark.parametrize("size", [1, 1_000])
@pytest.mark.parametrize(
    ("came", "new"),
    [
        ("The moon", ""),
        ("The moon pulls the s", ""),
        ("The mo", "The mo"),  # too little to tell
        ("the moon", "the moon"),
        ("The moon pulls the tides", "The moon pulls the tides"),
    ],
)
def test_an_echo_of_the_prefill_that_the_limit_cuts_adds_nothing(
    came: str, new: str, size: int
) -> None:
    seam = Seam("The moon pulls the sea, and so do", exact=True)
    pieces = [came[at : at + size] for at in range(0, len(came), size)]
    got = "".join(map(seam.feed, pieces)) + seam.finish(broke_off=True, at_limit=True)
    assert got == new
    clean = Seam("The moon pulls the sea, and so do", exact=True)
    assert clean.feed(came) + clean.finish() == came, "the model's own end"
