//! Text as a GraphDef: reading must not panic, and what was read must survive writing and reading.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(graph) = kernlink::proto::graph_from_text(text) else { return };
    let written = kernlink::proto::graph_to_text(&graph).expect("a graph can be written");
    let again = kernlink::proto::graph_from_text(&written).expect("what was written can be read");
    // NaN attrs are unequal to themselves; their text is not.
    assert_eq!(kernlink::proto::graph_to_text(&again).expect("a graph can be written"), written);
});
