//! What must not compile, and what the errors say. One folder a topic.
//!
//! `TRYBUILD=overwrite cargo test -p kernlink-macros --test compile_fail` writes the expected errors anew: read them
//! as a user would before committing them.

#[test]
fn compile_fail() {
    trybuild::TestCases::new().compile_fail("tests/ui/*/*.rs");
}
