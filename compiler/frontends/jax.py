"""``kc.jit``: a JAX function, traced by JAX to StableHLO, compiled and run by kc. JAX is imported when it is first
needed."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kc.errors import InputError

if TYPE_CHECKING:
    from kc.api import Executable
    from kc.bindings import ir


@dataclasses.dataclass(frozen=True)
class Traced:
    """What JAX made of a function for one signature.

    ``source``: StableHLO (text, or a portable artifact). ``kept``: which leaves of the arguments it takes, in order.
    ``dtypes``: their dtypes (NumPy's, or of JAX's random keys). ``out_tree``, ``out_dtypes``: the pytree of its results
    and their dtypes. ``dims``: for symbolic shapes, the names (or numbers) of each argument's extents.
    """

    source: str | bytes
    kept: tuple[int, ...]
    dtypes: tuple[Any, ...]
    out_tree: Any
    out_dtypes: tuple[Any, ...]
    dims: tuple[tuple[str, ...], ...] = ()


class Jitted:
    """A JAX function that kc compiles when it is called; made by ``kc.jit``.

    One executable is kept per signature: pytree, shapes and dtypes of the arguments, values of the static ones.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        target: str,
        static_argnums: tuple[int, ...],
        static_argnames: tuple[str, ...],
        polymorphic_shapes: Any,
        options: Mapping[str, Any] | None,
    ):
        self.function, self.target, self.options = function, target, options
        self._static_argnums, self._static_argnames = static_argnums, static_argnames
        self._polymorphic = polymorphic_shapes
        self._compiled: dict[Any, tuple[Executable, Traced]] = {}
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function. Results are JAX arrays, or NumPy arrays when every array argument is one of NumPy's.

        A function for several devices (``jax.shard_map``) runs as that many processes (``Executable.run_parallel``).
        Raises as ``kc.compile`` and ``kc.Executable`` do.
        """
        jax = _import_jax()
        executable, traced = self._lookup(args, kwargs)
        leaves = jax.tree.leaves(self._dynamic(args, kwargs))
        arrays = [
            _as_array(jax, leaves[k], dtype, _wants_numpy(leaves))
            for k, dtype in zip(traced.kept, traced.dtypes, strict=True)
        ]
        processes = executable.processes
        if processes > 1:  # whole arrays in, whole arrays out, the same on every process (kc-expand-manual-sharding)
            arrays = [_whole(array) for array in arrays]
            results = executable.run_parallel([arrays] * processes)[0]
        else:
            results = executable(*arrays)
        if (not arrays or processes > 1) and not _wants_numpy(leaves):
            results = tuple(jax.numpy.asarray(r) for r in results)
        wrapped = [_as_result(jax, r, dtype) for r, dtype in zip(results, traced.out_dtypes, strict=True)]
        return jax.tree.unflatten(traced.out_tree, wrapped)

    def compiled(self, *args: Any, **kwargs: Any) -> Executable:
        """The executable for these arguments (arrays or ``jax.ShapeDtypeStruct``), compiled if it was not yet."""
        return self._lookup(args, kwargs)[0]

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """Trace for these arguments without compiling: ``.source`` is the StableHLO."""
        return self._trace(_import_jax(), args, kwargs)

    # ------------------------------------------------------------------------------------------- internals

    def _lookup(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Executable, Traced]:
        from kc.api import compile as kc_compile

        jax = _import_jax()
        key = self._key(jax, args, kwargs)
        found = self._compiled.get(key)
        if found is None:
            traced = self._trace(jax, args, kwargs)
            source = _named_dims(traced) if traced.dims else traced.source
            found = kc_compile(source, self.target, options=self.options), traced
            self._compiled[key] = found
        return found

    def _split(self, args: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
        static = {n % len(args) if args else n for n in self._static_argnums}
        return ([a for k, a in enumerate(args) if k not in static], [a for k, a in enumerate(args) if k in static])

    def _dynamic(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        named = {k: v for k, v in kwargs.items() if k not in self._static_argnames}
        return tuple(self._split(args)[0]), named

    def _key(self, jax: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        dynamic = self._dynamic(args, kwargs)
        leaves, tree = jax.tree.flatten(dynamic)
        specs = jax.tree.leaves(self._specs(jax, *dynamic)) if self._polymorphic is not None else leaves
        signature = []
        for leaf, spec in zip(leaves, specs, strict=True):
            value = jax.api_util.shaped_abstractify(leaf)
            shape = tuple(d if isinstance(d, int) else None for d in getattr(spec, "shape", value.shape))
            signature.append((shape, str(value.dtype), bool(getattr(value, "weak_type", False))))
        static = (
            tuple(self._split(args)[1]),
            tuple(sorted((k, v) for k, v in kwargs.items() if k in self._static_argnames)),
        )
        try:
            hash(static)
        except TypeError:
            raise InputError("the static arguments of a kc.jit function must be hashable") from None
        return tree, tuple(signature), static, bool(jax.config.jax_enable_x64)

    def _specs(self, jax: Any, positional: Any, named: Any) -> Any:
        """The dynamic arguments as shapes with symbols, as ``polymorphic_shapes`` says."""
        from jax import export

        if named:
            raise InputError("a kc.jit function with polymorphic_shapes takes its array arguments by position")
        spec = self._polymorphic
        if isinstance(spec, Sequence) and not isinstance(spec, str):
            spec = tuple(spec) + (None,) * (len(positional) - len(spec))
        try:
            return export.symbolic_args_specs(positional, spec)
        except Exception as error:
            raise InputError(f"polymorphic_shapes {self._polymorphic!r} does not fit the arguments: {error}") from None

    def _trace(self, jax: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Traced:
        jitted = jax.jit(
            self.function,
            static_argnums=self._static_argnums or None,
            static_argnames=self._static_argnames or None,
            keep_unused=True,
        )
        with _without_shardings(jax):
            if self._polymorphic is not None:
                return self._export(jax, jitted, args, kwargs)
            return self._lower(jax, jitted, args, kwargs)

    @staticmethod
    def _lower(jax: Any, jitted: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Traced:
        lowered = jitted.trace(*args, **kwargs).lower(lowering_platforms=("cpu",))
        source = lowered.as_text(debug_info=True)
        leaves = jax.tree.leaves(lowered.args_info)
        out_dtypes = tuple(info.dtype for info in jax.tree.leaves(lowered.out_info))
        dtypes = tuple(info.dtype for info in leaves)
        return Traced(source, tuple(range(len(leaves))), dtypes, lowered.out_tree, out_dtypes)

    def _export(self, jax: Any, jitted: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Traced:
        from jax import export

        if self._static_argnames and any(k in kwargs for k in self._static_argnames):
            raise InputError("a kc.jit function with polymorphic_shapes takes static arguments by position")
        positional, static = self._split(args)
        specs = list(self._specs(jax, tuple(positional), {}))
        taken = (
            {
                n % len(args): value
                for n, value in zip(sorted(n % len(args) for n in self._static_argnums), static, strict=True)
            }
            if static
            else {}
        )
        merged = [taken[k] if k in taken else specs.pop(0) for k in range(len(args))]
        checks = _no_custom_call_checks(export)
        exported = export.export(jitted, platforms=("cpu",), disabled_checks=checks)(*merged)
        kept = tuple(exported.module_kept_var_idx)
        return Traced(
            bytes(exported.mlir_module_serialized),
            kept,
            tuple(exported.in_avals[k].dtype for k in kept),
            exported.out_tree,
            tuple(aval.dtype for aval in exported.out_avals),
            tuple(tuple(str(d) for d in exported.in_avals[k].shape) for k in kept),
        )


def jit(
    function: Callable[..., Any] | None = None,
    *,
    target: str = "cpu",
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    polymorphic_shapes: Any = None,
    options: Mapping[str, Any] | None = None,
) -> Any:
    """Compile a JAX function with kc: ``kc.jit(f)(x)``, or as a decorator, with or without arguments.

    ``target``: as in ``kc.compile``. ``static_argnums``, ``static_argnames``: as in ``jax.jit``.
    ``polymorphic_shapes``: shapes with symbols, one per positional argument and in the notation of ``jax.export``
    (``("b, _", None)``): one executable then serves every size of the dimensions that have a name. ``options``: as
    in ``kc.compile``.

    Arguments and results may be pytrees. Raises InputError when JAX is not installed.
    """
    if function is None:
        return functools.partial(
            jit,
            target=target,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            polymorphic_shapes=polymorphic_shapes,
            options=options,
        )
    if not callable(function):
        raise InputError(f"kc.jit takes a function, not a {type(function).__name__}")
    _import_jax()
    numbers = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)
    names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames)
    return Jitted(function, target, numbers, names, polymorphic_shapes, options)


def _named_dims(traced: Traced) -> ir.Module:
    """The module with JAX's names of its extents in ``kc.dims``, and what JAX asserts of them (see ``_jax_sizes``)."""
    from kc.frontends import stablehlo
    from kc.frontends._jax_sizes import plain
    from kc.frontends._sizes import Sizes, write

    module = stablehlo.load(traced.source)
    main = next(f.operation for f in module.body.operations if str(f.operation.attributes["sym_name"]) == '"main"')
    texts = {(n, axis): plain(text) for n, dims in enumerate(traced.dims) for axis, text in enumerate(dims)}
    write(main, Sizes(), texts)
    return module


