"""For each rule of rules.egg a term in which it fires.

``A``, ``B``, ``C``: f32 of 3x4; ``D``, ``E``: f32 of 4x3; ``R``, ``S``: f32 of 3; ``Z``, ``Y``: f32 scalars; ``T``: f32
of 2x3x4; ``I``, ``J``, ``K``: i32 of 3x4; ``L``: i32 of 2x3x4; ``P``: i1 of 3x4.
"""
M = "(vec-of 3 4)"
SWAP = "(vec-of 1 0)"


def fill(number: str, shape: str = M, element: str = "f32") -> str:
    return f'(Fill "{number}" "{element}" {shape})'


def rows(value: str) -> str:
    return f"(Broadcast {value} (vec-of 0) {M})"


def un(op: str, x: str) -> str:
    return f'(Un "{op}" {x})'


def bin_(op: str, x: str, y: str) -> str:
    return f'(Bin "{op}" {x} {y})'


def dot(x: str, y: str, tx: int = 0, ty: int = 0) -> str:
    return f"(Dot {x} {y} {tx} {ty})"


def swap(x: str) -> str:
    return f"(Transpose {x} {SWAP})"


def sum_(x: str, dims: str = "1") -> str:
    return f'(Reduce "add" {x} (vec-of {dims}))'


