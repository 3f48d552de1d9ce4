"""Small errors that can be put into a module, one at a time."""

import ast
import copy
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("geometry", "geodesics", "embedding")
Mutant = namedtuple("Mutant", "number file line before after node variant")
SWAPS = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is},
    **{ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult},
    **{ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.MatMult: ast.Mult},
    **{ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift},
}
EITHER_WAY = ("min", "max", "minimum", "maximum")  # the order of arguments means nothing
SHOWN_ONLY = ("verbose", "name", "unit")


def with_field(node, **fields):
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def variants(node):
    """Return what the node may be replaced by."""
    found = []
    match node:
        case ast.Compare():
            for at, op in enumerate(node.ops):
                ops = [*node.ops[:at], SWAPS[type(op)](), *node.ops[at + 1 :]]
                found.append(with_field(node, ops=ops))
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign() if type(node.op) in SWAPS:
            found.append(with_field(node, op=SWAPS[type(node.op)]()))
        case ast.Constant(value=bool()):
            found.append(ast.Constant(not node.value))
        case ast.Constant(value=int()):
            found.append(ast.Constant(node.value + (1 if node.value < 10 else node.value)))
        case ast.Constant(value=float()):
            found.append(ast.Constant(2 * node.value or 1.0))
        case ast.UnaryOp():
            found.append(node.operand)
        case ast.Slice():
            for side in ("lower", "upper"):
                bound = getattr(node, side)
                if bound is not None and not isinstance(bound, ast.Constant):
                    one_more = ast.BinOp(bound, ast.Add(), ast.Constant(1))
                    found.append(with_field(node, **{side: one_more}))
        case ast.Call(args=[first, second, *rest]):
            is_even = ast.unparse(node.func).removeprefix("np.") in EITHER_WAY
            is_even |= ast.dump(first) == ast.dump(second)
            if not is_even and not any(isinstance(arg, ast.Starred) for arg in (first, second)):
                found.append(with_field(node, args=[second, first, *rest]))
        case ast.Return(value=ast.expr()):
            found.append(with_field(node, value=None))
        case ast.If() | ast.While() | ast.IfExp() if not isinstance(node.test, ast.UnaryOp):
            found.append(with_field(node, test=ast.UnaryOp(ast.Not(), node.test)))
    match node:
        case ast.Assign(targets=[ast.Name() | ast.Tuple(), *_]):
            pass  # without it there is no name
        case ast.Expr(value=ast.Call()) | ast.Assign() | ast.AugAssign():
            found.append(ast.Pass())
        case ast.Raise() | ast.Break() | ast.Continue():
            found.append(ast.Pass())
    return found


def children(node):
    """Go down, but not into what only tells types, or is only said or shown."""
    if isinstance(node, ast.arguments):
        pairs = [*zip(node.args[::-1], node.defaults[::-1], strict=False)]
        pairs += zip(node.kwonlyargs, node.kw_defaults, strict=True)
        yield from (default for name, default in pairs if default and name.arg not in SHOWN_ONLY)
        return
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not is_left_alone(child):
                    yield child


def is_left_alone(node):
    match node:
        case ast.Call(func=ast.Name(id="warn" | "cast")) | ast.JoinedStr():
            return True
        case ast.keyword(arg=name):
            return name in SHOWN_ONLY
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
    return False


def walk(node):
    yield node
    if not isinstance(node, ast.Raise):
        for child in children(node):
            yield from walk(child)


def all_mutants():
    mutants = []
    for package in PACKAGES:
        for file in sorted((ROOT / "src/ptunfold" / package).glob("*.py")):
            tree = ast.parse(file.read_text())
            for place, node in enumerate(walk(tree)):
                for variant, after in enumerate(variants(node)):
                    texts = [ast.unparse(ast.fix_missing_locations(one)) for one in (node, after)]
                    before, after = (text.split("\n")[0] for text in texts)
                    name = str(file.relative_to(ROOT))
                    line = getattr(node, "lineno", None) or node.lower.lineno
                    mutants.append(Mutant(len(mutants), name, line, before, after, place, variant))
    return mutants


def mutated(mutant):
    """Return the module's tree with one node replaced."""
    tree = ast.parse((ROOT / mutant.file).read_text())
    node = next(node for place, node in enumerate(walk(tree)) if place == mutant.node)
    after = ast.copy_location(variants(node)[mutant.variant], node)
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is node:
                setattr(parent, name, after)
            elif isinstance(value, list) and any(one is node for one in value):
                value[:] = [after if one is node else one for one in value]
    return ast.fix_missing_locations(tree)


def functions_of(mutant):
    """Return the first lines of the functions a mutant is in, or that use the constant it is in."""
    tree = ast.parse((ROOT / mutant.file).read_text())
    starts = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            starts[first] = node
    inside = [first for first, node in starts.items() if first <= mutant.line <= node.end_lineno]
    if inside:
        return [max(inside)]
    statement = next(one for one in tree.body if one.lineno <= mutant.line <= one.end_lineno)
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    uses = [
        first
        for first, node in starts.items()
        if any(isinstance(one, ast.Name) and one.id in names for one in ast.walk(node))
    ]
    return uses or list(starts)
