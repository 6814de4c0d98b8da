//! The manager: resources by container, type and name.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use super::Resource;
use crate::error::{Error, Result};
use crate::tensor::ResourceHandle;

/// The container of resources that name none.
const DEFAULT_CONTAINER: &str = "localhost";

/// Keeps resources by container, type and name. A lookup shares the resource: it lives as long as anything holds it.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use kernlink_framework::resource::{Resource, ResourceManager};
///
/// #[derive(Default)]
/// struct Tally(Mutex<u64>);
///
/// impl Resource for Tally {
///     fn type_name() -> &'static str {
///         "Tally"
///     }
/// }
///
/// let manager = ResourceManager::new();
/// let tally = manager.lookup_or_create("", "words", || Ok(Tally::default()))?;
/// *tally.0.lock().unwrap() += 2;
/// let found = manager.lookup::<Tally>("", "words")?;
/// assert_eq!(*found.0.lock().unwrap(), 2);
///
/// manager.delete::<Tally>("", "words")?;
/// assert!(manager.lookup::<Tally>("", "words").is_err());
/// assert_eq!(*found.0.lock().unwrap(), 2); // whoever holds it keeps it
/// # Ok::<(), kernlink_framework::Error>(())
/// ```
#[derive(Default)]
pub struct ResourceManager {
    containers: RwLock<HashMap<String, Container>>,
    anonymous: AtomicU64,
}

#[derive(Default)]
struct Container(HashMap<TypeId, OfType>);

/// The resources of one type, by name.
struct OfType {
    type_name: &'static str,
    by_name: HashMap<String, Kept>,
}

/// A resource, or what leads to it while others own it.
enum Kept {
    Owned(Arc<dyn Resource>),
    Unowned(Weak<dyn Resource>),
}

impl Kept {
    fn get(&self) -> Option<Arc<dyn Resource>> {
        match self {
            Kept::Owned(resource) => Some(resource.clone()),
            Kept::Unowned(resource) => resource.upgrade(),
        }
    }
}

impl OfType {
    /// Whether a handle names one of them.
    fn is_named(&self, handle: &ResourceHandle) -> bool {
        self.by_name.contains_key(&handle.name) && (handle.type_name.is_empty() || handle.type_name == self.type_name)
    }
}

impl Container {
    fn get<T: Resource>(&self, name: &str) -> Option<Arc<T>> {
        let resource: Arc<dyn Any + Send + Sync> = self.0.get(&TypeId::of::<T>())?.by_name.get(name)?.get()?;
        resource.downcast().ok()
    }

    fn of_type<T: Resource>(&mut self) -> &mut HashMap<String, Kept> {
        let new = || OfType { type_name: T::type_name(), by_name: HashMap::new() };
        &mut self.0.entry(TypeId::of::<T>()).or_insert_with(new).by_name
    }
}

impl ResourceManager {
    /// A manager without resources.
    pub fn new() -> ResourceManager {
        ResourceManager::default()
    }

    fn read(&self) -> RwLockReadGuard<'_, HashMap<String, Container>> {
        self.containers.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<String, Container>> {
        self.containers.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a resource.
    ///
    /// # Errors
    /// ALREADY_EXISTS if the container has one of this type and name.
    #[track_caller]
    pub fn create<T: Resource>(&self, container: &str, name: &str, resource: Arc<T>) -> Result<()> {
        self.keep::<T>(container, name, Kept::Owned(resource))
    }

    /// Makes a resource known that others own: it is found as long as they do, and not kept.
    ///
    /// # Errors
    /// ALREADY_EXISTS if the container has one of this type and name.
    #[track_caller]
    pub fn create_unowned<T: Resource>(&self, container: &str, name: &str, resource: &Arc<T>) -> Result<()> {
        let resource: Weak<T> = Arc::downgrade(resource);
        self.keep::<T>(container, name, Kept::Unowned(resource))
    }

    #[track_caller]
    fn keep<T: Resource>(&self, container: &str, name: &str, resource: Kept) -> Result<()> {
        let mut containers = self.write();
        let of_type = containers.entry(named(container).to_owned()).or_default().of_type::<T>();
        if of_type.get(name).is_some_and(|kept| kept.get().is_some()) {
            let (container, type_name) = (named(container), T::type_name());
            return Err(Error::already_exists(format!("Resource {container}/{name}/{type_name} exists already")));
        }
        of_type.insert(name.to_owned(), resource);
        Ok(())
    }

    /// The resource with this name.
    ///
    /// # Errors
    /// NOT_FOUND if there is none of this type.
    #[track_caller]
    pub fn lookup<T: Resource>(&self, container: &str, name: &str) -> Result<Arc<T>> {
        let found = self.read().get(named(container)).and_then(|container| container.get(name));
        found.ok_or_else(|| self.missing::<T>(container, name))
    }

    #[cold]
    #[track_caller]
    fn missing<T: Resource>(&self, container: &str, name: &str) -> Error {
        let container = named(container);
        match self.read().get(container) {
            None => Error::not_found(format!(
                "Container {container} does not exist. (Could not find resource: {container}/{name})"
            )),
            Some(_) => Error::not_found(format!("Resource {container}/{name}/{} does not exist.", T::type_name())),
        }
    }

    /// The resource with this name; if there is none, `make` makes it, with the manager locked meanwhile.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn lookup_or_create<T: Resource>(
        &self,
        container: &str,
        name: &str,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        if let Some(found) = self.read().get(named(container)).and_then(|container| container.get(name)) {
            return Ok(found);
        }
        let mut containers = self.write();
        let container = containers.entry(named(container).to_owned()).or_default();
        if let Some(found) = container.get(name) {
            return Ok(found);
        }
        let resource = Arc::new(make()?);
        container.of_type::<T>().insert(name.to_owned(), Kept::Owned(resource.clone()));
        Ok(resource)
    }

