"""Lines that announce the rest of an answer, such as "Sure, here is the rest:".

If a model repeats the end of the text behind such a line, the repetition proves what the line is
(`preamble`). Without one, only the line's own words can. So this table holds what models say about
going on, language by language, and a line counts only if it is nothing else: an agreement or an
apology, what is announced, and a colon. A text that was cut within a sentence doesn't go on with
such a line. docs/decisions/2026-11-28-announcements-without-an-echo.md has the figures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tenuto.core.seam.evidence import COLONS

__all__ = ["announcement_ends", "is_announcement", "without_announcement"]

_AGREES: Final = (
    r"sure(?: thing)?|certainly|absolutely|of course|ok|okay|right|alright|all right|got it",
    r"yes|understood|no problem|no worries|you're right|hm+|oops|ah|will do|great|perfect",
    r"happy to|(?:i'm |i am |so )?sorry\b.*?|(?:my )?apologies\b.*?|i apologi[sz]e\b.*?",
    r"thanks?\b.*?|(?:it )?(?:looks|seems)\b.*?\b(?:cut|truncated|interrupted|stopped)\b.*?",
    r"(?:my|the) (?:(?:previous|last|earlier) )?(?:answer|message|response|reply|output)\b.*?",
    r"i (?:was|got) (?:cut|interrupted)\b.*?|no recap|got it|as requested|my bad|right back",
    r"natürlich|selbstverständlich|gerne|klar|sicher|ja|in ordnung|verstanden|alles klar",
    r"entschuldigung\b.*?|verzeihung\b.*?|tut mir leid\b.*?|bien sûr|d'accord|oui|entendu",
    r"compris|parfait|(?:je suis )?désolée?\b.*?|pardon\b.*?|(?:toutes )?mes excuses\b.*?",
    r"excusez\b.*?|¡?claro(?: que sí)?|por supuesto|sí|de acuerdo|entendido|perfecto|vale",
    r"¡?perdón\b.*?|(?:lo )?siento\b.*?|¡?disculp\w*\b.*?|com certeza|claro|sim|perfeito",
    r"entendido|desculp\w*\b.*?|certo|sì|va bene|scusa\b.*?|mi scuso\b.*?|natuurlijk|zeker|oké",
    r"oczywiście|jasne|przepraszam\b.*?|elbette|tabii(?: ki)?|özür\b.*?|конечно|хорошо|да",
    r"понял|понятно|так|извини\w*\b.*?|прости\w*\b.*?|звичайно|好的?|当然(?:可以)?|没问题|收到",
    r"明白了?|了解|是的|嗯|可以|抱歉.*?|对不起.*?|不好意思.*?|當然|沒問題",
    r"(?:刚才|上一|由于|因为).*?(?:断|限制|写完).*?|はい|承知(?:しま|いたしま)した",
    r"わかりました|分かりました|かしこまりました|もちろん(?:です)?|了解(?:です|しました)?",
    r"(?:大変)?申し訳.*?|すみません.*?|失礼.*?|では|それでは|네|예|물론(?:입니다|이죠)?",
    r"알겠습니다|죄송합니다.*?|بالتأكيد|نعم|حسن[اًا]*|طبع[اًا]*|عذر[اًا]*.*?|آسف.*?|हाँ",
    r"बिल्कुल|ज़रूर|ठीक है|क्षमा.*?|माफ़.*?",
)
"""What an announcement may begin with: an agreement, an apology, and what it apologizes for."""

_REST: Final = r"(?:rest|remainder|continuation|remaining \w+(?: \w+)?|remaining)"
_THE: Final = "(?:the|your|my) "
_I_WILL: Final = (
    "(?:i'll|i will|let me|let's|i(?:'m| am) going to) (?:(?:now|just|simply|go ahead and) )?"
)
_COMES: Final = "(?:(?:ist|kommt|kommen|folgt|sind) )?(?:nun )?"
_ANNOUNCED: Final = (
    rf"(?:and )?(?:here(?:'s| is| are| comes)|this is|below is) {_THE}(?:\w+ )?{_REST}\b.*",
    rf"(?:the )?{_REST}(?: of {_THE}[^.:]*)?",
    r"(?:now |just )?(?:continu(?:ing|ed)|resuming|picking (?:it )?(?:back )?up|carrying on)\b.*",
    r"continuation\b.*|to continue\b.*|going on\b.*",
    rf"{_I_WILL}(?:continue|resume|carry on|go on|keep going|finish|complete)\b.*",
    rf"{_I_WILL}pick (?:it )?(?:back )?up\b.*",
    r"(?:and so )?as i was (?:saying|writing)\b.*",
    r"(?:the |my )?(?:continuation|answer|output|text|response) (?:goes on|continues|follows)\b.*",
    r"(?:right )?back to it|here we go again\b.*",
    r"(?:re)?starting (?:again )?(?:from|at|with)\b.*\b(?:unfinished|line|row|sentence|cut)\b.*",
    r"(?:no repetition, )?just the (?:rest|remainder|continuation)|rest of (?:the )?\w+",
    r"(?:und )?(?:hier|jetzt|nun|so)(?: geht es|'s geht| geht's| geht)? weiter\b.*",
    rf"hier {_COMES}(?:der rest|die fortsetzung|der restliche|die restlichen)\b.*",
    r"der rest des\b.*|weiter|(?:die )?fortsetzung\b.*|weiter (?:geht|im|mit)\b.*",
    r"ich (?:fahre|mache|setze|schreibe)\b.*\b(?:fort|weiter)\b.*",
    r"(?:et )?voici (?:donc )?(?:la suite|le reste|la fin)\b.*|(?:la )?suite(?: .*)?",
    r"je (?:continue|reprends|poursuis)\b.*",
    r"(?:on|nous) (?:continue|reprend|poursuit|continuons)\b.*",
    r"(?:aquí|acá) (?:está|tienes|va|sigue|viene)\b.*\b(?:resto|continuación|sigue)\b.*",
    r"aquí (?:sigue|continúa)\b.*|(?:la )?continuación\b.*|contin(?:úo|uando|uaré|uamos)\b.*",
    r"sigo\b.*|retomo\b.*|aqui (?:está|vai|segue)\b.*\b(?:rest\w*|continuação)\b.*",
    r"segue (?:o resto|a continuação)\b.*|continu(?:ando|ação|o|arei)\b.*",
    r"(?:vamos )?continuar\b.*|ecco (?:il (?:resto|seguito)|la (?:continuazione|parte))\b.*",
    r"continuo\b.*|riprendo\b.*|proseguo\b.*",
    r"(?:hier (?:is|volgt|komt) (?:de rest|het vervolg)|ik ga (?:verder|door)|vervolg)\b.*",
    r"(?:oto (?:reszta|ciąg dalszy|dalsza część)|kontynuuję|ciąg dalszy)\b.*",
    r".*\bdevam (?:ediyorum|ediyoruz|edeyim)\b.*|(?:işte )?(?:devamı|kalan\w* kısm\w*)\b.*",
    r"(?:вот )?(?:остальн\w+|остаток|продолжение|дальше|далее)\b.*|продолж(?:аю|им|у)\b.*",
    r"продовж(?:ую|ення)\b.*",
    r".{0,8}(?:继续|接着|接下来|接上文?|剩余|剩下|其余|余下|后续|续|繼續|續).{0,40}",
    r"(?:以下|下面|这)(?:是|为|就是).{0,6}(?:剩余|剩下|其余|余下|后续|后面|续).{0,30}",
    r".{0,20}(?:続き|続け|つづき|残り|再開).{0,30}|.{0,20}(?:이어서|계속|나머지|이어).{0,30}",
    r"(?:إليك |هذا |هذه |هنا )?(?:بقية|تكملة|المتابعة|متابعة|استكمال|باقي|سأكمل|سأتابع)\b.*",
    r".{0,30}(?:जारी|शेष|बाकी|आगे).{0,40}",
)
"""What is announced, from its first word on."""

_WHERE: Final = (
    r"\bwhere (?:i|it|we|the \w+) (?:was|were|left|stopped|broke|got|had)\b|\bcut[ -]?off\b",
    r"\b(?:unfinished|broken|interrupted|truncated) (?:line|sentence|word|row)\b",
    r"\bpicking up again\b|wo ich (?:aufgehört|stehen)|abgebrochen|là où|interrompu",
    r"donde (?:lo |me )|onde par|dove (?:ero|mi ero)|waar ik|где остановил|с того места|中断",
    r"断开|断的|途切れ|끊긴|توقفت",
)
"""With these words, an announcement may also end in a full stop before a blank line."""

_MARKS: Final = " \t*_#>[](){}<|/=~`.…–—-【】（）「」《》👌😊😅🙏👇"
_enclosed = re.compile(
    r"(?:\[|\(|<|\*|_|【|（|—|–|-|=|~|…|\.\.)+ ?.*(?:\]|\)|>|\*|_|】|）|—|–|-|=|~)"
).fullmatch
_parts = re.compile(r"(?:[:：—–…】）]|\.\.\.|[\])>*_~.!。！](?=\s|$)| -(?=\s))[ \t]*").finditer
"""What may come between an announcement and the text on the same line."""
_clauses = re.compile(r"[.!?。！？…,，、;；：—–]+|: | - ").split
_agrees = re.compile("|".join(_AGREES), re.IGNORECASE).fullmatch
_announces = re.compile("|".join(_ANNOUNCED), re.IGNORECASE).fullmatch
_says_where = re.compile("|".join(_WHERE), re.IGNORECASE).search

_CLOSING: Final = " \t*_👌😊😅🙏👇"
_MOST_CHARS: Final = 160
_MOST_CLAUSES: Final = 4


def is_announcement(line: str, *, apart: bool) -> bool:
    """Return whether a line is nothing but the announcement of the rest of an answer. `apart`:
    whether a blank line follows.

    >>> is_announcement("Sure, here is the rest of the answer:", apart=False)
    True
    >>> is_announcement("Continuing from where I left off.", apart=True)
    True
    >>> is_announcement("[continued]", apart=True), is_announcement("好的，继续：", apart=False)
    (True, True)
    >>> is_announcement("Here is the list:", apart=True), is_announcement("Continue.", apart=True)
    (False, False)
    """
    bare = line.rstrip(_CLOSING).strip()
    if not bare or len(bare) > _MOST_CHARS:
        return False
    closes = bare.endswith(COLONS) or (apart and _says_where(bare) is not None)
    closed = closes or _enclosed(line.strip()) is not None
    return closed and _says_only_that(bare.rstrip(":：").replace("’", "'"))


def announcement_ends(line: str, *, torn: bool) -> Iterator[int]:
    """Yield where the text may begin that is on one line with the announcement before it.
    `torn`: whether the line would join a capital to a word. Then an agreement tells enough.

    Only a repetition there shows that this is no part of the text.

    >>> list(announcement_ends("Continuing: The moon", torn=False))
    [12]
    >>> list(announcement_ends("Sure! The moon", torn=False))
    []
    >>> list(announcement_ends("Sure! The moon", torn=True))
    [6]
    """
    for part in _parts(line, 0, _MOST_CHARS):
        words = line[: part.start()].replace("’", "'")
        if _says_only_that(words) or (torn and _agrees(words.strip(_MARKS)) is not None):
            yield part.end()


def without_announcement(text: str) -> str:
    """Return a text without the announcement on its first line.

    >>> without_announcement("Continuing:\\n\\nThe moon"), without_announcement("The moon")
    ('The moon', 'The moon')
    """
    line = text.partition("\n")[0]
    return text[max(announcement_ends(line, torn=False), default=0) :].lstrip()


def _says_only_that(line: str) -> bool:
    """Return whether the first clause announces the rest, or agrees or apologizes before one that
    does."""
    first, *others = [bare for one in _clauses(line) if (bare := one.strip(_MARKS))] or [""]
    if _announces(first):
        return True
    return _agrees(first) is not None and any(map(_announces, others[:_MOST_CLAUSES]))
