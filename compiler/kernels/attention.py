"""Recognises attention: contraction, softmax over the keys of a score, contraction with the values."""
from __future__ import annotations

from typing import TYPE_CHECKING

from kc.kernels import expr as E
from kc.kernels.structured import Unreadable

if TYPE_CHECKING:
    from kc.kernels.classify import Draft


def try_attention(draft: Draft) -> E.Kernel:
    """The draft as ``Attention``; raises Unreadable with the reason if it is not one."""
    raise Unreadable("attention: not recognised")
