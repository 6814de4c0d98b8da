//! Tests of the manager.

use super::*;
use crate::Code;

struct Number(u8);

impl Resource for Number {
    fn type_name() -> &'static str {
        "Number"
    }
    fn debug_string(&self) -> String {
        format!("number {}", self.0)
    }
}

struct Other;

impl Resource for Other {
    fn type_name() -> &'static str {
        "Other"
    }
}

#[test]
fn a_handle_names_what_is_created_by_it() {
    let manager = ResourceManager::new();
    let handle = manager.make_handle::<Number>("cpu", "", "n");
    assert_eq!(manager.lookup_any(&handle).unwrap_err().code(), Code::NotFound);
    manager.create_handle(&handle, Arc::new(Number(7))).unwrap();
    assert_eq!(manager.create_handle(&handle, Arc::new(Number(8))).unwrap_err().code(), Code::AlreadyExists);
    assert_eq!(manager.create_handle(&handle, Arc::new(Other)).unwrap_err().code(), Code::InvalidArgument);
    assert_eq!(manager.lookup_handle::<Number>(&handle).unwrap().0, 7);
    let any = manager.lookup_any(&handle).unwrap();
    assert_eq!(any.downcast::<Number>().unwrap().0, 7);
    manager.create("c", "other", Arc::new(Other)).unwrap();
    let text = format!("{manager:?}");
    let lines: Vec<_> = text.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>()).collect();
    assert_eq!(lines, [["c", "Other", "other", "a resource"], ["localhost", "Number", "n", "number 7"]]);
    manager.delete_handle(&handle).unwrap();
    assert_eq!(manager.lookup_any(&handle).unwrap_err().code(), Code::NotFound);
}

#[test]
fn a_handle_that_owns_leads_to_its_own_alone() {
    let manager = ResourceManager::new();
    let handle = manager.make_owned_handle("cpu", Arc::new(Number(3)));
    assert!(manager.lookup_any(&handle).unwrap().downcast::<Number>().is_ok());
    assert_eq!(manager.create_handle(&handle, Arc::new(Number(4))).unwrap_err().code(), Code::AlreadyExists);
    assert!(manager.list().is_empty());
}

#[test]
fn errors_name_type_name_and_container_and_what_to_do() {
    let manager = ResourceManager::new();
    let says = |error: Error, code: Code, words: &[&str]| {
        assert_eq!(error.code(), code);
        words.iter().for_each(|words| assert!(error.message().contains(words), "`{words}` is not in: {error}"));
    };
    let missing = || manager.lookup::<Number>("", "n").map(drop).unwrap_err();
    let number = "resource `n` of type Number in container `localhost` does not exist";
    says(missing(), Code::NotFound, &[number, "no resource at all. Run first what makes it"]);
    assert!(missing().context("c").is_missing_resource());
    manager.create("", "n", Arc::new(Other)).unwrap();
    says(missing(), Code::NotFound, &[number, "; under this name it has one of type Other. Run first"]);
    let handle = manager.make_handle::<Number>("cpu", "", "n");
    says(manager.lookup_any(&handle).map(drop).unwrap_err(), Code::NotFound, &[number]);
    says(manager.delete_handle(&handle).unwrap_err(), Code::NotFound, &[number]);
    manager.delete::<Other>("", "n").unwrap();
    says(missing(), Code::NotFound, &[number, "no resource at all"]);
    manager.create("", "n", Arc::new(Other)).unwrap();
    let wrong = manager.lookup_handle::<Other>(&handle).map(drop).unwrap_err();
    let words = "resource `n` of type Number in container `localhost` is given where a Other is expected";
    assert!(!wrong.is_missing_resource());
    says(wrong, Code::InvalidArgument, &[words]);
    let again = manager.create("", "n", Arc::new(Other)).unwrap_err();
    says(
        again,
        Code::AlreadyExists,
        &["resource `n` of type Other in container `localhost` exists already", "`shared_name`"],
    );
}

#[test]
fn what_others_own_is_found_as_long_as_they_do() {
    let manager = ResourceManager::new();
    let number = Arc::new(Number(5));
    manager.create_unowned("", "n", &number).unwrap();
    assert_eq!(manager.lookup::<Number>("", "n").unwrap().0, 5);
    assert_eq!(manager.create_unowned("", "n", &number).unwrap_err().code(), Code::AlreadyExists);
    assert_eq!(manager.list().len(), 1);
    drop(number);
    assert_eq!(manager.lookup::<Number>("", "n").map(drop).unwrap_err().code(), Code::NotFound);
    assert!(manager.list().is_empty());
    assert_eq!(manager.lookup_or_create("", "n", || Ok(Number(6))).unwrap().0, 6);
}

