extern crate kernlink_framework as kernlink;

use kernlink_macros::register_op;

kernlink::provider!();

// What may stand in each kind of default, and which values the type allows.
#[register_op(
    attr("a: int = 9223372036854775808"),
    attr("b: int = 1e3"),
    attr("c: int = 010"),
    attr("d: int = 1.5"),
    attr("e: int = 'x'"),
    attr("f: float = 'x'"),
    attr("g: bool = 2"),
    attr("h: string = 'x"),
    attr("i: string = '\\q'"),
    attr("j: type = DT_FLOAT_REF"),
    attr("k: type = DT_INVALID"),
    attr("l: type = DT_FLAOT"),
    attr("m: list(int) = [1, 'x']"),
    attr("n: list(int) = [1"),
    attr("o: list(type) = [float]"),
    attr("p: list({float, double}) = [DT_FLOAT, DT_INT32]"),
    attr("q: list({'a', 'b'}) = ['a', 'c']"),
    attr("r: int >= 3 = 2"),
    attr("s: list(string) >= 1 = []"),
    attr("t: {1, 2} = 1"),
    attr("u: list(int) = [1] [2]"),
    attr("v: numbertype = DT_STRING")
)]
pub struct Bad;

fn main() {}
