// A tile of a transposition: read along the source's rows, written along the target's. A row of the tile has one more
// element than is used, so that its columns are in different banks.
const TILE: u32 = 32u;
const LINE: u32 = TILE + 1u;
const LINES: u32 = WORKGROUP / TILE;
var<workgroup> tile: array<U, 1056>;

fn row(r: u32, lane: u32) {
    var rest = r / params.across;
    let row_start = (r - rest * params.across) * TILE;
    var next = rest / params.down;
    let column_start = (rest - next * params.down) * TILE;
    rest = next;
    var to = params.to;
    var at = params.start;
    next = rest / params.n2;
    rest -= next * params.n2;
    to += rest * params.t2;
    at += rest * params.s2;
    rest = next;
    next = rest / params.n1;
    rest -= next * params.n1;
    to += rest * params.t1 + next * params.t0;
    at += rest * params.s1 + next * params.s0;

    let along = lane % TILE;
    let line = lane / TILE;
    for (var k = line; k < TILE; k += LINES) {
        if (row_start + k < params.rows && column_start + along < params.columns) {
            tile[k * LINE + along] = x[at + (row_start + k) * params.row_stride + column_start + along];
        }
    }
    workgroupBarrier();
    for (var k = line; k < TILE; k += LINES) {
        if (row_start + along < params.rows && column_start + k < params.columns) {
            y[to + row_start + along + (column_start + k) * params.column_stride] = tile[along * LINE + k];
        }
    }
}
