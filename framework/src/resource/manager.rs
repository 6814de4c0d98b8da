//! The manager: resources by container, type and name.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use super::Resource;
use crate::error::{Error, Result, shortened};
use crate::sort::CompactSort as _;
use crate::tensor::ResourceHandle;

/// The container of resources that name none.
const DEFAULT_CONTAINER: &str = "localhost";

/// Fewer names than these are not looked through.
const MIN_SWEPT: usize = 16;

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
    /// With so many names, those of the dead are removed.
    swept_at: usize,
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

    /// Whether there still is one. Asked with the manager locked, where [`Kept::get`] will not do: what it returns may be the
    /// last owner, whose drop may call the manager.
    fn is_alive(&self) -> bool {
        match self {
            Kept::Owned(_) => true,
            Kept::Unowned(resource) => resource.strong_count() > 0,
        }
    }
}

impl OfType {
    /// The resource that a handle names, if it is one of them.
    fn named(&self, handle: &ResourceHandle) -> Option<&Kept> {
        let suits = handle.type_name.is_empty() || handle.type_name == self.type_name;
        self.by_name.get(&handle.name).filter(|kept| suits && kept.is_alive())
    }

    /// Keeps a resource. What became of others that nobody owns any more is forgotten now and then, so that their names take
    /// no more memory than those of the living.
    fn insert(&mut self, name: &str, resource: Kept) {
        if self.by_name.len() >= self.swept_at {
            self.by_name.retain(|_, kept| kept.is_alive());
            self.swept_at = MIN_SWEPT.max(2 * self.by_name.len());
        }
        self.by_name.insert(name.to_owned(), resource);
    }
}

impl Container {
    fn get<T: Resource>(&self, name: &str) -> Option<Arc<T>> {
        let resource: Arc<dyn Any + Send + Sync> = self.0.get(&TypeId::of::<T>())?.by_name.get(name)?.get()?;
        resource.downcast().ok()
    }

    fn is_empty(&self) -> bool {
        !self.0.values().any(|of_type| of_type.by_name.values().any(Kept::is_alive))
    }

    fn of_type<T: Resource>(&mut self) -> &mut OfType {
        let new = || OfType { type_name: T::type_name(), by_name: HashMap::new(), swept_at: MIN_SWEPT };
        self.0.entry(TypeId::of::<T>()).or_insert_with(new)
    }

    /// The type of the one resource that a handle names, none if there is no such resource.
    ///
    /// # Errors
    /// INVALID_ARGUMENT if resources of several types have the name, and the handle does not say which.
    #[track_caller]
    fn type_of(&self, handle: &ResourceHandle) -> Result<Option<TypeId>> {
        let mut found = self.0.iter().filter(|(_, of_type)| of_type.named(handle).is_some());
        let Some((&id, first)) = found.next() else { return Ok(None) };
        let mut types: Vec<&str> = found.map(|(_, of_type)| of_type.type_name).collect();
        if types.is_empty() {
            return Ok(Some(id));
        }
        types.push(first.type_name);
        types.compact_sort();
        Err(Error::invalid_argument(format!(
            "resources of {} types have the name {}/{}, and the handle names no type: {}. Set its `type_name`",
            types.len(),
            named(&handle.container),
            handle.name,
            types.join(", ")
        )))
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
        if of_type.by_name.get(name).is_some_and(Kept::is_alive) {
            let (container, type_name) = (named(container), T::type_name());
            return Err(Error::already_exists(format!(
                "{} exists already: it is made once; give the second a name of its own (`shared_name`), or delete the first \
                 before",
                called(container, name, type_name)
            )));
        }
        of_type.insert(name, resource);
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
        self.no_such(container, name, T::type_name())
    }