    /// Keeps a resource under the name that a handle gives.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the handle names another type; ALREADY_EXISTS if it owns a resource, or the container has one of
    /// this type and name.
    #[track_caller]
    pub fn create_handle<T: Resource>(&self, handle: &ResourceHandle, resource: Arc<T>) -> Result<()> {
        ensure_type::<T>(handle)?;
        if handle.owned.is_some() {
            return Err(Error::already_exists(format!("the handle owns its {} already", T::type_name())));
        }
        self.create(&handle.container, &handle.name, resource)
    }

    /// The resource that a handle names or owns.
    ///
    /// # Errors
    /// NOT_FOUND if there is none; INVALID_ARGUMENT if it has another type.
    #[track_caller]
    pub fn lookup_handle<T: Resource>(&self, handle: &ResourceHandle) -> Result<Arc<T>> {
        if let Some(owned) = &handle.owned {
            return owned.clone().downcast().map_err(|_| wrong_type::<T>(handle));
        }
        ensure_type::<T>(handle)?;
        self.lookup(&handle.container, &handle.name)
    }

    /// The resource that a handle names or owns, whatever its type; [`Arc::downcast`] leads to one.
    ///
    /// # Errors
    /// NOT_FOUND if there is none.
    #[track_caller]
    pub fn lookup_any(&self, handle: &ResourceHandle) -> Result<Arc<dyn Any + Send + Sync>> {
        if let Some(owned) = &handle.owned {
            return Ok(owned.clone());
        }
        let found = self.read().get(named(&handle.container)).and_then(|container| {
            let of_type = container.0.values().find(|of_type| of_type.is_named(handle))?;
            of_type.by_name.get(&handle.name)?.get()
        });
        found.map(|resource| resource as Arc<dyn Any + Send + Sync>).ok_or_else(|| no_such(handle))
    }