#[test]
fn no_two_anonymous_handles_have_one_name() {
    let manager = ResourceManager::new();
    let name = || manager.make_handle::<Number>("cpu", "", ResourceHandle::ANONYMOUS_NAME).name;
    assert_ne!(name(), name());
}

/// Whether `body` ends; a deadlock does not.
fn ends(body: impl FnOnce() + Send + 'static) {
    let (done, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        body();
        _ = done.send(());
    });
    ended.recv_timeout(std::time::Duration::from_secs(20)).expect("it waits for itself, or has panicked");
}

/// A resource whose methods call the manager.
struct Caller(Arc<ResourceManager>);

impl Caller {
    fn call(&self) -> usize {
        // A number that is there already: the manager is locked to change it all the same.
        _ = self.0.create("", "called", Arc::new(Number(1)));
        self.0.lookup::<Number>("", "called").map_or(0, |number| number.0 as usize)
    }
}

impl Resource for Caller {
    fn type_name() -> &'static str {
        "Caller"
    }
    fn debug_string(&self) -> String {
        self.call().to_string()
    }
    fn memory_used(&self) -> usize {
        self.call()
    }
}

#[test]
fn resources_are_described_with_the_manager_unlocked() {
    ends(|| {
        let manager = Arc::new(ResourceManager::new());
        manager.create("", "n", Arc::new(Caller(manager.clone()))).unwrap();
        assert_eq!(manager.memory_used(), 1);
        assert!(manager.list().contains(&("localhost".to_owned(), "n".to_owned(), "1".to_owned())));
        assert!(format!("{manager:?}").contains("Caller"));
    });
}

/// A resource that removes another when it goes.
struct Remover(Arc<ResourceManager>);

impl Resource for Remover {
    fn type_name() -> &'static str {
        "Remover"
    }
}

impl Drop for Remover {
    fn drop(&mut self) {
        _ = self.0.delete::<Number>("", "none");
    }
}

#[test]
fn the_last_owner_of_a_resource_may_go_while_the_manager_is_asked() {
    ends(|| {
        let manager = Arc::new(ResourceManager::new());
        let stop = std::sync::atomic::AtomicBool::new(false);
        let newest = std::sync::Mutex::new(None);
        std::thread::scope(|scope| {
            // Whoever asks for it meanwhile may become its last owner.
            scope.spawn(|| {
                for _ in 0..20_000 {
                    let remover = Arc::new(Remover(manager.clone()));
                    _ = manager.create_unowned("", "r", &remover);
                    let old = newest.lock().unwrap().replace(remover);
                    drop(old);
                }
                stop.store(true, Ordering::Relaxed);
            });
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    _ = manager.list();
                    let another = Arc::new(Remover(manager.clone()));
                    _ = manager.create_unowned("", "r", &another);
                }
            });
        });
    });
}

#[test]
fn names_of_what_is_no_more_are_forgotten() {
    let manager = ResourceManager::new();
    let kept = Arc::new(Number(1));
    manager.create_unowned("", "kept", &kept).unwrap();
    for index in 0..10_000 {
        manager.create_unowned("", &format!("n{index}"), &Arc::new(Number(0))).unwrap();
    }
    let names = manager.write().get_mut("localhost").unwrap().of_type::<Number>().by_name.len();
    assert!(names <= 2 * MIN_SWEPT, "{names}");
    assert_eq!(manager.lookup::<Number>("", "kept").unwrap().0, 1);
    manager.create_unowned("", "gone", &Arc::new(Number(0))).unwrap();
    let handle = manager.make_handle::<Number>("cpu", "", "gone");
    assert_eq!(manager.delete_handle(&handle).unwrap_err().code(), Code::NotFound);
    assert_eq!(manager.delete::<Number>("", "gone").unwrap_err().code(), Code::NotFound);
}

#[test]
fn a_handle_without_type_names_no_one_of_several() {
    let manager = ResourceManager::new();
    let handle = ResourceHandle { name: "n".to_owned(), ..ResourceHandle::default() };
    manager.create("", "n", Arc::new(Number(1))).unwrap();
    assert!(manager.lookup_any(&handle).unwrap().downcast::<Number>().is_ok());
    manager.create("", "n", Arc::new(Other)).unwrap();
    for error in [manager.lookup_any(&handle).map(drop), manager.delete_handle(&handle)].map(Result::unwrap_err) {
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(error.message().contains("localhost/n") && error.message().contains("Number, Other"), "{error}");
    }
    manager.delete_handle(&manager.make_handle::<Number>("cpu", "", "n")).unwrap();
    manager.delete_handle(&handle).unwrap();
    assert_eq!(manager.lookup::<Other>("", "n").map(drop).unwrap_err().code(), Code::NotFound);
}