    /// The error for a resource that is not there; the type is empty where any would do.
    #[cold]
    #[track_caller]
    fn no_such(&self, container: &str, name: &str, type_name: &str) -> Error {
        let container = named(container);
        let of_name = |container: &Container| {
            let types = container.0.values().filter(|of_type| of_type.by_name.get(name).is_some_and(Kept::is_alive));
            let mut types: Vec<_> = types.map(|of_type| of_type.type_name).filter(|ty| *ty != type_name).collect();
            types.compact_sort();
            types
        };
        let found = match self.read().get(container).filter(|container| !container.is_empty()).map(of_name) {
            None => "; the container has no resource at all".to_owned(),
            Some(types) if types.is_empty() => String::new(),
            Some(types) => format!("; under this name it has one of type {}", types.join(" and one of type ")),
        };
        Error::not_found(format!(
            "{} does not exist{found}. Run first what makes it, such as the initializer of a variable or the op that makes a table, in \
             this session or one that shares resources with it",
            called(container, name, type_name)
        ))
        .of_missing_resource()
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
        container.of_type::<T>().insert(name, Kept::Owned(resource.clone()));
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
    /// NOT_FOUND if there is none; INVALID_ARGUMENT if the handle names no type, and resources of several have its name.
    #[track_caller]
    pub fn lookup_any(&self, handle: &ResourceHandle) -> Result<Arc<dyn Any + Send + Sync>> {
        if let Some(owned) = &handle.owned {
            return Ok(owned.clone());
        }
        let found = match self.read().get(named(&handle.container)) {
            Some(container) => {
                container.type_of(handle)?.and_then(|id| container.0.get(&id)?.by_name.get(&handle.name)?.get())
            }
            None => None,
        };
        found
            .map(|resource| resource as Arc<dyn Any + Send + Sync>)
            .ok_or_else(|| self.no_such(&handle.container, &handle.name, &handle.type_name))
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
        removed.filter(Kept::is_alive).map(drop).ok_or_else(|| self.missing::<T>(container, name))
    }

    /// Removes the resource that a handle names, whatever its type. A handle that owns its resource is left alone.
    ///
    /// # Errors
    /// NOT_FOUND if there is none; INVALID_ARGUMENT if the handle names no type, and resources of several have its name.
    #[track_caller]
    pub fn delete_handle(&self, handle: &ResourceHandle) -> Result<()> {
        if handle.owned.is_some() {
            return Ok(());
        }
        let mut removed = None;
        if let Some(container) = self.write().get_mut(named(&handle.container)) {
            let of_type = container.type_of(handle)?.and_then(|id| container.0.get_mut(&id));
            removed = of_type.and_then(|of_type| of_type.by_name.remove(&handle.name));
        }
        removed.map(drop).ok_or_else(|| self.no_such(&handle.container, &handle.name, &handle.type_name))
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
        let number = self.unique_number();
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

    /// Each resource: the container, the type, the name and the resource.
    fn all(&self) -> Vec<(String, &'static str, String, Arc<dyn Resource>)> {
        let containers = self.read();
        let mut all = Vec::new();
        for (container, types) in &*containers {
            for of_type in types.0.values() {
                for (name, kept) in &of_type.by_name {
                    all.extend(kept.get().map(|found| (container.clone(), of_type.type_name, name.clone(), found)));
                }
            }
        }
        all
    }

    /// What a function makes of each resource: it is given the container, the type, the name and the resource. The manager
    /// is not locked meanwhile, nor when the resources go of which these are the last owners: either may call it.
    fn each<T>(&self, mut make: impl FnMut(&str, &str, &str, &dyn Resource) -> T) -> Vec<T> {
        let all = self.all();
        all.iter().map(|(container, type_name, name, resource)| make(container, type_name, name, &**resource)).collect()
    }

    /// All resources: container, name and a line of description, sorted.
    pub fn list(&self) -> Vec<(String, String, String)> {
        let mut list =
            self.each(|container, _, name, resource| (container.to_owned(), name.to_owned(), resource.debug_string()));
        list.compact_sort();
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
        lines.compact_sort();
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

/// A resource as messages call it.
fn called(container: &str, name: &str, type_name: &str) -> String {
    let of_type = if type_name.is_empty() { String::new() } else { format!(" of type {type_name}") };
    format!("resource `{}`{of_type} in container `{}`", shortened(name), shortened(named(container)))
}

#[cold]
#[track_caller]
fn wrong_type<T: Resource>(handle: &ResourceHandle) -> Error {
    Error::invalid_argument(format!(
        "{} is given where a {} is expected: the handle comes from an op that makes another kind of resource",
        called(&handle.container, &handle.name, &handle.type_name),
        T::type_name()
    ))
}

#[cfg(test)]
mod tests;
