fn element(i: u32) {
    let line = i / params.k;
    let place = place_of(entries[line * params.padded + (i - line * params.k)]);
    let at = params.row * params.k + i;
    values[at] = x[(params.row + line) * params.columns + place];
    indices[at] = I(place);
}
