// Part of a row of the output: the elements that inputs have for it, one input after the other.
fn element(i: u32) {
    let r = i / params.width;
    let c = i - r * params.width;
    y[r * params.row + params.start + c] = joined(r, c);
}
