"""How an item of the comparison describes an op and its operands; items.py says what the words mean."""

MILLION = 1_000_000
INTEGERS = ("int32", "int64", "uint8")


def tensor(shape, dtype="float32", low=None, high=None, **more):
    shape = [shape] if isinstance(shape, int) else list(shape)
    if low is None:
        low, high = (1, 100) if dtype in INTEGERS else (0, 2) if dtype == "bool" else (-1, 1)
    return {"shape": shape, "dtype": dtype, "range": [low, high], **more}


def value(content, dtype="int32"):
    return {"value": content, "dtype": dtype, "constant": True}


def item(op, size, operands, of="float32", note="", **attrs):
    name = f"{op} {of} {size}{' ' + note if note else ''}"
    return {"name": name, "kind": "op", "op": op, "operands": operands, "attrs": attrs, "fetch": ["y"]}


def update(op, size, operands, of="float32", variables=("var",), **attrs):
    """An op without outputs that changes the operands called `variables`."""
    operands = {name: {**about, "variable": True} if name in variables else about for name, about in operands.items()}
    return {**item(op, size, operands, of, **attrs), "fetch": [], "targets": ["y"], "init": True}


def sizes(shape):
    return "x".join(map(str, shape)) if isinstance(shape, (list, tuple)) else f"{shape:,}"


def unary(op, dtype="float32", shape=MILLION, low=None, high=None, argument="x", **attrs):
    return item(op, sizes(shape), {argument: tensor(shape, dtype, low, high)}, dtype, **attrs)


def binary(op, dtype="float32", first=MILLION, second=None, low=None, high=None, names="xy", **attrs):
    second = first if second is None else second
    size = sizes(first) if first == second else f"{sizes(first)} and {sizes(second)}"
    operands = {names[0]: tensor(first, dtype, low, high), names[1]: tensor(second, dtype, low, high)}
    return item(op, size, operands, dtype, **attrs)
