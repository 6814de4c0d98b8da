//! The vocabulary: in graphs, in several sessions, in eager execution.

use std::sync::Arc;

use custom_ops::vocabulary::{initialize_vocabulary, is_vocabulary_initialized, look_up_words, vocabulary_handle};
use kernlink::prelude::*;
use kernlink::resource::ResourceManager;
use kernlink::shape_inference::testing::{ShapeTest, infer_error, infer_ok};
use kernlink::tensor::ResourceHandle;

fn words(words: &[&str]) -> Result<Tensor> {
    Tensor::new(words)
}

/// A session with nodes `init`, `exists`, and `ids` of the fed `words`.
fn session(shared_name: &str, resources: &Arc<ResourceManager>) -> Result<Session> {
    let mut graph = Graph::new(&kernlink::registry()?);
    let handle = vocabulary_handle(&mut graph).shared_name(shared_name).name("handle").build()?;
    let words = ops::placeholder(&mut graph, DataType::String).name("words").build()?;
    initialize_vocabulary(&mut graph, handle, words).name("init").build()?;
    is_vocabulary_initialized(&mut graph, handle).name("exists").build()?;
    look_up_words(&mut graph, handle, words).unknown(-7).name("ids").build()?;
    Session::with_options(graph, &SessionOptions::new().resources(resources.clone()))
}

fn exists(session: &Session) -> Result<bool> {
    session.run(&[], &["exists"], &[])?[0].to_scalar()
}

fn ids(session: &Session, of: &[&str]) -> Result<Vec<i64>> {
    Ok(session.run(&[("words", words(of)?)], &["ids"], &[])?[0].as_slice()?.to_vec())
}

fn initialize(session: &Session, with: &[&str]) -> Result<()> {
    session.run(&[("words", words(with)?)], &[], &["init"]).map(drop)
}

#[test]
fn sessions_that_share_resources_look_up_in_one_vocabulary() -> Result<()> {
    let resources = Arc::new(ResourceManager::new());
    let [first, second] = [session("animals", &resources)?, session("animals", &resources)?];
    let other = session("plants", &resources)?;
    assert!(!exists(&first)?);
    assert_eq!(ids(&first, &["cat"]).unwrap_err().code(), Code::NotFound);
    initialize(&first, &["cat", "dog", ""])?;
    assert!(exists(&first)? && exists(&second)? && !exists(&other)?);
    drop(first);
    assert_eq!(ids(&second, &["dog", "", "bird", "cat"])?, [1, 2, -7, 0]);
    assert_eq!(ids(&other, &["cat"]).unwrap_err().code(), Code::NotFound);
    assert_eq!(initialize(&second, &["cat"]).unwrap_err().code(), Code::AlreadyExists);
    assert_eq!(initialize(&other, &["oak", "oak"]).unwrap_err().code(), Code::InvalidArgument);
    assert!(!exists(&other)?);
    let listed = resources.list();
    assert_eq!(
        listed,
        [("localhost", "animals", "a vocabulary of 3 words")].map(|(a, b, c)| (a.into(), b.into(), c.into()))
    );
    assert!(resources.memory_used() > 6);
    resources.cleanup("");
    assert!(!exists(&second)?);
    Ok(())
}

#[test]
fn nodes_without_a_name_share_and_anonymous_ones_do_not() -> Result<()> {
    let resources = Arc::new(ResourceManager::new());
    let [first, second] = [session("", &resources)?, session("", &resources)?];
    initialize(&first, &["a"])?;
    assert!(exists(&second)?);
    // Each run's handle is another.
    let anonymous = session(ResourceHandle::ANONYMOUS_NAME, &resources)?;
    initialize(&anonymous, &["a"])?;
    initialize(&anonymous, &["a"])?;
    assert!(!exists(&anonymous)?);
    Ok(())
}

#[test]
fn a_word_that_is_there_twice_is_quoted_in_part() -> Result<()> {
    let session = session("twice", &Arc::new(ResourceManager::new()))?;
    let long = "x".repeat(1 << 20);
    let error = initialize(&session, &[&long, "a", &long]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("xxx") && error.message().len() < 1000, "{} bytes", error.message().len());
    Ok(())
}

#[test]
fn many_threads_look_up_at_once() -> Result<()> {
    let resources = Arc::new(ResourceManager::new());
    let sessions: Vec<_> = (0..4).map(|_| session("shared", &resources)).collect::<Result<_>>()?;
    initialize(&sessions[0], &["x", "y"])?;
    std::thread::scope(|scope| {
        for session in &sessions {
            scope.spawn(|| (0..50).for_each(|_| assert_eq!(ids(session, &["y", "z"]).unwrap(), [1, -7])));
        }
    });
    Ok(())
}

#[test]
fn eager_execution_and_graphs_share_a_vocabulary() -> Result<()> {
    let mut eager = EagerContext::new(&kernlink::registry()?)?;
    let handle = vocabulary_handle(&mut eager).shared_name("shared").build()?;
    initialize_vocabulary(&mut eager, handle.clone(), words(&["one", "two"])?).build()?;
    let matrix = words(&["two", "three"])?.reshaped([2, 1])?;
    let ids_of = look_up_words(&mut eager, handle.clone(), matrix).build()?;
    assert_eq!((ids_of.as_slice::<i64>()?, ids_of.shape().dims()), (&[1, -1][..], &[2, 1][..]));
    assert!(is_vocabulary_initialized(&mut eager, handle).build()?.to_scalar::<bool>()?);
    let graph = session("shared", eager.session().resources())?;
    assert_eq!(ids(&graph, &["one"])?, [0]);
    Ok(())
}

#[test]
fn a_handle_of_something_else_is_refused() -> Result<()> {
    let mut eager = EagerContext::new(&kernlink::registry()?)?;
    let dtypes = ops::HashTableV2Required { key_dtype: DataType::String, value_dtype: DataType::Int64 };
    let table = ops::hash_table_v2(&mut eager, dtypes).shared_name("it").build()?;
    let error = look_up_words(&mut eager, table.clone(), words(&["a"])?).build().unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("where a custom_ops::Vocabulary is expected"), "{error}");
    assert!(!is_vocabulary_initialized(&mut eager, table.clone()).build()?.to_scalar::<bool>()?);
    let error = initialize_vocabulary(&mut eager, table, words(&["a"])?).build().unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    Ok(())
}

#[test]
fn shapes_are_known_before_anything_runs() -> Result<()> {
    let registry = kernlink::registry()?;
    let test = |op: &str| {
        let entry = registry.op(op)?;
        Ok::<_, Error>(ShapeTest::new(entry.def, entry.shape_fn.expect("the op has a shape function")))
    };
    infer_ok(&test("LookUpWords")?, "[];[2,?]", "in1");
    infer_error("must be rank 0", &test("LookUpWords")?, "[1];?");
    infer_error("must be rank 1", &test("InitializeVocabulary")?, "[];[]");
    infer_ok(&test("VocabularyHandle")?, "", "[]");
    Ok(())
}
