"""What only the provider can make: signatures of thoughts, from which a forged one is known."""

from __future__ import annotations

from tenuto.sim.prose import key_of


def signature(thought: str) -> str:
    """Return the signature of a chain of thought.

    >>> signature("a") == signature("a") != signature("b")
    True
    """
    return "EqsimSig" + key_of("signature", thought, length=56) + "=="
