"""Hold an answer that may add nothing: asked to continue after a break, the model greets, offers
help, or says that it was done (S3a).

Theory of operation
-------------------
Such an answer is short and has nothing else in it. It is held while every sentence may be one of
those, and released as soon as one is not. A continuation in the middle of a sentence is never held.
The beginning of a sentence is not enough: "The output is a full list of tides." is content. So a
phrase describes a whole sentence, and a sentence that fits no phrase is forwarded. A reader can
ignore a greeting that stays, but cannot restore content that is lost.
"""

from __future__ import annotations

import re
from typing import Final

from tenuto.core.seam.stitcher import Stitcher

__all__ = ["SmallTalkFilter", "confirms_end"]

_HOLD_CHARS: Final = 400
"""A longer answer adds something."""

_LOOK_CHARS: Final = 32
"""How many characters at the beginning or the end of a text are compared."""

_NOUN: Final = r"(?:message|answer|response|reply|text|list|output)"
_WHICH: Final = r"(?:(?:previous|last|earlier|prior|preceding|above|original|whole|full|final) )*"
_WHERE: Final = (
    r"(?: (?:above|before|there|itself|so far)"
    r"| (?:that )?i (?:just )?(?:gave|sent|wrote|provided)(?: you)?)?"
)
_ITSELF: Final = rf"(?:my|the|that|this|your) {_WHICH}{_NOUN}{_WHERE}"
_DONE: Final = (
    r"(?:(?:(?:fully|completely) )?(?:complete|completed|whole|finished|full|ended|delivered)"
    r"(?: (?:already|above|there|now|in full"
    r"|as (?:it )?(?:is|was|stands|stood|written|given|sent)))?"
    r"|at (?:an|its) end|the (?:whole|full|complete) (?:answer|response|text|list))"
)
_AND_SO: Final = (
    r"(?:(?:[,;:–—-]| and| so| with| because| as)"
    r".*\b(?:nothing|(?:no|any|anything) (?:more|further)"
    r"|to (?:add|continue)|continued|continuation|not cut off)\b.*)?"
)
"""What may follow such a statement: that no more is to come."""
_GREETING: Final = (
    r"(?:(?:hello|hi|hey|greetings|good (?:morning|day|evening))(?:,? (?:there|again|everyone))?"
    r"|hallo|guten (?:tag|morgen|abend)|bonjour|salut|hola|ciao|ol[áà]"
    r"|你好|您好|こんにちは|안녕하세요|здравствуйте|привет)"
)
_PHRASES: Final = (
    # Offers of help.
    (
        r"(?:how|what)(?: else)? (?:can|may|could) i "
        r"(?:(?:help|assist)(?: (?:you|with|further|today|now|next)\b.*)?|do (?:for you|next)\b.*)"
    ),
    (
        r"is there (?:any|some)(?:thing|one)? ?(?:(?:else|more|further|other)"
        r"|\b.*\b(?:you(?:'d| would| want| need| like)|i (?:can|could|may|should))\b.*)"
    ),
    (
        r"(?:is there|do you have|would you like|did you want) (?:anything|something|any) "
        r"(?:else|more|other|further|specific|questions?|in mind|(?:that )?i can)\b.*"
    ),
    r"(?:would you like|did you want) me to\b.*",
    r"(?:would you like|did you want) to (?:know|hear|see|read) (?:more|anything)\b.*",
    (
        r"(?:please )?let me know(?: (?:(?:if|whether|what|how|when|which|in case)\b.*"
        r"\b(?:you(?:'d|'re)?|i can|i could|anything|any)\b.*))?"
    ),
    (
        r"(?:please )?(?:feel free|don't hesitate) to "
        r"(?:ask|reach|let|contact|tell|share|send|request|follow|provide|continue|give)\b.*"
    ),
    (
        r"(?:i'?m|i am) (?:here|happy|glad|ready) to (?:help|assist|answer|go on|continue)"
        r"(?:,.*| (?:you|with|further|any|more|if|whenever|when|now|again|out|your)\b.*)?"
    ),
    (
        r"what would you like(?: me to\b.*| help\b.*"
        r"| to (?:do|know|ask|talk|discuss|work|explore|focus|start|learn|continue|hear)\b.*)?"
    ),
    (
        r"(?:wie|womit|was) kann ich (?:dir|ihnen|euch|für (?:dich|sie|euch))\b.*"
        r"|kann ich (?:dir|ihnen)\b.*"
    ),
    r"(?:comment|en quoi) puis-je\b.*|(?:en qué|cómo) puedo\b.*|como posso\b.*",
    r"(?:有什么|请问|如何|我能|我可以).{0,20}(?:帮|协助).*|何かお手伝い.*|чем (?:я )?могу\b.*",
    # Statements that the answer is complete.
    (
        rf"(?:it (?:looks|seems|appears)(?: like| that)? )?{_ITSELF} "
        r"(?:is|was|(?:has|had)(?: already)? been|(?:seems|appears)(?: to be| to have been)?)"
        r"(?: (?:already|now|indeed|actually|in fact|therefore|then))*"
        rf" {_DONE}{_AND_SO}"
    ),
    (
        rf"(?:it (?:looks|seems|appears)(?: like| that)? )?{_ITSELF} (?:(?:has|had|already) )*ended"
        r"(?: (?:there|here|already|with (?:the|its) (?:complete|whole|full|final|last) \w+))?"
        rf"{_AND_SO}"
    ),
    (
        r"(?:there (?:is|was) |there's )?nothing(?: (?:else|more|further))?"
        r"(?: (?:is|was) (?:missing|needed|left out)"
        r"| (?:is |was )?(?:left )?to (?:add|continue|complete|say|finish))"
        rf"(?: (?:here|there|now|at this point|(?:from|in|to|on) (?:it|{_ITSELF})))?{_AND_SO}"
    ),
    (
        r"(?:there is |there's )?no (?:(?:more|further|other|additional) )?"
        r"(?:text|content|more|continuation|output)"
        r"(?: (?:is|was))?(?: left)? (?:missing|needed|to (?:add|continue|complete)|left)"
        rf"(?: (?:here|there|now|(?:from|in|to) (?:it|{_ITSELF})))?{_AND_SO}"
    ),
    r"(?:that|this) (?:is|was) (?:all|everything|the end)|that's (?:all|it|everything)",
    (
        r"(?:meine?|die|das|der) (?:(?:vorherige|letzte|vorige|obige|bisherige)[nrs]? )?"
        r"(?:nachricht|antwort|text)(?: (?:oben|davor|zuvor))? (?:war|ist)"
        r"(?: (?:bereits|schon|damit|somit|nun|jetzt|also))* (?:vollständig|komplett|fertig)"
        r"(?:(?:,| und| so).*\b(?:nichts|kein|keine|mehr)\b.*)?|es fehlt nichts(?: mehr)?"
    ),
    (
        r"(?:ma|la|le|mon) (?:(?:dernière?|précédente?) )?(?:réponse|message|texte)"
        r"(?: (?:précédente?|ci-dessus|d'avant))? (?:est|était)(?: (?:déjà|bien|donc))*"
        r" compl[eè]te?(?:(?:,| et).*\b(?:rien|plus|pas)\b.*)?"
    ),
    (
        r"(?:mi|la|el) (?:(?:última?|último) )?(?:respuesta|mensaje|texto)"
        r"(?: (?:anterior|de arriba))? (?:ya )?(?:está|esta|estaba|era)(?: ya)?"
        r" complet[oa](?:(?:,| y).*\b(?:nada|más|no)\b.*)?"
    ),
    (
        r".{0,8}(?:回答|消息|内容|回复)(?:已经|已|都|是|也|就|似乎|应该|本身)*"
        r"(?:完整|完成|结束)(?:无缺|了|的)*(?:[,，、;；].*(?:没有|无需|不需要|无须).*)?"
    ),
    r".{0,8}(?:回答|メッセージ)[はが](?:すでに|既に|もう)?完(?:了|成|結|全).{0,12}",
)
_is_phrase = re.compile(
    rf"{_GREETING}|(?:{_GREETING}[,，、] ?)?(?:{'|'.join(f'(?:{phrase})' for phrase in _PHRASES)})",
    re.IGNORECASE,
).fullmatch

