"""Mutations of proposals: of the IR's text by tokens and lines, and of the message by fields.

``mutate(entry, seed)`` gives one mutant of a corpus entry, the same for the same seed. Nothing here knows what a mutant
means: most do not parse, many are wrong, some compute what the original does.
"""
from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Callable
from typing import Any

from corpus import Entry

_TOKEN = re.compile(r"%[\w#]+|@\w+|#[\w.]+|-?\d+\.\d+(?:[eE][-+]?\d+)?|0x[0-9A-Fa-f]+|-?\d+|[A-Za-z_][\w.]*|\s+|.")
#: words of which one may take the place of another: ops of one shape, predicates, types
_GROUPS = (
    "arith.addf arith.subf arith.mulf arith.divf arith.maximumf arith.minimumf arith.maxnumf arith.minnumf arith.remf",
    "arith.addi arith.subi arith.muli arith.andi arith.ori arith.xori arith.maxsi arith.minsi arith.maxui arith.minui "
    "arith.shli arith.shrsi arith.shrui arith.divsi arith.divui arith.remsi arith.remui arith.ceildivui "
    "arith.floordivsi",
    "arith.extsi arith.extui arith.trunci arith.index_cast arith.index_castui",
    "arith.extf arith.truncf arith.bitcast arith.sitofp arith.fptosi arith.uitofp arith.fptoui",
    "math.exp math.exp2 math.log math.sqrt math.rsqrt math.absf math.floor math.ceil math.round math.roundeven "
    "math.tanh",
    "stablehlo.add stablehlo.subtract stablehlo.multiply stablehlo.divide stablehlo.maximum stablehlo.minimum "
    "stablehlo.remainder stablehlo.power stablehlo.and stablehlo.or stablehlo.xor",
    "stablehlo.abs stablehlo.negate stablehlo.exponential stablehlo.log stablehlo.sqrt stablehlo.sign stablehlo.floor "
    "stablehlo.not stablehlo.logistic stablehlo.tanh stablehlo.log_plus_one stablehlo.exponential_minus_one",
    "oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno",
    "eq ne slt sle sgt sge ult ule ugt uge",
    "EQ NE LT LE GT GE",
    "f16 bf16 f32 f64 i1 i8 i16 i32 i64 index",
    "scf.for scf.parallel",
    "memref.load memref.store memref.alloc memref.alloca memref.dealloc memref.copy",
    "parallel reduction",
    "true false",
    "kc.out kc.inout",
)
_ALTERNATIVES: dict[str, list[str]] = {}
for _group in _GROUPS:
    for _word in _group.split():
        _ALTERNATIVES.setdefault(_word, []).extend(w for w in _group.split() if w != _word)
_INTEGERS = ("0", "1", "-1", "2", "3", "7", "31", "64", "65", "1000", "2147483647", "-2147483648", str(2**63 - 1),
             str(2**64), str(2**128))  # fmt: skip
_FLOATS = ("0.0", "-0.0", "1.0", "0.5", "1.0e-45", "3.0e38", "1.0e400", "0x7FC00000", "0xFF800000", "42.0")
_FLAGS = ("fastmath<fast>", "fastmath<nnan,ninf>", "fastmath<contract>", "overflow<nsw>", "overflow<nuw>")
#: whole lines that do harm, or nothing
_LINES = (
    "  %fz0 = arith.constant 0 : index",
    "  %fz1 = memref.alloc() : memref<64xf32>",
    "  %fz2 = memref.alloca() : memref<67108864xf64>",
    "  %fz3 = arith.constant 9223372036854775807 : index\n  %fz4 = memref.alloc(%fz3) : memref<?xi8>",
    "  scf.while : () -> () {\n    %fz5 = arith.constant true\n    scf.condition(%fz5)\n  } do {\n    scf.yield\n  }",
    "  func.call @main() : () -> ()",
    "  %fz6 = arith.constant false\n  cf.assert %fz6, \"fuzz\"",
    "  gpu.barrier",
    "  memref.dealloc %x : memref<?xf32>",
    "  %fz7 = memref.alloc() : memref<1xf32>\n  memref.dealloc %fz7 : memref<1xf32>",
    "  %fz8 = ub.poison : f32",
    "  llvm.inline_asm has_side_effects \"hlt\", \"\" : () -> ()",
    "  \"builtin.unrealized_conversion_cast\"() : () -> ()",
    "  // a comment",
    "  return",
)  # fmt: skip
_DEBRIS = ("\x00", "\ud800", "\u202e", "}" * 400, "{" * 4000, "(" * 20000, "%" * 100, "\"", "affine_map<(",
           "dense<[" * 3000, "!llvm.struct<", "#", "{-# ", "!" * 1000, "memref<" * 2000, "🙂" * 50)  # fmt: skip


