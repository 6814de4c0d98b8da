extern crate kernlink_framework as kernlink;

use kernlink_macros::not_differentiable;

pub struct Flat;

impl kernlink::op::Op for Flat {
    const DEF: &'static kernlink::op::OpDef = &kernlink::op::OpDef::EMPTY;
    type Attrs = ();
    fn read_attrs(_: &kernlink::attr::AttrMap) -> kernlink::Result<()> {
        Ok(())
    }
}

not_differentiable!(Flat);

fn main() {}
