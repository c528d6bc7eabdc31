"""Specialisation: a program of unknown sizes, compiled again for the sizes it is called with, by the caller's choice.

Only shapes are specialised on, never values, and every special program checks the shapes of its arguments itself.
"""
from __future__ import annotations

import io
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kc.api import Executable, compile_loaded
from kc.context import make_context, parse_module
from kc.errors import InputError, KcError
from kc.frontends import Loaded

if TYPE_CHECKING:
    from kc.bindings import ir

Shapes = tuple[tuple[int, ...], ...]

#: how many sets of shapes get a program of their own; further ones run the program of unknown sizes
LIMIT = 16
_log = logging.getLogger("kc.specialise")


class SpecialisingExecutable(Executable):
    """An executable that compiles a program of its own for each set of argument shapes, at most ``limit`` of them.

    ``specialisations`` tells what there is: for each set of shapes its static ``Executable``, or the reason why the
    general program runs for it. Each new entry is logged on ``kc.specialise`` (INFO). ``save``, ``stage`` and
    ``manifest`` are those of the general program; ``specialise(shapes).save(path)`` keeps a special one.
    """

    def __init__(self, general: Executable, compile_for: Callable[[Shapes], Executable], limit: int = LIMIT):
        super().__init__(general.manifest, general.files, general.entry, general._source)
        self._compile_for, self._limit = compile_for, limit
        self._made: dict[Shapes, Executable | str] = {}

    @property
    def specialisations(self) -> Mapping[Shapes, Executable | str]:
        """Shapes of the arguments -> the static executable, or why there is none for them."""
        return dict(self._made)

    def specialise(self, shapes: Sequence[Sequence[int]]) -> Executable:
        """The executable for arguments of these shapes.

        Raises ArgumentError or CompileError when the program does not allow them.
        """
        key = tuple(tuple(int(n) for n in shape) for shape in shapes)
        found = self._made.get(key)
        if not isinstance(found, Executable):
            self._check(key)
            found = self._made[key] = self._compile_for(key)
            _log.info("compiled for argument shapes %s", _text(key))
        return found

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """Run the entry function by the program for these shapes; see ``Executable.__call__``."""
        key = tuple(tuple(array.shape) if hasattr(array, "shape") else () for array in arrays)
        found = self._made.get(key)
        if found is None:
            found = self._new(key)
        return found(*arrays) if isinstance(found, Executable) else super().__call__(*arrays)

    def _check(self, key: Shapes) -> None:
        """Hold shapes to what the program says of its sizes: a program for these alone has no names to check."""
        from kc.runtime.signature import read_entry

        signature = read_entry(self.entry, self.manifest["entries"][self.entry], len(self.manifest["params"]))
        if (signature.bounds or signature.conditions) and len(key) == len(signature.inputs):
            signature.check_shapes(key)

    def _new(self, key: Shapes) -> Executable | str:
        if sum(isinstance(made, Executable) for made in self._made.values()) >= self._limit:
            _log.info("argument shapes %s run the general program: %d special ones are made", _text(key), self._limit)
            return f"there are {self._limit} special programs already"
        try:
            return self.specialise(key)
        except KcError as error:  # the general program tells what does not fit, if that is the reason
            reason = self._made[key] = str(error)
            _log.info("argument shapes %s run the general program: %s", _text(key), reason)
            return reason


def specialising(loaded: Loaded, target: str, entry: str, **how: Any) -> SpecialisingExecutable:
    """The general program of a StableHLO module and the way to special ones; ``how`` as in ``compile_loaded``.

    Raises InputError for a module at another level: shapes are carried through a program as StableHLO.
    """
    if loaded.level != "stablehlo":
        raise InputError(f"shapes='specialise' takes StableHLO, not a program at level '{loaded.level}'")
    buffer = io.BytesIO()
    loaded.module.operation.write_bytecode(buffer)

    def compile_for(shapes: Shapes) -> Executable:
        module = parse_module(buffer.getvalue(), make_context())
        refine(module, entry, shapes)
        return compile_loaded(Loaded(module, "stablehlo"), target, entry, **how)

    return SpecialisingExecutable(compile_loaded(loaded, target, entry, **how), compile_for)


def refine(module: ir.Module, entry: str, shapes: Shapes) -> None:
    """Give the arguments of ``entry`` these shapes and carry them through the StableHLO module, in place.

    Raises InputError when a shape does not fit an argument's type, CompileError when sizes do not fit each other.
    """
    from kc.bindings import ir
    from kc.pass_manager import run_pipeline

    function = next(
        view.operation
        for view in module.body.operations
        if view.operation.name == "func.func" and str(view.operation.attributes["sym_name"]) == f'"{entry}"'
    )
    arguments = list(function.regions[0].blocks[0].arguments)
    if len(arguments) != len(shapes):
        raise InputError(f"'{entry}' takes {len(arguments)} arguments, got shapes for {len(shapes)}")
    types = []
    for number, (argument, shape) in enumerate(zip(arguments, shapes, strict=True)):
        type_ = argument.type
        if not isinstance(type_, ir.RankedTensorType):
            raise InputError(f"argument {number} of '{entry}' is a {type_}, which has no shape to specialise on")
        static = [None if type_.is_dynamic_dim(axis) else type_.get_dim_size(axis) for axis in range(type_.rank)]
        if len(static) != len(shape) or any(n not in (None, m) for n, m in zip(static, shape, strict=True)):
            raise InputError(f"argument {number} of '{entry}' is a {type_}: shape {list(shape)} does not fit")
        with module.context:
            plain = ir.RankedTensorType.get(list(shape), type_.element_type, loc=ir.Location.unknown())
        types.append(str(plain))
    run_pipeline(
        module,
        "builtin.module(func.func(stablehlo-legalize-composite-to-call),inline,symbol-dce,kc-legalize-dynamism,"
        f"stablehlo-refine-arguments{{types={','.join(types)}}},stablehlo-refine-shapes,"
        "func.func(stablehlo-canonicalize-dynamism))",
    )
    _unwrap(module)


def _unwrap(module: ir.Module) -> None:
    """Put the arguments in the place of the wrappers that ``stablehlo-refine-arguments`` left around some of them."""
    from kc.bindings import ir
    from kc.rewrite import replace_op, walk_ops

    for call in walk_ops(module.operation, ["stablehlo.custom_call"]):
        name = ir.StringAttr(call.attributes["call_target_name"]).value
        if name == "stablehlo.shape_refinement_operand_wrapper":
            with ir.InsertionPoint(call), call.location:
                cast = ir.Operation.create("tensor.cast", results=[call.results[0].type], operands=[call.operands[0]])
            replace_op(call, [cast.result])


def _text(shapes: Shapes) -> str:
    return ", ".join(str(list(shape)) for shape in shapes)
