// Whether entry a goes before b: the key decides, and then the place.
fn before(a: E, b: E) -> bool {
    return a.x < b.x || (a.x == b.x && (a.y < b.y || (a.y == b.y && a.z < b.z))); //@ if wide
    return a.x < b.x || (a.x == b.x && a.y < b.y); //@ if !wide
}
