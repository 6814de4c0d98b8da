//! Lists and arrays of tensors, and optionals.

use kernlink::prelude::*;

use super::super::differences::Function;
use super::{Functions, doubles};

pub(super) fn functions(all: &mut Functions) {
    lists(all);
    arrays(all);
    all.add("Optional", &[doubles(&[2], 1), doubles(&[3], 2)], |graph, xs| {
        let optional = ops::optional_from_value(graph, [xs[0], xs[1]]).build()?;
        let shapes = vec![PartialShape::from_known([Some(2)]), PartialShape::from_known([Some(3)])];
        let values = ops::optional_get_value(graph, optional, vec![DataType::Double; 2], shapes).build()?;
        let curved = ops::exp(graph, values[0]).build()?;
        Ok(vec![curved, values[1]])
    });
}

fn lists(all: &mut Functions) {
    let element = [2];
    all.add("TensorListScatter", &[doubles(&[2, 2], 1)], |graph, xs| {
        let list = ops::tensor_list_scatter(graph, xs[0], [2, 0], element).build()?;
        Ok(vec![ops::tensor_list_stack(graph, list, element, DataType::Double).build()?])
    });
    all.add("TensorListScatterIntoExistingList", &[doubles(&[3, 2], 1), doubles(&[2, 2], 2)], |graph, xs| {
        let list = ops::tensor_list_from_tensor(graph, xs[0], element).build()?;
        let list = ops::tensor_list_scatter_into_existing_list(graph, list, xs[1], [2, 0]).build()?;
        Ok(vec![ops::tensor_list_stack(graph, list, element, DataType::Double).build()?])
    });
    all.add("TensorListConcat", &[doubles(&[4, 2], 1)], |graph, xs| {
        let list = ops::tensor_list_split(graph, xs[0], [-1, 2], [1i64, 3]).build()?;
        Ok(vec![ops::tensor_list_concat(graph, list, DataType::Double).build()?.tensor])
    });
}

/// What orders the uses of an array leads from what is written first to what is written next.
fn arrays(all: &mut Functions) {
    let mut handles = Vec::new();
    // A split writes all elements, so that what comes before is of another array.
    all.add("TensorArraySplitV3", &[doubles(&[2], 1), doubles(&[3, 2], 2)], |graph, xs| {
        let [one, whole] = [1, 2].map(|size| ops::tensor_array_v3(graph, size, DataType::Double).build());
        let (one, whole) = (one?, whole?);
        handles.push(vec![one.handle, whole.handle]);
        let flow = ops::tensor_array_write_v3(graph, one.handle, 0, xs[0], one.flow).build()?;
        let flow = ops::tensor_array_split_v3(graph, whole.handle, xs[1], [1i64, 2], flow).build()?;
        let written = ops::tensor_array_read_v3(graph, one.handle, 0, flow, DataType::Double).build()?;
        let joined = ops::tensor_array_concat_v3(graph, whole.handle, flow, DataType::Double).build()?.value;
        Ok(vec![written, joined])
    });
    all.add("TensorArrayScatterV3", &[doubles(&[2], 1), doubles(&[2, 2], 2)], |graph, xs| {
        let array = ops::tensor_array_v3(graph, 3, DataType::Double).build()?;
        handles.push(vec![array.handle; 2]);
        let flow = ops::tensor_array_write_v3(graph, array.handle, 1, xs[0], array.flow).build()?;
        let flow = ops::tensor_array_scatter_v3(graph, array.handle, [2, 0], xs[1], flow).build()?;
        Ok(vec![ops::tensor_array_gather_v3(graph, array.handle, [0, 1, 2], flow, DataType::Double).build()?])
    });
    // By the handles.
    let made = all.0.len() - handles.len();
    for (handles, made) in handles.into_iter().zip(made..) {
        let Function { name, graph, fed, ys, .. } = &all.0[made];
        let (name, graph, fed, ys) = (format!("{name} by its handle"), graph.clone(), fed.clone(), ys.clone());
        all.0.push(Function { name, graph, fed, xs: handles, ys });
    }
    all.add("TensorArrayGradV3", &[doubles(&[2], 1)], |graph, xs| {
        let array = ops::tensor_array_v3(graph, 1, DataType::Double).build()?;
        let flow = ops::tensor_array_write_v3(graph, array.handle, 0, xs[0], array.flow).build()?;
        let read = ops::tensor_array_read_v3(graph, array.handle, 0, flow, DataType::Double).build()?;
        let square = ops::square(graph, read).build()?;
        let found = Gradients::of([square]).with_respect_to([xs[0]]).add_to(graph)?;
        found[0].into_iter().map(|found| found.dense(graph)).collect()
    });
}