def _import_jax() -> Any:
    try:
        import jax
        import jax.api_util
        import jax.export
    except ImportError as error:
        raise InputError(f"kc.jit needs JAX, which cannot be imported ({error}): pip install 'kc[jax]'") from None
    return jax


@contextlib.contextmanager
def _without_shardings(jax: Any) -> Iterator[None]:
    """Shardings as custom calls that can be dropped, not as ops of a dialect (Shardy's) that is not StableHLO's."""
    name = "jax_use_shardy_partitioner"
    before = getattr(jax.config, name, None)
    if not before:
        yield
        return
    jax.config.update(name, False)
    try:
        yield
    finally:
        jax.config.update(name, before)


def _no_custom_call_checks(export: Any) -> list[Any]:
    """JAX refuses to export custom calls it cannot keep stable; kc names the ones it does not know itself."""
    return [export.DisabledSafetyCheck.custom_call("*")] if hasattr(export.DisabledSafetyCheck, "custom_call") else []


def _wants_numpy(leaves: Sequence[Any]) -> bool:
    """NumPy results for NumPy arguments; JAX's own kind as soon as one argument is a JAX array, or none is an array."""
    import numpy as np

    arrays = [x for x in leaves if hasattr(x, "shape") and hasattr(x, "dtype")]
    return bool(arrays) and all(isinstance(x, (np.ndarray, np.generic)) for x in arrays)


def _whole(array: Any) -> Any:
    """An array, which JAX may have spread over devices, in the memory of the host."""
    import numpy as np

    return np.asarray(array)


def _as_array(jax: Any, leaf: Any, dtype: Any, numpy: bool) -> Any:
    """A leaf as an array of the dtype that JAX traced it with (JAX narrows Python numbers and 64-bit arrays)."""
    import numpy as np

    if jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
        return jax.random.key_data(leaf)
    if numpy:
        return np.asarray(leaf, dtype=dtype)
    if isinstance(leaf, jax.Array) and leaf.dtype == dtype:
        return leaf
    return jax.numpy.asarray(np.asarray(leaf), dtype=dtype)


def _as_result(jax: Any, array: Any, dtype: Any) -> Any:
    """A result as the function's caller expects it: a random key is its bits with a type around them."""
    if not jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
        return array
    return jax.random.wrap_key_data(jax.numpy.asarray(array), impl=dtype._impl)
