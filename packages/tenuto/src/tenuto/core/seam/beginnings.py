"""How a preamble may begin, where what came of a continuation is too little to show a repetition.

A text that was cut within a sentence nearly always goes on with a small letter, a digit, or a
letter of a script without capitals, and hardly any preamble begins so. What begins with none of
these words is forwarded at once. A preamble that is missed stays in the text, where a reader can
ignore it.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["may_announce", "sounds_announcing"]

_WORDS: Final = frozenset((
    "a", "again", "ah", "also", "and", "apologies", "aqui", "aquí", "as", "below", "bien",
    "carrying", "certo", "claro", "cont", "continuación", "continuando", "continue", "continued",
    "continuing", "continuo", "continúo", "dalej", "desculpe", "devam", "désolé", "ecco",
    "entschuldigung", "following", "going", "got", "here", "hier", "hm", "hmm", "i", "ich", "it",
    "je", "klar", "let", "looks", "my", "natürlich", "no", "of", "oh", "ok", "okay", "oops",
    "oui", "p", "part", "perdón", "picking", "remaining", "rest", "resuming", "right", "segue",
    "sigo", "so", "sorry", "src", "starting", "suite", "sure", "the", "understood", "verder",
    "voici", "voilà", "weiter", "whoops", "yes", "вот", "да", "далее", "дальше", "далі",
    "извини", "извините", "конечно", "ок", "продовжую", "продолжаю", "продолжение", "простите",
    "так",
))  # fmt: skip
"""In small letters, of languages with capitals."""

_PREFIXES: Final = (
    "好的", "好,", "好，", "好！", "抱歉", "对不起", "不好意思", "收到", "没问题", "当然",
    "明白", "了解", "可以", "是的", "嗯", "刚才", "刚刚", "上文", "上面", "上一", "前文", "接上",
    "接着", "接下", "继续", "下面", "以下", "以上", "续", "剩", "其余", "余下", "后续", "由于",
    "因为", "我接", "我继续", "我会", "我将", "我来", "让我", "文件", "補", "补", "繼續",
    "對不起", "沒問題", "當然", "はい", "承知", "申し", "すみ", "すい", "では", "それでは", "続",
    "つづ", "残り", "引き続き", "先ほど", "途中", "途切れ", "中断", "かしこ", "わかり", "分かり",
    "もちろん", "失礼", "ごめん", "네", "예,", "죄송", "계속", "이어", "물론", "알겠", "나머지",
    "앞", "위", "다음", "코드", "중단", "중간", "끊긴", "تكملة", "بالتأكيد", "عذر", "نعم", "حسن",
    "إليك", "أعتذر", "آسف", "المتابعة", "أكمل", "متابعة", "استكمال", "يتبع", "بقية", "המשך",
    "בטח", "סליחה", "ادامه", "البته", "بله", "متأسف", "ठीक", "हाँ", "माफ़", "यहाँ", "आगे", "शेष",
    "बाकी", "बिल्कुल", "क्षमा", "जारी", "ต่อ", "แน่นอน", "ขอโทษ",
)  # fmt: skip
"""Of languages without capitals, or without spaces between words."""

_ANNOUNCES: Final = (
    "sure,", "sure!", "sure.", "sure thing", "sure —", "sure -", "certainly", "of course,",
    "of course!", "ok,", "okay,", "ok.", "okay.", "ok so", "okay so", "ok continuing", "right,",
    "right.", "right —", "alright", "got it", "understood", "no problem", "absolutely",
    "happy to", "here is the", "here's the", "here are the", "here it is", "here we go",
    "here you go", "continuing", "continued", "continuation", "resuming", "to continue",
    "let me continue", "let me pick", "let me finish", "let me resume", "let's continue",
    "picking up", "carrying on", "going on from", "i'll continue", "i'll carry on", "i'll pick",
    "i'll resume", "i'll finish", "i will continue", "i will resume", "i was cut", "i got cut",
    "i continue", "i apologize", "i'm sorry", "i am sorry", "sorry", "apologies", "my apologies",
    "my previous", "my last", "my response", "my message", "my answer", "as i was saying",
    "where was i", "where were we", "the rest of", "the remaining part", "the remainder",
    "rest of the", "rest:", "it looks like my", "it seems my", "it seems like my",
    "looks like my", "looks like i", "(…continu", "(...continu",
    "…continu", "...continu", "*continu", "**continu", "_continu", "<continu", "<|continu",
    "(cont", "[cont", "[resum", "(resum", "[the previous", "[my previous", "(picking",
    "[picking", "(fortsetz", "[fortsetz", "(suite", "[suite",
    "(segue", "(продолж", "[продолж", "natürlich", "selbstverständlich",
    "gerne,", "gerne!", "klar,", "klar!", "hier geht es", "hier ist der rest", "hier kommt",
    "hier die", "fortsetzung", "weiter geht", "weiter im", "ich mache weiter", "ich fahre fort",
    "ich setze", "entschuldigung", "verzeihung", "bien sûr", "d'accord", "voici la suite",
    "voici le reste", "voilà la suite", "suite de", "je continue", "je reprends", "je poursuis",
    "désolé", "toutes mes excuses", "excusez", "claro", "por supuesto", "aquí está el resto",
    "aquí tienes", "aquí sigue", "continúo", "continuando", "continuación", "sigo con",
    "sigo donde", "perdón", "¡perdón", "lo siento", "disculpa", "¡claro", "com certeza",
    "aqui está", "continuo", "desculpe", "perfeito, vamos", "certo", "ecco il", "ecco la",
    "scusa", "natuurlijk", "ik ga verder", "hier is de rest", "vervolg", "네,", "oczywiście",
    "kontynuuję", "przepraszam", "elbette", "tabii", "devam", "jasné", "självklart",
    "selvfølgelig", "конечно", "продолжаю", "продолжение", "продолжим", "вот остальн",
    "вот продолжение", "извини", "простите", "так, дописываю", "звичайно", "продовжую",
    *(prefix for prefix in _PREFIXES if len(prefix) > 1 and prefix not in ("以上", "以下")),
)  # fmt: skip
"""What nearly every announcement begins with, and hardly a text."""

_LOOK_CHARS: Final = 32
_MARKS: Final = frozenset("([*_<….¡")
"""A mark alone tells nothing: every text has them."""

_stamp = re.compile(r"\d{1,2}(?:[:/.]\d{0,2}){0,2}(?:\s.*)?", re.DOTALL).fullmatch
"""The time or the page with which a log or a document begins again: "00:14:32", "2/2"."""
_word = re.compile(r"[^\W\d_]+").match


def may_announce(text: str) -> bool:
    """Return whether a text may be the beginning of a preamble. It begins with a letter that is no
    capital, or with a digit.

    >>> may_announce("posite side"), may_announce("continuing from"), may_announce("cont")
    (False, True, True)
    >>> may_announce("的引力"), may_announce("接"), may_announce("2/2"), may_announce("12345")
    (False, True, True, False)
    """
    if text[0].isdigit():
        return _stamp(text) is not None
    if any(text.startswith(prefix) or prefix.startswith(text) for prefix in _PREFIXES):
        return True
    found = _word(text)
    word = found[0] if found else text
    if len(word) == len(text):
        return any(known.startswith(word) for known in _WORDS)
    return word in _WORDS


def sounds_announcing(text: str) -> bool:
    """Return whether a text begins like an announcement, as far as it came.

    >>> sounds_announcing("Sure, here"), sounds_announcing("Here i"), sounds_announcing("Here lies")
    (True, True, False)
    >>> sounds_announcing("Now I"), sounds_announcing("(")
    (False, False)
    """
    begun = text[:_LOOK_CHARS].lower().replace("\u2019", "'")
    if begun in _MARKS:
        return False
    return any(begun.startswith(one) or one.startswith(begun) for one in _ANNOUNCES)
