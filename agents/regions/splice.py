"""A replacement in the place of a region: checked, with private symbols of its own, and the region's attributes."""

from __future__ import annotations

from kc.agents.regions.extract import MAIN
from kc.agents.regions.find import Region
from kc.agents.regions.launches import LAUNCH, call, leaves_of
from kc.agents.regions.symbols import free_name, rename, symbol, symbols
from kc.bindings import ir
from kc.errors import CompileError, InputError


class SpliceError(InputError):
    """A replacement does not fit in the place of its region."""


def splice(region: Region, text: str, author: str) -> Region:
    """Put the ``@main`` of module ``text``, which stands at the region's level, in the place of the region.

    The function keeps the region's symbol and attributes; private functions and globals of ``text`` get names that are
    free. Every op's location says ``author`` and where the region came from. Gives the region anew. Raises SpliceError
    when the signature differs or the result does not verify; the module then is as it was.
    """
    from kc.context import parse_module, verify

    old = region.operation
    context = old.context
    parsed = parse_module(text, context, f"<{author}>")
    main, others = _parts(parsed)
    _check_signature(old, main)
    launch = region.launch
    place = old if launch is None else _function_around(launch)
    assert place.parent is not None
    module = place.parent.operation
    taken = symbols(module)
    name = region.name if launch is None else free_name(region.name, taken)
    names = {MAIN: name}
    for helper in others:
        names[symbol(helper)] = free_name(f"{name}__{symbol(helper)}", taken)
    with context, old.location:
        rename(parsed.operation, names)
        point = ir.InsertionPoint(place)
        added = [helper.clone(ip=point).operation for helper in others]
        new = main.clone(ip=point).operation
        for helper in added:
            helper.attributes["sym_name"] = ir.StringAttr.get(names[symbol(helper)])
            if helper.name == "func.func":
                helper.attributes["sym_visibility"] = ir.StringAttr.get("private")
            elif helper.name == "llvm.func":
                helper.attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")
        for key in list(new.attributes):
            if key != "function_type":
                del new.attributes[key]
        for key in list(old.attributes):
            if key != "function_type":
                new.attributes[key] = old.attributes[key]
        new.attributes["sym_name"] = ir.StringAttr.get(name)
        location = ir.Location.name(f"agent {author}", childLoc=old.location)
        for op in (*added, new):
            _relocate(op, location)
        if "kc.kernel" in old.attributes and region.level == "linalg":
            _pin_destinations(new)
    if launch is not None:
        new.attributes["no_inline"] = ir.UnitAttr.get(context)
        call(name, leaves_of(launch), launch)
        old = launch
    undo = _Detached(old)
    try:
        verify(module, f"module with the answer of '{author}' for '@{region.name}'")
    except CompileError as error:
        undo.put_back()
        for op in (new, *added):
            op.erase()
        raise SpliceError(f"the answer for '@{region.name}' does not fit into the program", error.diagnostics) from None
    old.erase()
    return Region(region.level, name, region.kind, new, region.program if launch is None else module)


class _Detached:
    """An op taken out of its block, that can be put back."""

    def __init__(self, op: ir.Operation):
        block = op.block
        following = [other.operation for other in block.operations]
        position = next(n for n, other in enumerate(following) if other == op)
        self._op, self._block = op, block
        self._next = following[position + 1] if position + 1 < len(following) else None
        self._call = following[position - 1] if position and op.name == LAUNCH else None
        op.detach_from_parent()

    def put_back(self) -> None:
        """Undo, and take away the call that stood for a launch."""
        if self._next is None:
            ir.InsertionPoint(self._block).insert(self._op)
        else:
            ir.InsertionPoint(self._next).insert(self._op)
        if self._call is not None:
            self._call.erase()


def _function_around(op: ir.Operation) -> ir.Operation:
    while op.name != "func.func":
        parent = op.parent
        assert parent is not None
        op = parent.operation
    return op


def _parts(parsed: ir.Module) -> tuple[ir.Operation, list[ir.Operation]]:
    """``@main`` and what stands beside it. Raises SpliceError where there is none, or something without a symbol."""
    main, others = None, []
    for op in parsed.body.operations:
        operation = op.operation
        if "sym_name" not in operation.attributes:
            raise SpliceError(f"a replacement holds functions and globals, not '{operation.name}'")
        if symbol(operation) == MAIN:
            main = operation
        else:
            others.append(operation)
    if main is None:
        raise SpliceError("a replacement has a function @main")
    return main, others


def _check_signature(old: ir.Operation, new: ir.Operation) -> None:
    if old.name != new.name:
        raise SpliceError(f"a '{old.name}' cannot be replaced by a '{new.name}'")
    wanted, given = (op.attributes["function_type"] for op in (old, new))
    if wanted != given:
        raise SpliceError(f"the replacement of '@{symbol(old)}' has type {given}, not {wanted}")


def _relocate(root: ir.Operation, location: ir.Location) -> None:
    def visit(op: ir.Operation) -> ir.WalkResult:
        op.location = location
        return ir.WalkResult.ADVANCE

    root.walk(visit)


def _pin_destinations(kernel: ir.Operation) -> None:
    """Copy each result of a kernel that is not computed in its destination to there: bufferization relies on it."""
    from kc.kernels import named

    block = kernel.regions[0].blocks[0]
    arguments = list(block.arguments)
    terminator = list(block.operations)[-1].operation
    first = len(arguments) - len(terminator.operands)
    for number, value in enumerate(list(terminator.operands)):
        destination = arguments[first + number]
        if not _computed_in(value, destination):
            with ir.InsertionPoint(terminator), terminator.location:
                terminator.operands[number] = named.copy(value, destination)


def _computed_in(value: ir.Value, destination: ir.Value) -> bool:
    """Whether ``value`` is made by writing into ``destination``, by linalg ops and insertions."""
    while value != destination:
        if isinstance(value.owner, ir.Block):
            return False
        op = value.owner.operation
        if op.name.startswith("linalg.") and len(op.results):
            position = next(i for i, result in enumerate(op.results) if result == value)
            value = op.operands[len(op.operands) - len(op.results) + position]
        elif op.name in ("tensor.insert", "tensor.insert_slice"):
            value = op.operands[1]
        else:
            return False
    return True