_OPENINGS: Final = (
    "hello", "hi", "hey", "greetings", "good", "how", "what", "is there", "do you", "would you",
    "did you", "please", "let me", "feel free", "don't", "i'm", "im ", "i am", "it ", "my", "the",
    "that", "this", "your", "there", "nothing", "no ",
    "hallo", "guten", "wie", "womit", "kann", "was kann", "mein", "die", "das", "der", "es fehlt",
    "bonjour", "salut", "comment", "en q", "ma ", "la ", "le ", "mon ",
    "hola", "cómo", "mi ", "el ", "ciao", "olá", "olà", "como",
    "привет", "здравствуйте", "чем",
    "你好", "您好", "有什么", "请问", "如何", "我", "以上", "上", "这", "前",
    "回答", "消息", "内容", "回复",
    "こんにちは", "何か", "メッセージ", "안녕",
)  # fmt: skip
"""How such a sentence may begin, language by language. Other beginnings are not held."""

_sentences = re.compile(r"[^.!?。！？😊👋\n]+[.!?。！？😊👋\n]*").findall
_BEFORE: Final = "¡¿ \t\r\n[(*_:-–—😊👋.!?。！？,"
_AFTER: Final = " \t\r\n])*_:-–—😊👋.!?。！？,"
"""The marks around a sentence. Quotation marks are not among them: a greeting in quotation marks
belongs to a story. An open bracket at the end belongs to code."""


