"""Hold an answer that may add nothing: asked to continue after a break, the model greets, offers
help, or says that it was done (S3a).

Theory of operation
-------------------
Such an answer is short and has nothing else in it. It is held while every sentence may be one of
those, and released as soon as one is not. A continuation in the middle of a sentence is never held.
Sentences are recognized by their beginnings, whatever words follow.
"""

from __future__ import annotations

import re
from typing import Final

from tenuto.core.joint import Joint

__all__ = ["NoNews", "confirms_end"]

_HOLD_CHARS: Final = 400
"""A longer answer adds something."""

_LOOK_CHARS: Final = 32
"""How many characters at the beginning or the end of a text are compared."""

_ITSELF = r"(?: \w+){0,3} (?:message|answer|response|reply|text|list|output)(?: \w+){0,4}"
_PHRASES: Final = (
    # Greetings.
    r"(?:hello|hi|hey|greetings|good (?:morning|day|evening))(?:,? (?:there|again|everyone))?",
    r"(?:hallo|guten (?:tag|morgen|abend)|bonjour|salut|hola|ciao|ol[áà])",
    r"(?:你好|您好|こんにちは|안녕하세요|здравствуйте|привет)",
    # Offers of help.
    r"(?:how|what) (?:can|may|could) i (?:help|assist|do for)\b.*",
    r"(?:is there|do you have|would you like|did you want) (?:anything|something|any|me)\b.*",
    r"(?:please )?(?:let me know|feel free|don't hesitate)\b.*",
    r"(?:i'?m|i am) (?:here|happy|glad|ready) to (?:help|assist|answer|go on|continue)\b.*",
    r"what would you like\b.*",
    r"(?:wie|womit|was) kann ich (?:dir|ihnen|euch|für)\b.*|kann ich (?:dir|ihnen)\b.*",
    r"(?:comment|en quoi) puis-je\b.*|(?:en qué|cómo) puedo\b.*|como posso\b.*",
    r"(?:有什么|请问|如何|我能|我可以).{0,20}(?:帮|协助).*|何かお手伝い.*|чем (?:я )?могу\b.*",
    # Statements that the answer is complete.
    (
        rf"(?:it (?:looks|seems|appears)(?: like| that)? )?(?:my|the|that|this|your){_ITSELF} "
        r"(?:is|was|were|has|had|ended|seems|appears)\b.*"
        r"\b(?:complete|completed|whole|finished|full|end|ended|delivered)\b.*"
    ),
    (
        r"(?:there is |there's )?(?:nothing|no (?:text|content|more|further|continuation)\b.{0,20})"
        r".{0,20}\b(?:missing|to (?:add|continue|complete)|needed|left)\b.*"
    ),
    r"(?:that|this) (?:is|was) (?:all|everything|the end)|that's (?:all|it)",
    (
        r"(?:meine?|die|das|der) (?:\w+ )?(?:nachricht|antwort|text)(?: \w+){0,3} (?:war|ist)\b.*"
        r"\b(?:vollständig|komplett|fertig)\b.*|es fehlt nichts\b.*"
    ),
    (
        r"(?:ma|la|le) (?:\w+ )?(?:réponse|message|texte)(?: \w+){0,3} (?:est|était)\b.*"
        r"\bcompl[eè]te?\b.*"
    ),
    (
        r"(?:mi|la|el) (?:\w+ )?(?:respuesta|mensaje|texto)(?: \w+){0,3} (?:est[áa]|era)\b.*"
        r"\bcomplet[oa]\b.*"
    ),
    r".{0,12}(?:回答|消息|内容|回复).{0,8}(?:完整|完成|结束).*|.{0,12}(?:回答|メッセージ).{0,8}完.*",
)
_is_phrase = re.compile("|".join(f"(?:{phrase})" for phrase in _PHRASES), re.IGNORECASE).fullmatch

