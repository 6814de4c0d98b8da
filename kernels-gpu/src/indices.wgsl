// Indices in the buffer `indices`, of 32 bits or of two words. What does not fit a word is found as the greatest number.
fn index_at(place: u32) -> u32 {
    let index = indices[place];
    return select(index.x, 0xffffffffu, index.y != 0u); //@ if wide
    return index; //@ if !wide
}
