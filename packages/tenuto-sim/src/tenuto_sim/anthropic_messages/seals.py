"""Values that only the provider can make: thinking signatures, and encrypted search results.

They are derived from their content, so forged or edited blocks are recognized without state.
"""

from __future__ import annotations

from typing import Final

from tenuto_sim.prose import key_of

SUMMARY: Final = "Summary of the conversation. The user asked: "


def signature(thinking: str) -> str:
    """Return the signature of thinking.

    >>> signature("a") == signature("a") != signature("b")
    True
    """
    return "EqsimSig" + key_of("signature", thinking, length=56) + "=="


def cipher(url: str) -> str:
    """Return the encrypted content of a search result.

    >>> cipher("https://a.example") == cipher("https://b.example")
    False
    """
    return "EqsimEnc" + key_of("cipher", url, length=56) + "=="
