"""The one attention: fused projection in, the plan's kernel, projection out."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn

from bough.core.kernels import Plan


class Attention(nn.Module):
    """Each token gathers from those it may see."""

    def __init__(self, width: int, heads: int, bias: bool, scale: float, dropout: float) -> None:
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width, bias)
        self.out = nn.Linear(width, width, bias)
        self.heads = heads
        self.scale = scale
        self.dropout = dropout

    def forward(self, x_TW: Float[Tensor, "tokens width"], plan: Plan) -> Float[Tensor, "tokens width"]:
        q_THD, k_THD, v_THD = self.qkv(x_TW).unflatten(1, (3, self.heads, -1)).unbind(1)
        dropout = self.dropout if self.training else 0.0
        return self.out(plan.attend(q_THD, k_THD, v_THD, self.scale, dropout).flatten(1))