_OPENINGS: Final = (
    "hello", "hi", "hey", "greetings", "good", "how", "what", "is there", "do you", "would you",
    "did you", "please", "let me", "feel free", "don't", "i'm", "im ", "i am", "it ", "my", "the",
    "that", "this", "your", "there", "nothing", "no ",
    "hallo", "guten", "wie", "womit", "kann", "was kann", "mein", "die", "das", "der", "es fehlt",
    "bonjour", "salut", "comment", "en q", "ma ", "la ", "le ",
    "hola", "cómo", "mi ", "el ", "ciao", "olá", "olà", "como",
    "привет", "здравствуйте", "чем",
    "你好", "您好", "有什么", "请问", "如何", "我", "以上", "上", "这", "前",
    "回答", "消息", "内容", "回复",
    "こんにちは", "何か", "メッセージ", "안녕",
)  # fmt: skip
"""How such a sentence may begin, language by language. Other beginnings are not held."""

_sentences = re.compile(r"[^.!?。！？\n]+[.!?。！？\n]*").findall
_AROUND: Final = "¡¿ \t\r\n[]()*_\"'“”‘’「」:)-–—😊👋.!?。！？,"


def says_nothing(text: str) -> bool:
    """Return whether every sentence of a text greets, offers help, or says that it is complete.

    >>> says_nothing("Hello! How can I help you today?"), says_nothing("Hello, world, is printed.")
    (True, False)
    >>> says_nothing("[The previous message was already complete.]"), says_nothing("")
    (True, False)
    """
    said = _bare_sentences(text)
    return bool(said) and all(map(_is_phrase, said))


def confirms_end(text: str, said: str) -> bool:
    """Return whether an answer that adds nothing agrees that the text before it is whole: it has no
    words, says that there is nothing more, or repeats the text to its end.

    One that stops earlier, or goes on in other words halfway, shows that answers break off here.

    >>> confirms_end("", "All of it."), confirms_end("The text:\\n\\nAll of it.", "All of it.")
    (True, True)
    >>> confirms_end("All o", "All of it.")
    False
    """
    last = text.strip(_AROUND)[-_LOOK_CHARS:]
    return said.rstrip(_AROUND).endswith(last) or says_nothing(text)


class NoNews:
    """The joint of an answer that may add nothing.

    Args:
        joint: where the answer joins the text so far, if it adds something.

    >>> from tenuto.core.seam import Seam
    >>> joint = NoNews(Seam("Said, and the cen"))
    >>> joint.feed("Is there anything ") + joint.feed("else?") + joint.finish(), joint.new_chars
    ('', 0)
    >>> joint = NoNews(Seam("Said, and the cen"))
    >>> joint.feed("ter.") + joint.finish()
    'ter.'
    """

    def __init__(self, joint: Joint) -> None:
        self._joint = joint
        self._held = ""
        self._over = False

    @property
    def new_chars(self) -> int:
        """The number of new characters handed on."""
        return self._joint.new_chars

    def feed(self, delta: str) -> str:
        """Take text; return what may be handed on now."""
        if self._over:
            return self._joint.feed(delta)
        self._held += delta
        return "" if _may_say_nothing(self._held) else self._let_go()

    def finish(self, *, broke_off: bool = False) -> str:
        """Return the rest, at the end of the attempt."""
        if not self._over and says_nothing(self._held):
            self._held = ""
        return self._let_go() + self._joint.finish(broke_off=broke_off)

    def _let_go(self) -> str:
        self._over = True
        held, self._held = self._held, ""
        return self._joint.feed(held) if held else ""


def _may_say_nothing(held: str) -> bool:
    """Return whether the text so far may be the beginning of such an answer."""
    bare = held.lstrip(_AROUND)
    if not bare:
        return len(held) < _LOOK_CHARS
    if bare[0].islower() or len(held) > _HOLD_CHARS:
        return False
    begun = bare[:_LOOK_CHARS].lower()
    if not any(begun.startswith(word) or word.startswith(begun) for word in _OPENINGS):
        return False
    return all(map(_is_phrase, _bare_sentences(held)[:-1]))  # the last one may still grow


def _bare_sentences(text: str) -> list[str]:
    """Return the sentences of a text without the marks around them."""
    return [bare for one in _sentences(text) if (bare := one.strip(_AROUND))]
