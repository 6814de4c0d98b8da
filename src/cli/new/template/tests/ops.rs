//! The ops, called without a graph.

use kernlink::prelude::*;

use my_ops::zero_out;

#[test]
fn zero_out_keeps_one_element() -> Result<()> {
    let mut eager = EagerContext::new(&kernlink::registry()?)?;
    let y = zero_out(&mut eager, [1.0f32, 2.0, 3.0])
        .preserve_index(1)
        .build()?;
    assert_eq!(y.as_slice::<f32>()?, [0.0, 2.0, 0.0]);

    let error = zero_out(&mut eager, [1i32, 2])
        .preserve_index(2)
        .build()
        .unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument, "{error}");
    Ok(())
}