def tokens(text: str) -> list[str]:
    """The text in pieces; joined they are the text."""
    return _TOKEN.findall(text)


def _pick(pieces: list[str], random_: random.Random, wanted: Callable[[str], object]) -> int | None:
    places = [number for number, piece in enumerate(pieces) if wanted(piece)]
    return random_.choice(places) if places else None


def _replace_word(text: str, r: random.Random) -> str:
    pieces = tokens(text)
    place = _pick(pieces, r, lambda p: p in _ALTERNATIVES)
    if place is not None:
        pieces[place] = r.choice(_ALTERNATIVES[pieces[place]])
    return "".join(pieces)


def _replace_value(text: str, r: random.Random) -> str:
    pieces = tokens(text)
    place = _pick(pieces, r, lambda p: p.startswith("%"))
    if place is not None:  # most values that are there already were defined a little before
        before = [p for p in pieces[:place] if p.startswith("%")]
        pieces[place] = r.choice(before[-12:] or [pieces[place]])
    return "".join(pieces)


def _swap_values(text: str, r: random.Random) -> str:
    lines = text.split("\n")
    place = _pick(lines, r, lambda line: len(re.findall(r"%\w+", line.partition("=")[2] or line)) > 1)
    if place is not None:
        head, sign, tail = lines[place].rpartition(" = ")
        names = list(re.finditer(r"%\w+", tail))
        if len(names) > 1:
            one, two = sorted(r.sample(names, 2), key=lambda m: m.start())
            tail = tail[: one.start()] + two[0] + tail[one.end() : two.start()] + one[0] + tail[two.end() :]
        lines[place] = head + sign + tail
    return "\n".join(lines)


def _change_number(text: str, r: random.Random) -> str:
    pieces = tokens(text)
    place = _pick(pieces, r, lambda p: re.fullmatch(r"-?\d+(\.\d+)?([eE][-+]?\d+)?|0x[0-9A-Fa-f]+", p))
    if place is not None:
        old = pieces[place]
        near = [str(int(old) + 1), str(int(old) - 1), str(int(old) * 2)] if re.fullmatch(r"-?\d{1,18}", old) else []
        pieces[place] = r.choice([*near, *near, *_INTEGERS] if near else _FLOATS)
    return "".join(pieces)


def _delete_line(text: str, r: random.Random) -> str:
    lines = text.split("\n")
    del lines[r.randrange(len(lines))]
    return "\n".join(lines)


def _duplicate_line(text: str, r: random.Random) -> str:
    lines = text.split("\n")
    place = r.randrange(len(lines))
    line = re.sub(r"^(\s*)%\w+(:\d+)? =", rf"\1%fz{r.randrange(100)}\2 =", lines[place])
    lines.insert(place + r.randrange(2), r.choice([line, lines[place]]))
    return "\n".join(lines)


def _move_line(text: str, r: random.Random) -> str:
    lines = text.split("\n")
    line = lines.pop(r.randrange(len(lines)))
    lines.insert(r.randrange(len(lines) + 1), line)
    return "\n".join(lines)


def _swap_lines(text: str, r: random.Random) -> str:
    lines = text.split("\n")
    place = r.randrange(max(1, len(lines) - 1))
    lines[place : place + 2] = lines[place : place + 2][::-1]
    return "\n".join(lines)


def _insert_line(text: str, r: random.Random) -> str:
    lines = text.split("\n")
    lines.insert(r.randrange(2, max(3, len(lines) - 2)), r.choice(_LINES))
    return "\n".join(lines)


def _add_flag(text: str, r: random.Random) -> str:
    lines = text.split("\n")
    place = _pick(lines, r, lambda line: re.search(r"= arith\.\w+[fi] .*:", line))
    if place is not None:
        lines[place] = re.sub(r" :(?=[^:]*$)", f" {r.choice(_FLAGS)} :", lines[place])
    return "\n".join(lines)


def _drop_word(text: str, r: random.Random) -> str:
    pieces = tokens(text)
    del pieces[r.randrange(len(pieces))]
    return "".join(pieces)


def _truncate(text: str, r: random.Random) -> str:
    return text[: r.randrange(len(text))]


def _debris(text: str, r: random.Random) -> str:
    place = r.randrange(len(text))
    return text[:place] + r.choice(_DEBRIS) + text[place:]


def _widen(text: str, r: random.Random) -> str:
    old, new = r.choice([("?x", "4x"), ("x?", "x8"), ("f32", "f64"), ("f32", "f16"), ("i32", "i64"), ("index", "i64")])
    return text.replace(old, new)


