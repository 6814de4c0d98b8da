// Vectors of indices, which name rows.
//@ import indices, refuse
const ELSEWHERE: u32 = 0xfffffffeu;
const NOWHERE: u32 = 0xffffffffu;

struct Found {
    row: u32,
    fits: bool,
}

fn with_entry(found: Found, first: u32, entry: u32, size: u32) -> Found {
    if (entry >= params.depth) {
        return found;
    }
    let index = index_at(first + entry);
    return Found(found.row * size + index, found.fits && index < size);
}

// Which of the rows that are bound vector `r` names, or ELSEWHERE, or NOWHERE of all rows, which is refused.
fn row_at(r: u32) -> u32 {
    let first = r * params.depth;
    var found = Found(0u, true);
    found = with_entry(found, first, 0u, params.size0);
    found = with_entry(found, first, 1u, params.size1);
    found = with_entry(found, first, 2u, params.size2);
    found = with_entry(found, first, 3u, params.size3);
    found = with_entry(found, first, 4u, params.size4);
    found = with_entry(found, first, 5u, params.size5);
    found = with_entry(found, first, 6u, params.size6);
    found = with_entry(found, first, 7u, params.size7);
    if (!found.fits) {
        refuse();
        return NOWHERE;
    }
    return select(ELSEWHERE, found.row - params.top, found.row - params.top < params.height);
}
