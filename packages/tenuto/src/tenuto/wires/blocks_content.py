"""The model's content over all attempts of a turn, block by block. Anthropic Messages and Bedrock's
Converse share this. Some blocks are text, some are reasoning, and each stands alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from tenuto.core.deciding.actions import Content
from tenuto.core.seam.white_space import space_behind
from tenuto.wires.answer import AttemptContent

Block = Mapping[str, Any]


def split_among(texts: Sequence[str], text: str) -> tuple[str, list[str]]:
    """Split a text among the given ones, from its end backwards, each taking as much as it held. So
    text that a seam removed is missing at the seam. Returns the excess text, which comes before
    them, and the piece of each.
    >>> split_among(["ab", "cd"], "bcd"), split_among(["cd "], "abcd")
    (('', ['b', 'cd']), ('ab', ['cd']))
    """
    surplus = max(space_behind("".join(texts)) - space_behind(text), 0)
    pieces: list[str] = []
    for held in reversed(texts):
        size = max(len(held) - surplus, 0)
        surplus -= len(held) - size
        cut = max(len(text) - size, 0)
        pieces.append(text[cut:])
        text = text[:cut]
    return text, pieces[::-1]


@dataclass(frozen=True, slots=True)
class Speech:
    """How the blocks of a wire carry text.

    Attributes:
        text_of: the text of a block; None: it has none.
        said: a block with another text; of {}, a new block.
        is_plain: whether a block is text that a new block can replace without loss.
        is_thought: whether a block is reasoning.
        is_open: whether text can continue in a block that ends an attempt.
        joined: such a block, continued with a plain one.
        is_kept: whether the provider accepts a block back. The second argument is the ids of the
            calls whose results go with it.
        answers: the id of the call that a block is the result of; None: it is no result.
    """

    text_of: Callable[[Block], str | None]
    said: Callable[[Block, str], Block]
    is_plain: Callable[[Block], bool]
    is_thought: Callable[[Block], bool]
    is_open: Callable[[Block], bool]
    joined: Callable[[Block, Block], Block]
    is_kept: Callable[[Block, Sequence[Any]], bool]
    answers: Callable[[Block], object]

    def merged(
        self,
        spoken: Sequence[AttemptContent],
        blocks_of: Callable[[AttemptContent], Sequence[Block]],
    ) -> Content:
        """Return the blocks of all attempts in order, each with its kept text.

        A continuation's text continues in the block that was cut. Its reasoning before that is left
        out, since it would split one sentence into two blocks. Text with citations is not continued
        (C28a)."""
        merged: list[Block] = []
        for one in spoken:
            blocks = self.with_text(blocks_of(one), one.text)
            if not one.apart and merged and self.is_open(merged[-1]):
                if one.text.isspace():  # of an attempt that only closed the seam
                    merged[-1] = self.joined(merged[-1], self.said({}, one.text))
                while blocks and self.is_thought(blocks[0]):
                    del blocks[0]
                if blocks and self.is_plain(blocks[0]):
                    merged[-1] = self.joined(merged[-1], blocks.pop(0))
            merged.extend(blocks)
        return tuple(merged)

    def with_text(self, blocks: Sequence[Block], text: str) -> list[Block]:
        """Return the blocks with a text split among those that have some. White space alone makes
        no block, and joins the next one."""
        texts = [self.text_of(block) for block in blocks]
        waiting, pieces = split_among([held or "" for held in texts], text)
        out: list[Block] = []
        for block, held, piece in zip(blocks, texts, pieces, strict=True):
            if held is None:
                out.append(block)
            elif (waiting + piece).strip():
                out.append(self.said(block, waiting + piece))
                waiting = ""
            else:
                waiting += piece
        return [*out, self.said({}, waiting)] if waiting.strip() else out

    def said_before(self, text: str, content: Content = ()) -> list[Block]:
        """Return the model's content so far, as blocks whose joined text is `text`. The reasoning
        before it goes back with it (H5b). Other blocks than text and reasoning stay as received:
        the provider ran something that the text is about."""
        answered = [call for block in content if (call := self.answers(block)) is not None]
        kept = [block for block in content if self.is_kept(block, answered)]
        if all(self.is_thought(block) or self.is_plain(block) for block in kept):
            thoughts = [*takewhile(self.is_thought, kept)]
            return [*thoughts, self.said({}, text)]
        blocks = self.with_text(kept, text)
        while blocks and self.is_thought(blocks[-1]):  # must not end an assistant's row
            blocks.pop()
        return blocks