def _race(text: str, r: random.Random) -> str:
    """The first serial loop without results becomes a parallel one."""
    match = re.search(r"^( *)scf\.for (%\w+) = (%\w+) to (%\w+) step (%\w+) \{$", text, re.MULTILINE)
    if match is None:
        return _replace_word(text, r)
    indent, i, low, high, step = match.groups()
    made = text[: match.start()] + f"{indent}scf.parallel ({i}) = ({low}) to ({high}) step ({step}) {{"
    rest = text[match.end() :]
    return made + re.sub(rf"^{indent}\}}", f"{indent}  scf.reduce\n{indent}}}", rest, count=1, flags=re.MULTILINE)


#: how often each: those that leave text that parses come first, so that more than the parser is tried
_LIGHT: tuple[Callable[[str, random.Random], str], ...] = (
    *[_replace_word] * 5, *[_swap_values] * 4, *[_change_number] * 4, *[_replace_value] * 3, *[_add_flag] * 2, _race,
    _delete_line, _duplicate_line, _move_line, _swap_lines, _insert_line, _drop_word,
)  # fmt: skip
_HEAVY = (_truncate, _debris, _widen)


def mutate_text(text: str, r: random.Random) -> str:
    """``text`` with one to three mutations."""
    for _ in range(r.choice((1, 1, 1, 1, 2, 3))):
        if text:
            text = r.choice(_LIGHT if r.random() < 0.9 else _HEAVY)(text, r)
    return text


def _nested(depth: int) -> Any:
    made: Any = []
    for _ in range(depth):
        made = [made]
    return made


_JUNK: tuple[Any, ...] = (
    None, True, 0, -1, 10**40, 1e308, float("nan"), float("inf"), "", "\x00", "\ud800", "x" * 200_000, [], {}, [None],
    {"": {}}, [[]] * 1000, {str(n): n for n in range(1000)}, "../../etc/passwd", "$(touch /tmp/kc-fuzz)",
    "__import__('os').abort()",
)  # fmt: skip
_FIELDS = ("kind", "ir", "level", "knobs", "script", "source", "launch", "library", "parameters", "assumes", "guard",
           "rationale", "version", "entry", "unknown", "")  # fmt: skip
_ASSUMPTIONS = ("reassoc", "nnan", "N % 4 == 0", "align(arg0,64)", "unique(arg9)", "N % 0 == 0", "\x00")
_GUARDS = ("N % 4 == 0", "N > 0", "N % 0 == 0", "N ** 99 > 1", "N ==", "1", "Q > 1", "(" * 500,
           "N > 10" + " + 1" * 9000)  # fmt: skip
_LEVELS = ("linalg", "loops", "gpu", "llvm", "asm", "torch", "stablehlo", "nowhere")
_KINDS = ("keep", "replace_ir", "schedule", "ptx", "cuda", "triton", "library", "stablehlo_out", "REPLACE_IR", "exec")


def mutate_message(proposal: dict[str, Any], r: random.Random) -> Any:
    """The message with fields changed, dropped or added; now and then something that is no message at all."""
    choice = r.random()
    if choice < 0.05:
        return r.choice(_JUNK)
    if choice < 0.1:
        return _nested(r.choice((10, 900, 5000, 100_000)))
    made = dict(proposal)
    for _ in range(r.choice((1, 1, 2, 3))):
        field = r.choice(_FIELDS)
        action = r.random()
        if action < 0.2:
            made.pop(field, None)
        elif action < 0.35:
            made["kind"] = r.choice(_KINDS)
        elif action < 0.45:
            made["assumes"] = [r.choice(_ASSUMPTIONS)]
        elif action < 0.55:
            made["guard"] = r.choice(_GUARDS)
        elif action < 0.6:
            made["level"] = r.choice(_LEVELS)
        else:
            made[field] = _nested(2000) if r.random() < 0.1 else r.choice(_JUNK)
    return made


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A mutant: ``proposal`` may be anything; ``how`` is ``text`` or ``message``."""

    entry: Entry
    seed: int
    how: str
    proposal: Any


def mutate(entry: Entry, seed: int) -> Mutant:
    """The mutant of ``entry`` with that seed: of its proposal, or of the original offered as a proposal."""
    r = random.Random(f"{entry.id} {seed}")
    base = dict(entry.proposal)
    if r.random() < 0.5:
        base = {"kind": "replace_ir", "ir": entry.original, "assumes": []}
    if r.random() < 0.25:
        return Mutant(entry, seed, "message", mutate_message(base, r))
    return Mutant(entry, seed, "text", base | {"ir": mutate_text(base["ir"], r)})
