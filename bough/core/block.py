"""One layer: attention and feed-forward around the residual stream, with the norms behind or in front."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from bough.core.attention import Attention
from bough.core.feed import FeedForward
from bough.core.kernels import Plan

Stream = Float[Tensor, "tokens width"]


class Block(nn.Module):
    """The parts of a layer; the two placements of its norms differ only in `forward`."""

    def __init__(
        self,
        attention: Attention,
        attention_norm: nn.Module,
        attention_dropout: float,
        feed: FeedForward,
        feed_norm: nn.Module,
        feed_dropout: float,
    ) -> None:
        super().__init__()
        self.attention = attention
        self.attention_norm = attention_norm
        self.attention_dropout = nn.Dropout(attention_dropout)
        self.feed = feed
        self.feed_norm = feed_norm
        self.feed_dropout = nn.Dropout(feed_dropout)


class PostNormBlock(Block):
    """Norm after each sum."""

    def forward(self, x_TW: Stream, plan: Plan) -> Stream:
        x_TW = self.attention_norm(x_TW + self.attention_dropout(self.attention(x_TW, plan)))
        return self.feed_norm(x_TW + self.feed_dropout(self.feed(x_TW)))


class PreNormBlock(Block):
    """Norm on the way into each sublayer."""

    def forward(self, x_TW: Stream, plan: Plan) -> Stream:
        x_TW = x_TW + self.attention_dropout(self.attention(self.attention_norm(x_TW), plan))
        return x_TW + self.feed_dropout(self.feed(self.feed_norm(x_TW)))