    /// As [`ResourceManager::lookup_or_create`], by handle.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if the handle names another type; those of `make`.
    #[track_caller]
    pub fn lookup_or_create_handle<T: Resource>(
        &self,
        handle: &ResourceHandle,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<Arc<T>> {
        if handle.owned.is_some() {
            return self.lookup_handle(handle);
        }
        ensure_type::<T>(handle)?;
        self.lookup_or_create(&handle.container, &handle.name, make)
    }

    /// Removes a resource from its container; it lives on while anything holds it.
    ///
    /// # Errors
    /// NOT_FOUND if there is none.
    #[track_caller]
    pub fn delete<T: Resource>(&self, container: &str, name: &str) -> Result<()> {
        let removed = {
            let mut containers = self.write();
            let of_type = containers.get_mut(named(container)).and_then(|c| c.0.get_mut(&TypeId::of::<T>()));
            of_type.and_then(|resources| resources.by_name.remove(name))
        };
        // Dropped here, outside the lock: a resource may hold handles of others.
        removed.map(drop).ok_or_else(|| self.missing::<T>(container, name))
    }

    /// Removes the resource that a handle names, whatever its type.
    ///
    /// # Errors
    /// NOT_FOUND if there is none.
    #[track_caller]
    pub fn delete_handle(&self, handle: &ResourceHandle) -> Result<()> {
        if handle.owned.is_some() {
            return Ok(());
        }
        let mut removed = None;
        if let Some(container) = self.write().get_mut(named(&handle.container)) {
            let of_type = container.0.values_mut().find(|of_type| of_type.is_named(handle));
            removed = of_type.and_then(|of_type| of_type.by_name.remove(&handle.name));
        }
        removed.map(drop).ok_or_else(|| no_such(handle))
    }

    /// Removes all resources of a container. An empty name stands for the default one.
    pub fn cleanup(&self, container: &str) {
        let removed = self.write().remove(named(container));
        drop(removed);
    }

    /// Removes all resources.
    pub fn clear(&self) {
        let removed = std::mem::take(&mut *self.write());
        drop(removed);
    }

    /// A handle for a resource of type `T`, which need not exist. An empty container is the default one.
    /// [`ResourceHandle::ANONYMOUS_NAME`] stands for a name that no other handle has.
    pub fn make_handle<T: Resource>(&self, device: &str, container: &str, name: &str) -> ResourceHandle {
        let name = match name {
            ResourceHandle::ANONYMOUS_NAME => format!("_AnonymousVar{}", self.unique_number()),
            name => name.to_owned(),
        };
        ResourceHandle {
            device: device.to_owned(),
            container: named(container).to_owned(),
            name,
            type_name: T::type_name().to_owned(),
            ..ResourceHandle::default()
        }
    }

    /// A handle that owns its resource, which goes with the last copy of the handle.
    pub fn make_owned_handle<T: Resource>(&self, device: &str, resource: Arc<T>) -> ResourceHandle {
        let number = self.anonymous.fetch_add(1, Ordering::Relaxed);
        ResourceHandle {
            device: device.to_owned(),
            container: "Anonymous".to_owned(),
            name: format!("Resource-{number}-at-{:p}", Arc::as_ptr(&resource)),
            type_name: T::type_name().to_owned(),
            owned: Some(resource),
            ..ResourceHandle::default()
        }
    }

    /// A number that no other call returns.
    pub fn unique_number(&self) -> u64 {
        self.anonymous.fetch_add(1, Ordering::Relaxed)
    }

    /// What a function makes of each resource: it is given the container, the type, the name and the resource.
    fn each<T>(&self, mut make: impl FnMut(&str, &str, &str, &dyn Resource) -> T) -> Vec<T> {
        let containers = self.read();
        let mut made = Vec::new();
        for (container, types) in &*containers {
            for of_type in types.0.values() {
                for (name, kept) in &of_type.by_name {
                    made.extend(kept.get().map(|resource| make(container, of_type.type_name, name, &*resource)));
                }
            }
        }
        made
    }

    /// All resources: container, name and a line of description, sorted.
    pub fn list(&self) -> Vec<(String, String, String)> {
        let mut list =
            self.each(|container, _, name, resource| (container.to_owned(), name.to_owned(), resource.debug_string()));
        list.sort();
        list
    }

    /// The bytes that all resources hold together.
    pub fn memory_used(&self) -> usize {
        self.each(|_, _, _, resource| resource.memory_used()).into_iter().sum()
    }
}

impl fmt::Debug for ResourceManager {
    /// A line for each resource: container, type, name and [`Resource::debug_string`], as TensorFlow's `DebugString` has them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = self.each(|container, type_name, name, resource| {
            format!("{container:<20} | {type_name:<40} | {name:<40} | {}", resource.debug_string())
        });
        lines.sort();
        f.write_str(&lines.join("\n"))
    }
}

/// The name of a container, of which the default one has none in attrs.
pub(super) fn named(container: &str) -> &str {
    if container.is_empty() { DEFAULT_CONTAINER } else { container }
}

/// Checks that a handle may name a `T`.
#[track_caller]
fn ensure_type<T: Resource>(handle: &ResourceHandle) -> Result<()> {
    let suits = handle.type_name.is_empty() || handle.type_name == T::type_name();
    if suits { Ok(()) } else { Err(wrong_type::<T>(handle)) }
}

#[cold]
#[track_caller]
fn no_such(handle: &ResourceHandle) -> Error {
    let (container, name, type_name) = (named(&handle.container), &handle.name, &handle.type_name);
    Error::not_found(format!("Resource {container}/{name}/{type_name} does not exist."))
}

#[cold]
#[track_caller]
fn wrong_type<T: Resource>(handle: &ResourceHandle) -> Error {
    Error::invalid_argument(format!(
        "Trying to access resource {} located in container {} using the wrong type: it is a {}, not a {}",
        handle.name,
        handle.container,
        handle.type_name,
        T::type_name()
    ))
}

#[cfg(test)]
mod tests {
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
}
