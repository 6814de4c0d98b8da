//! The manager: resources by container, type and name.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::Resource;
use crate::error::{Error, Result};
use crate::tensor::ResourceHandle;

/// The container of resources that name none.
const DEFAULT_CONTAINER: &str = "localhost";

/// Keeps resources by container, type and name. A lookup shares the resource: it lives as long as anything holds it.
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
    by_name: HashMap<String, Arc<dyn Resource>>,
}

impl Container {
    fn get<T: Resource>(&self, name: &str) -> Option<Arc<T>> {
        let resource: Arc<dyn Any + Send + Sync> = self.0.get(&TypeId::of::<T>())?.by_name.get(name)?.clone();
        resource.downcast().ok()
    }

    fn of_type<T: Resource>(&mut self) -> &mut HashMap<String, Arc<dyn Resource>> {
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
        let mut containers = self.write();
        let of_type = containers.entry(named(container).to_owned()).or_default().of_type::<T>();
        match of_type.entry(name.to_owned()) {
            Entry::Occupied(_) => Err(Error::already_exists(format!(
                "Resource {}/{name}/{} exists already",
                named(container),
                T::type_name()
            ))),
            Entry::Vacant(entry) => {
                entry.insert(resource);
                Ok(())
            }
        }
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
        container.of_type::<T>().insert(name.to_owned(), resource.clone());
        Ok(resource)
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
        if !handle.type_name.is_empty() && handle.type_name != T::type_name() {
            return Err(wrong_type::<T>(handle));
        }
        self.lookup(&handle.container, &handle.name)
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
        if !handle.type_name.is_empty() && handle.type_name != T::type_name() {
            return Err(wrong_type::<T>(handle));
        }
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
        let container = named(&handle.container);
        let mut removed = None;
        if let Some(container) = self.write().get_mut(container) {
            let suits = |of_type: &&mut OfType| {
                of_type.by_name.contains_key(&handle.name)
                    && (handle.type_name.is_empty() || handle.type_name == of_type.type_name)
            };
            let of_type = container.0.values_mut().find(suits);
            removed = of_type.and_then(|of_type| of_type.by_name.remove(&handle.name));
        }
        removed.map(drop).ok_or_else(|| {
            let (name, type_name) = (&handle.name, &handle.type_name);
            Error::not_found(format!("Resource {container}/{name}/{type_name} does not exist."))
        })
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

    /// A handle for a resource of type `T`.
    pub fn make_handle<T: Resource>(&self, device: &str, container: &str, name: &str) -> ResourceHandle {
        ResourceHandle {
            device: device.to_owned(),
            container: named(container).to_owned(),
            name: name.to_owned(),
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

    /// All resources: container, name and a line of description, sorted.
    pub fn list(&self) -> Vec<(String, String, String)> {
        let containers = self.read();
        let mut list: Vec<_> = containers
            .iter()
            .flat_map(|(container, types)| {
                types.0.values().flat_map(|t| &t.by_name).map(move |(name, r)| (container, name, r))
            })
            .map(|(container, name, resource)| (container.clone(), name.clone(), resource.debug_string()))
            .collect();
        list.sort();
        list
    }

    /// The bytes that all resources hold together.
    pub fn memory_used(&self) -> usize {
        let containers = self.read();
        containers
            .values()
            .flat_map(|types| types.0.values().flat_map(|t| t.by_name.values()))
            .map(|r| r.memory_used())
            .sum()
    }
}

fn named(container: &str) -> &str {
    if container.is_empty() { DEFAULT_CONTAINER } else { container }
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
