//! What this process has compiled: one trace for each function and key.

use std::collections::{HashMap, HashSet};

use super::compile::{CLOSURE, INPUTS};
use super::key::{Hash, Key};
use super::{Signature, Status};
use crate::lock::{Guard, Lock};

/// The parts of the key in which compilations of one trace may differ.
const LEFT_OUT: [&str; 2] = [INPUTS, CLOSURE];

/// What is known of the functions of a cache.
#[derive(Debug, Default)]
pub(super) struct Traces(Lock<HashMap<String, State>>);

#[derive(Debug, Default)]
struct State {
    status: Option<Status>,
    /// By everything of the key but the inputs and the closure.
    traces: HashMap<Hash, Trace>,
    said: HashSet<String>,
}

#[derive(Debug)]
struct Trace {
    /// Until something was seen: of the compilation that began last. Others may be under way.
    key: Key,
    seen: Option<Seen>,
    abandoned: Option<String>,
}

/// A plan that was compiled.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    inputs: Signature,
    pub(super) hash: Hash,
}

/// How a compilation stands to those before it.
#[derive(Debug)]
pub(super) enum Traced {
    /// The entry with this key. When a plan was seen before, and nobody states the inputs, the closure is another or
    /// captures what nobody tells, only building tells whether this is the same.
    Use {
        key: Key,
        again: Option<Seen>,
    },
    /// The second trace of the function whose entry has this key.
    Second(Key, String),
    Abandoned(String),
}

impl Traces {
    fn lock(&self) -> Guard<'_, HashMap<String, State>> {
        self.0.lock()
    }

    /// `is_covered`: whether the key covers what the closure captures.
    pub(super) fn look(&self, function: &str, key: &Key, inputs: Option<&Signature>, is_covered: bool) -> Traced {
        let mut states = self.lock();
        let traces = &mut states.entry(function.to_owned()).or_default().traces;
        let identity = key.hash_without(&LEFT_OUT);
        let fresh = || Trace { key: key.clone(), seen: None, abandoned: None };
        let trace = traces.entry(identity).or_insert_with(fresh);
        if let Some(why) = &trace.abandoned {
            return Traced::Abandoned(why.clone());
        }
        let Some(seen) = &trace.seen else {
            *trace = fresh();
            return Traced::Use { key: key.clone(), again: None };
        };
        let Some(inputs) = inputs else {
            return Traced::Use { key: trace.key.clone(), again: Some(seen.clone()) };
        };
        let again = |is_sure: bool| (!is_sure).then(|| seen.clone());
        if trace.key == *key {
            return Traced::Use { key: key.clone(), again: again(is_covered) };
        }
        match inputs.fits(&seen.inputs) {
            Ok(()) => {
                let is_same = trace.key.part(CLOSURE) == key.part(CLOSURE);
                Traced::Use { key: trace.key.clone(), again: again(is_covered && is_same) }
            }
            Err(text) => {
                let why = format!("function {function:?} has a second trace: {text} of the first");
                trace.abandoned = Some(why.clone());
                Traced::Second(trace.key.clone(), why)
            }
        }
    }

    /// What this process has compiled for a key since `look`, by another compilation.
    pub(super) fn seen(&self, function: &str, key: &Key) -> Option<Seen> {
        self.with(function, key, |trace| trace.seen.clone()).flatten()
    }

    /// That a plan was compiled for a key, unless another compilation of the function has taken the trace meanwhile.
    pub(super) fn remember(&self, function: &str, key: &Key, inputs: Signature, hash: Hash) -> Result<(), String> {
        let done = self.with(function, key, |trace| match &trace.abandoned {
            Some(why) => Err(why.clone()),
            None => {
                trace.seen = Some(Seen { inputs, hash });
                Ok(())
            }
        });
        let other =
            || format!("function {function:?} was compiled for other inputs at the same time, or by another closure");
        done.unwrap_or_else(|| Err(other()))
    }

    pub(super) fn abandon(&self, function: &str, key: &Key, why: &str) {
        let _ = self.with(function, key, |trace| trace.abandoned = Some(why.to_owned()));
    }

    /// Takes an abandonment back: the caller gets an error instead.
    pub(super) fn keep(&self, function: &str, key: &Key) {
        let _ = self.with(function, key, |trace| trace.abandoned = None);
    }

    /// `None` when the trace is of another key.
    fn with<T>(&self, function: &str, key: &Key, change: impl FnOnce(&mut Trace) -> T) -> Option<T> {
        let mut states = self.lock();
        let trace = states.get_mut(function)?.traces.get_mut(&key.hash_without(&LEFT_OUT))?;
        (trace.key == *key).then(|| change(trace))
    }

    pub(super) fn set_status(&self, function: &str, status: Status) {
        self.lock().entry(function.to_owned()).or_default().status = Some(status);
    }

    pub(super) fn status(&self, function: &str) -> Option<Status> {
        self.lock().get(function).and_then(|state| state.status.clone())
    }

    /// Whether this was not said of the function before.
    pub(super) fn is_new(&self, function: &str, text: &str) -> bool {
        self.lock().entry(function.to_owned()).or_default().said.insert(text.to_owned())
    }
}