SEEDS = {
    "neg-neg": un("negate", un("negate", "A")),
    "abs-neg": un("abs", un("negate", "A")),
    "abs-abs": un("abs", un("abs", "A")),
    "sub-add-neg=>": bin_("subtract", "A", "B"),
    "sub-add-neg<=": bin_("add", "A", un("negate", "B")),
    "neg-mul": bin_("multiply", un("negate", "A"), "B"),
    "neg-div": bin_("divide", un("negate", "A"), "B"),
    "div-neg": bin_("divide", "A", un("negate", "B")),
    "mul-minus-one": bin_("multiply", "A", fill("-1.0")),
    "not-not": un("not", un("not", "P")),
    "add-comm": bin_("add", "A", "B"),
    "mul-comm": bin_("multiply", "A", "B"),
    "max-comm": bin_("maximum", "A", "B"),
    "min-comm": bin_("minimum", "A", "B"),
    "mul-one": bin_("multiply", "A", fill("1.0")),
    "mul-one-int": bin_("multiply", "I", fill("1", element="i32")),
    "div-one": bin_("divide", "A", fill("1.0")),
    "add-minus-zero": bin_("add", "A", fill("-0.0")),
    "sub-zero": bin_("subtract", "A", fill("0.0")),
    "add-zero-int": bin_("add", "I", fill("0", element="i32")),
    "add-zero": bin_("add", "A", fill("0.0")),
    "mul-zero-int": bin_("multiply", "I", fill("0", element="i32")),
    "mul-zero": bin_("multiply", "A", fill("0.0")),
    "sub-self-int": bin_("subtract", "I", "I"),
    "sub-self": bin_("subtract", "A", "A"),
    "max-self": bin_("maximum", "A", "A"),
    "min-self": bin_("minimum", "A", "A"),
    "and-self": bin_("and", "P", "P"),
    "or-self": bin_("or", "I", "I"),
    "select-same": "(Select P A A)",
    "select-not": f"(Select {un('not', 'P')} A B)",
    "div-power-of-two": bin_("divide", "A", fill("8.0")),
    "div-const": bin_("divide", "A", fill("3.0")),
    "div-sqrt": bin_("divide", "A", un("sqrt", "B")),
    "power-two": bin_("power", "A", fill("2.0")),
    "logistic": bin_("divide", fill("1.0"), bin_("add", fill("1.0"), un("exponential", un("negate", "A")))),
    "transpose-identity": "(Transpose A (vec-of 0 1))",
    "transpose-transpose": "(Transpose (Transpose T (vec-of 1 2 0)) (vec-of 0 2 1))",
    "un-transpose=>": un("negate", swap("A")),
    "un-transpose<=": swap(un("negate", "A")),
    "convert-transpose": f'(Convert "f64" {swap("A")})',
    "bin-transpose=>": bin_("add", swap("A"), swap("B")),
    "bin-transpose<=": swap(bin_("add", "A", "B")),
    "bin-transpose-fill": bin_("add", swap("A"), fill("3.0", "(vec-of 4 3)")),
    "transpose-fill": swap(fill("3.0")),
    "transpose-broadcast": "(Transpose (Broadcast R (vec-of 1) (vec-of 2 3 4)) (vec-of 1 2 0))",
    "reshape-same": f"(Reshape A {M})",
    "reshape-reshape": "(Reshape (Reshape A (vec-of 12)) (vec-of 2 6))",
    "reshape-fill": f"(Reshape {fill('3.0')} (vec-of 12))",
    "un-reshape": un("negate", "(Reshape A (vec-of 12))"),
    "bin-reshape": bin_("add", "(Reshape A (vec-of 12))", "(Reshape B (vec-of 12))"),
    "broadcast-same": f"(Broadcast A (vec-of 0 1) {M})",
    "broadcast-fill": rows(fill("3.0", "(vec-of 3)")),
    "broadcast-broadcast": "(Broadcast (Broadcast R (vec-of 0) (vec-of 3 4)) (vec-of 1 2) (vec-of 2 3 4))",
    "un-broadcast": un("negate", rows("R")),
    "convert-broadcast": f'(Convert "f64" {rows("R")})',
    "bin-broadcast": bin_("add", rows("R"), rows("S")),
    "bin-broadcast-fill": bin_("subtract", rows("R"), fill("3.0")),
    "bin-fill-broadcast": bin_("subtract", fill("3.0"), rows("R")),
    "bin-broadcast-scalar": bin_("subtract", rows("R"), f"(Broadcast Z (vec-empty) {M})"),
    "dot-left-swapped": dot(swap("D"), "D"),
    "dot-left-straight": dot(swap("D"), "D", 1, 1),
    "dot-right-swapped": dot("A", swap("A")),
    "dot-right-straight": dot("A", swap("D"), 0, 1),
    "transpose-dot": swap(dot("A", "D")),
    "dot-assoc=>": dot(dot("A", "D"), "A"),
    "dot-assoc<=": dot("A", dot("D", "A")),
    "dot-factor-left": bin_("add", dot("A", "D"), dot("A", "E")),
    "dot-factor-right": bin_("add", dot("A", "D"), dot("B", "D")),
    "dot-unscale-left": dot(bin_("multiply", "A", fill("3.0")), "D"),
    "dot-unscale-right": dot("A", bin_("multiply", "D", fill("3.0", "(vec-of 4 3)"))),
    "dot-scale-left": bin_("multiply", dot("A", "D"), fill("3.0", "(vec-of 3 3)")),
    "dot-scale-right": bin_("multiply", dot("A", "D"), fill("3.0", "(vec-of 3 3)")),
    "add-assoc-int=>": bin_("add", bin_("add", "I", "J"), "K"),
    "add-assoc-int<=": bin_("add", "I", bin_("add", "J", "K")),
    "add-assoc=>": bin_("add", bin_("add", "A", "B"), "C"),
    "add-assoc<=": bin_("add", "A", bin_("add", "B", "C")),
    "mul-assoc=>": bin_("multiply", bin_("multiply", "A", "B"), "C"),
    "mul-assoc<=": bin_("multiply", "A", bin_("multiply", "B", "C")),
    "factor": bin_("add", bin_("multiply", "A", "B"), bin_("multiply", "A", "C")),
    "factor-divide": bin_("add", bin_("divide", "A", "C"), bin_("divide", "B", "C")),
    "reduce-reduce-int": '(Reduce "maximum" (Reduce "maximum" L (vec-of 1)) (vec-of 0))',
    "reduce-reduce": '(Reduce "maximum" (Reduce "maximum" T (vec-of 1)) (vec-of 0))',
    "reduce-reduce-sum": sum_(sum_("T"), "0"),
    "sum-neg": sum_(un("negate", "A")),
    "sum-scale": sum_(bin_("multiply", "A", fill("3.0"))),
    "sum-scale-rows": sum_(bin_("multiply", "A", rows("R"))),
    "sum-divide-rows": sum_(bin_("divide", "A", rows("R"))),
    "sum-of-sums=>": sum_(bin_("add", "A", "B")),
    "sum-of-sums<=": bin_("add", sum_("A"), sum_("B")),
}
