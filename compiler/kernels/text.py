"""Kernels as short text, for tests, remarks and people: expressions in prefix form, shared parts named once."""
from __future__ import annotations

from kc.kernels import expr as E


def kernel_text(kernel: E.Kernel) -> str:
    """One line for the family and its loops, one per shared sub-expression and per output."""
    lines = [f"{E.kind(kernel)} {_header(kernel)}".rstrip()]
    printer = _Printer(lines)
    for name in ("query", "key", "value", "score", "lhs", "rhs", "body", "init"):
        part = getattr(kernel, name, None)
        if part is not None:
            lines.append(f"  {name} = {printer.inline(part)}")
    for output in getattr(kernel, "outputs", ()):
        where = ", ".join(_coord(coord) for coord in output.coords)
        value = printer.inline(output.expr)
        lines.append(f"  %{output.arg}[{where}] = {value}")
    return "\n".join(lines)


def _header(kernel: E.Kernel) -> str:
    if isinstance(kernel, E.General):
        return f"({kernel.reason})"
    dims = getattr(kernel, "dims", ())
    sizes = " ".join(f"d{i}={'?' if dim.size is None else dim.size}" for i, dim in enumerate(dims))
    extra = ""
    if isinstance(kernel, E.Rows):
        extra = f" columns={kernel.ncols}"
    elif isinstance(kernel, E.Contraction):
        extra = f" batch={_dims(kernel.batch)} m={_dims(kernel.m)} n={_dims(kernel.n)} k={_dims(kernel.k)}"
        extra += f" acc={kernel.acc_type}"
    elif isinstance(kernel, E.Window):
        extra = f" out={_dims(kernel.out)} window={_dims(kernel.window)} reduce={kernel.reduce}"
    elif isinstance(kernel, E.Attention):
        extra = f" batch={_dims(kernel.batch)} q=d{kernel.q} kv=d{kernel.kv} d=d{kernel.d} dv=d{kernel.dv}"
        extra += f" causal={str(kernel.causal).lower()} probs={kernel.probs_type}"
    return f"[{sizes}]{extra}"


def _dims(dims: tuple[int, ...]) -> str:
    return "(" + ",".join(f"d{dim}" for dim in dims) + ")"


def _coord(coord: E.Coord) -> str:
    if coord.dim is None:
        return str(coord.offset)
    terms = [f"d{dim}" if scale == 1 else f"{scale}*d{dim}" for dim, scale in ((coord.dim, coord.scale), *coord.more)]
    if coord.offset:
        terms.append(str(coord.offset))
    return "+".join(terms)


class _Printer:
    """Prints expressions; a compound part that occurs more than once is printed on a line of its own and named."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.names: dict[E.Expr, str] = {}

    def inline(self, root: E.Expr) -> str:
        users: dict[E.Expr, int] = {}
        for node in E.walk(root):
            for child in _children(node):
                users[child] = users.get(child, 0) + 1
        texts: dict[E.Expr, str] = {}
        for node in E.walk(root):
            text = self.names.get(node) or self._node(node, [texts[child] for child in _children(node)])
            if node not in self.names and users.get(node, 0) > 1 and isinstance(node, (E.Apply, E.Reduce)):
                name = f"t{len(self.names)}"
                self.lines.append(f"  {name} = {text}")
                self.names[node] = text = name
            texts[node] = text
        return texts[root]

    def _node(self, node: E.Expr, children: list[str]) -> str:
        if isinstance(node, E.Const):
            return f"{node.value}:{node.type}"
        if isinstance(node, E.Load):
            where = ", ".join(_coord(coord) for coord in node.coords)
            return f"%{node.arg}[{where}]" if node.coords else f"%{node.arg}"
        if isinstance(node, E.Index):
            return f"d{node.dim}"
        if isinstance(node, E.Acc):
            return "acc"
        if isinstance(node, E.Reduce):
            return f"reduce<{_short(node.op)} over {_dims(node.dims)[1:-1]}>({children[0]}, init {children[1]})"
        marks = "".join(f" {value.split(' :')[0]}" for name, value in node.attrs if name == "predicate")
        name = _short(node.op) + marks.replace(" ", ".")
        if node.op.endswith(("extf", "truncf", "extsi", "extui", "sitofp", "uitofp", "fptosi", "index_cast", "trunci")):
            name += f":{node.type}"
        return f"{name}({', '.join(children)})"


def _short(op: str) -> str:
    return op.split(".", 1)[1]


def _children(node: E.Expr) -> tuple[E.Expr, ...]:
    if isinstance(node, E.Apply):
        return node.args
    if isinstance(node, E.Reduce):
        return (node.arg, node.init)
    return ()
