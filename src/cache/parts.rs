//! What a key is made of.

use crate::built::BUILD;
use crate::context::Context;
use crate::plan::Registry;

use super::closure::Closure;
use super::compile::{CLOSURE, INPUTS};
use super::facts::{self, Facts};
use super::key::{FORMAT, Key};
use super::{Func, Signature, salt};

/// Everything that is known without building, a field for each part of the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parts {
    format: u32,
    version: String,
    /// Beside the salt, which stands for the build id only.
    features: String,
    headers: String,
    machine: String,
    name: String,
    shapes: String,
    options: String,
    /// Beside the options, since the environment takes part in it.
    streams: String,
    op_cache: bool,
    decompositions: String,
    closure: String,
    registry: String,
    inputs: String,
    /// Those that the user gives.
    given: Vec<(String, String)>,
    facts: Facts,
    salt: String,
}

impl Parts {
    pub(super) fn key(self) -> Key {
        // No `..`, so that a field that is no part of the key is noticed here.
        let Self {
            format,
            version,
            features,
            headers,
            machine,
            name,
            shapes,
            options,
            streams,
            op_cache,
            decompositions,
            closure,
            registry,
            inputs,
            given,
            facts,
            salt,
        } = self;
        let mut key = Key::default();
        key.push("format", format.to_string());
        key.push("crate", version);
        key.push("features", features);
        key.push("headers", headers);
        key.push("machine", machine);
        key.push("name", name);
        key.push("shapes", shapes);
        key.push("options", options);
        key.push("streams of dynamic plans", streams);
        key.push("operator cache", if op_cache { "on" } else { "off" });
        key.push("decompositions", decompositions);
        key.push(CLOSURE, closure);
        key.push("registry", registry);
        key.push(INPUTS, inputs);
        for (name, value) in given {
            key.push(format!("part {name:?}"), value);
        }
        facts.push(&mut key);
        key.push("salt", salt);
        key
    }
}

impl Func {
    /// Everything that is known without building.
    pub(super) fn key(&self, context: &Context, closure: &Closure) -> Result<Key, String> {
        let salt = match &self.cache.0.settings.salt {
            Some(salt) => format!("given: {salt:?}"),
            None => salt::of_code(closure.address)?,
        };
        Ok(self.parts(closure, facts::of(context), salt).key())
    }

    fn parts(&self, closure: &Closure, facts: Facts, salt: String) -> Parts {
        let settings = &self.cache.0.settings;
        let decompositions = settings.decompositions.versions().map(|(name, version)| format!("{name} {version}"));
        let registry = self.registry.as_ref().map(Registry::text).filter(|text| !text.is_empty());
        Parts {
            format: FORMAT,
            version: BUILD.version.to_owned(),
            features: BUILD.features.join(", "),
            headers: BUILD.headers.to_owned(),
            machine: format!("{} {}", std::env::consts::ARCH, std::env::consts::OS),
            name: settings.name.clone(),
            shapes: settings.shapes().to_owned(),
            options: format!("{:?}", settings.options),
            streams: format!("{:?}", settings.options.spread(settings.dynamic)),
            op_cache: settings.op_cache,
            decompositions: decompositions.collect::<Vec<_>>().join(", "),
            closure: closure.identity.clone(),
            registry: registry.unwrap_or_else(|| "nothing".to_owned()),
            inputs: self.inputs.as_ref().map_or_else(|| "not stated".to_owned(), Signature::text),
            given: self.parts.clone(),
            facts,
            salt,
        }
    }
}

#[cfg(test)]
mod tests;
