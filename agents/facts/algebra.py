"""What follows for sizes from ranges, divisibility and relations between them: intervals, residues, polynomials."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from kc.conditions import ANY, Condition, Expr, Residue, parse, reduced, residue, written

#: both ends inclusive
Range = tuple[int, int]
#: names of a product, sorted -> factor
Polynomial = dict[tuple[str, ...], int]

def both(one: Residue, other: Residue) -> Residue:
    """What is known when two residues are known of one number; the stronger of them where they contradict."""
    (m, r), (n, s) = one, other
    if m == 0 or n == 0:
        return one if m == 0 else other
    common = math.gcd(m, n)
    if (r - s) % common:
        return one
    whole = m // common * n
    step = next(k for k in range(n // common) if (r + k * m - s) % n == 0) if n // common <= 1 << 16 else None
    return (whole, (r + step * m) % whole) if step is not None else max(one, other)


def either(one: Residue, other: Residue) -> Residue:
    """What is known when one of two residues is known of a number."""
    modulus = math.gcd(one[0], other[0], one[1] - other[1])
    return reduced(modulus, one[1])


def interval(expr: Expr, ranges: Mapping[str, Range]) -> Range | None:
    """The range of ``expr`` where its names are in ``ranges``; None where one is not."""
    if isinstance(expr, int):
        return expr, expr
    if isinstance(expr, str):
        return ranges.get(expr)
    left, right = interval(expr[1], ranges), interval(expr[2], ranges)
    if left is None or right is None:
        return None
    if expr[0] == "+":
        return left[0] + right[0], left[1] + right[1]
    if expr[0] == "-":
        return left[0] - right[1], left[1] - right[0]
    if expr[0] == "*":
        products = [a * b for a in left for b in right]
        return min(products), max(products)
    if expr[0] == "//":
        return (left[0] // right[1], left[1] // right[0]) if right[0] == right[1] > 0 else None
    if right[0] != right[1] or right[0] <= 0:
        return None
    divisor = right[0]
    whole = left[0] // divisor == left[1] // divisor  # no multiple between the ends
    return (left[0] % divisor, left[1] % divisor) if whole else (0, divisor - 1)


def polynomial(expr: Expr) -> Polynomial:
    """``expr`` multiplied out; a quotient or rest counts as a name of its own where it cannot be divided out."""
    if isinstance(expr, int):
        return {(): expr} if expr else {}
    if isinstance(expr, str):
        return {(expr,): 1}
    if expr[0] in ("//", "%"):
        inner, divisor = polynomial(expr[1]), expr[2]
        if set(inner) <= {()}:
            number = inner.get((), 0)
            return polynomial(number // divisor if expr[0] == "//" else number % divisor)
        if all(factor % divisor == 0 for factor in inner.values()):
            return {} if expr[0] == "%" else {term: factor // divisor for term, factor in inner.items()}
        return {(f"({written((expr[0], expression(inner), divisor))})",): 1}
    left, right = polynomial(expr[1]), polynomial(expr[2])
    made: Polynomial = {}
    if expr[0] == "*":
        for one, a in left.items():
            for other, b in right.items():
                term = tuple(sorted((*one, *other)))
                made[term] = made.get(term, 0) + a * b
    else:
        made = dict(left)
        for term, factor in right.items():
            made[term] = made.get(term, 0) + (factor if expr[0] == "+" else -factor)
    return {term: factor for term, factor in made.items() if factor}


def proves(wanted: Condition, known: Iterable[Condition], ranges: Mapping[str, Range]) -> bool:
    """Whether ``wanted`` holds for all sizes in ``ranges`` that obey each condition of ``known``.

    True is a proof; False says that none was found.
    """
    given = list(known)
    below = [form for condition in given for form in _nonnegative(condition)]
    difference = _minus(polynomial(wanted.left), polynomial(wanted.right))
    for name in {name for term in difference for name in term if name.startswith("(")}:
        below += _of_quotient(name)
    rests = residues(given)
    modulus, rest = residue(("-", wanted.left, wanted.right), rests)
    if wanted.compare == "!=":
        if rest if modulus == 0 else rest % modulus:
            return True
        one: Polynomial = {(): 1}
        return _at_least_zero(_minus(difference, one), below, ranges) or _at_least_zero(
            _minus(_minus({}, difference), one), below, ranges
        )
    if wanted.compare == "==":
        if (modulus, rest) == (0, 0):
            return True
        return _at_least_zero(difference, below, ranges) and _at_least_zero(_minus({}, difference), below, ranges)
    if wanted.compare in ("<", "<="):
        difference = _minus({}, difference)
    if wanted.compare in ("<", ">"):
        difference = _minus(difference, {(): 1})
    return _at_least_zero(difference, below, ranges)


def residues(known: Iterable[Condition]) -> dict[str, Residue]:
    """What conditions say of the rests of names: ``n % 8 == 3``, ``n == 4 * m``."""
    given = list(known)
    found: dict[str, Residue] = {}
    for _ in range(3):  # a chain of equalities this long
        for condition in given:
            if condition.compare != "==":
                continue
            for left, right in ((condition.left, condition.right), (condition.right, condition.left)):
                if isinstance(left, str):
                    found[left] = both(found.get(left, ANY), residue(right, found))
                elif isinstance(left, tuple) and left[0] == "%" and isinstance(left[1], str):
                    modulus = left[2]  # an integer, as the condition was read
                    if isinstance(right, int) and 0 <= right < modulus:
                        found[left[1]] = both(found.get(left[1], ANY), (modulus, right))
    return found


def _nonnegative(condition: Condition) -> list[Polynomial]:
    """Polynomials that are not negative where the condition holds."""
    difference = _minus(polynomial(condition.left), polynomial(condition.right))
    turned = _minus({}, difference)
    return {
        "==": [difference, turned],
        "!=": [],
        ">=": [difference],
        "<=": [turned],
        ">": [_minus(difference, {(): 1})],
        "<": [_minus(turned, {(): 1})],
    }[condition.compare]


def _of_quotient(name: str) -> list[Polynomial]:
    """What is not negative since ``name`` is a quotient in brackets: ``n - c * (n // c)``, and ``c - 1`` less that."""
    expr = _inner(name)
    if not isinstance(expr, tuple) or expr[0] != "//":
        return []
    rest = _minus(polynomial(expr[1]), {(name,): expr[2]})
    return [rest, _minus({(): expr[2] - 1}, rest)]


def _at_least_zero(wanted: Polynomial, below: Iterable[Polynomial], ranges: Mapping[str, Range]) -> bool:
    """Whether ``wanted`` is not negative: it is some polynomial of ``below``, and something not negative by ranges."""
    return any(_least(_minus(wanted, known), ranges) >= 0 for known in [{}, *below])


def _least(wanted: Polynomial, ranges: Mapping[str, Range]) -> float:
    """A lower bound by ranges; minus infinity where there is none."""
    total = 0
    for term, factor in wanted.items():
        low, high = 1, 1
        for name in term:
            span = _range_of(name, ranges)
            if span is None:
                return -math.inf
            products = [a * b for a in (low, high) for b in span]
            low, high = min(products), max(products)
        total += factor * (low if factor > 0 else high)
    return total


def _range_of(name: str, ranges: Mapping[str, Range]) -> Range | None:
    """The range of a name of a polynomial: of a size, or of a quotient or rest in brackets."""
    if not name.startswith("("):
        return ranges.get(name)
    condition = parse(f"{name} == {name}")
    return None if condition is None else interval(condition.left, ranges)


def _minus(one: Polynomial, other: Polynomial) -> Polynomial:
    made = dict(one)
    for term, factor in other.items():
        made[term] = made.get(term, 0) - factor
    return {term: factor for term, factor in made.items() if factor}


def tidy(expr: Expr) -> Expr:
    """An equal expression, the same one for all that multiply out to the same polynomial."""
    return expression(polynomial(expr))


def expression(terms: Polynomial) -> Expr:
    """A polynomial as an expression; its constant comes last."""
    made: Expr = None
    for term, factor in sorted(terms.items(), key=lambda item: (not item[0], item[0])):
        product: Expr = None
        for name in term:
            part = _inner(name)
            product = part if product is None else ("*", product, part)
        if product is None:
            product = abs(factor)
        elif abs(factor) != 1:
            product = ("*", abs(factor), product)
        if made is None:
            made = product if factor > 0 else -product if isinstance(product, int) else ("-", 0, product)
        else:
            made = ("+" if factor > 0 else "-", made, product)
    return 0 if made is None else made


def _inner(name: str) -> Expr:
    """What a name of a polynomial stands for: a size, or a quotient or rest in brackets."""
    if not name.startswith("("):
        return name
    condition = parse(f"{name} == {name}")
    return name if condition is None else condition.left  # too long to be read: it stands for itself


def quotient(expr: Expr, divisor: int) -> Expr:
    """``expr // divisor``, divided out where every factor can be."""
    return tidy(("//", expr, divisor))


def multiple(one: Expr, other: Expr) -> tuple[int, int] | None:
    """(factor, rest) with ``one == factor * other + rest`` and a positive factor; None where there are none."""
    left, right = polynomial(one), polynomial(other)
    terms = [term for term in right if term]
    if not terms or right[terms[0]] == 0 or left.get(terms[0], 0) % right[terms[0]]:
        return None
    factor = left.get(terms[0], 0) // right[terms[0]]
    rest = _minus(left, {term: factor * f for term, f in right.items()})
    return (factor, rest.get((), 0)) if factor > 0 and set(rest) <= {()} else None