def is_small_talk(text: str) -> bool:
    """Return whether every sentence of a text greets, offers help, or says that it is complete.

    >>> is_small_talk("Hello! How can I help you today?"), is_small_talk("Hello, world, is shown.")
    (True, False)
    >>> is_small_talk("[The previous message was already complete.]"), is_small_talk("")
    (True, False)
    """
    sentences = _bare_sentences(text)
    return bool(sentences) and all(map(_is_phrase, sentences))


def confirms_end(text: str, before: str) -> bool:
    """Return whether an answer that adds nothing agrees that the text before it is whole: it has no
    words, says that there is nothing more, or repeats the end of the text.

    One that stops earlier, or goes on in other words halfway, shows that answers break off here.

    >>> confirms_end("", "All of it."), confirms_end("The text:\\n\\nAll of it.", "All of it.")
    (True, True)
    >>> confirms_end("All o", "All of it.")
    False
    """
    end = before.strip()[-_LOOK_CHARS:]
    again = text.strip()[-len(end) :]
    return end.endswith(again) or is_small_talk(text)


class SmallTalkFilter:
    """Stitches an answer that may add nothing.

    Args:
        stitcher: joins the answer to the text so far, if it adds something.
        sentences: the text so far, if it may be whole. An answer that repeats all of it adds
            nothing, even if it is too short for the stitcher to tell, such as "42".

    >>> from tenuto.core.seam.seam import Seam
    >>> stitcher = SmallTalkFilter(Seam("Said, and the cen"))
    >>> stitcher.feed("Is there anything ") + stitcher.feed("else?") + stitcher.finish()
    ''
    >>> stitcher.new_chars
    0
    >>> stitcher = SmallTalkFilter(Seam("Said, and the cen"))
    >>> stitcher.feed("ter.") + stitcher.finish()
    'ter.'
    """

    def __init__(self, stitcher: Stitcher, *, before: str = "") -> None:
        self._stitcher = stitcher
        self._before = before.strip() if len(before) < _LOOK_CHARS else ""
        self._held = ""
        self._over = False

    @property
    def new_chars(self) -> int:
        """The number of new characters forwarded so far."""
        return self._stitcher.new_chars

    def feed(self, delta: str) -> str:
        """Add text; return what may be forwarded now."""
        if self._over:
            return self._stitcher.feed(delta)
        self._held += delta
        again = self._before.startswith(self._held.strip())
        return "" if again or _may_be_small_talk(self._held) else self._let_go()

    def finish(self, *, broke_off: bool = False, at_limit: bool = False) -> str:
        """Return the rest, at the end of the attempt."""
        if not self._over and (is_small_talk(self._held) or self._held.strip() == self._before):
            self._held = ""
        return self._let_go() + self._stitcher.finish(broke_off=broke_off, at_limit=at_limit)

    def _let_go(self) -> str:
        self._over = True
        held, self._held = self._held, ""
        return self._stitcher.feed(held) if held else ""


def _may_be_small_talk(held: str) -> bool:
    """Return whether the text so far may be the beginning of such an answer."""
    bare = held.lstrip(_BEFORE)
    if not bare:
        return len(held) < _LOOK_CHARS
    if bare[0].islower() or len(held) > _HOLD_CHARS:
        return False
    begun = bare[:_LOOK_CHARS].lower().replace("’", "'")
    if not any(begun.startswith(word) or word.startswith(begun) for word in _OPENINGS):
        return False
    return all(map(_is_phrase, _bare_sentences(held)[:-1]))  # the last one may still grow


def _bare_sentences(text: str) -> list[str]:
    """Return the sentences of a text without the marks around them."""
    text = text.replace("’", "'")
    return [bare for one in _sentences(text) if (bare := one.lstrip(_BEFORE).rstrip(_AFTER))]
