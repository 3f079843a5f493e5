//! A compilation: from the entry on disk if there is one, else built and stored.

use std::time::{Duration, Instant};

use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::lock::say;
use crate::plan::{Builder, Code, NotLoaded, Plan, Registry};

use super::closure::Closure;
use super::entry::{self, Figures};
use super::key::{Hash, Key, hex};
use super::settings::is_rank_folder;
use super::store::{Found, Locked, Place};
use super::traces::{Seen, Traced};
use super::{Func, Signature, Status, settings};
use crate::text::{printable, shown};

/// The part of the key that holds the inputs.
pub(super) const INPUTS: &str = "inputs";
/// The part of the key that holds the closure.
pub(super) const CLOSURE: &str = "closure";

/// Builds the plan when it is called.
pub(super) type Work<'a> = dyn FnMut(&Builder) -> Result<()> + 'a;

/// A plan that was just built, and how long that took.
struct Fresh {
    plan: Plan,
    took: Duration,
}

impl Func {
    /// The plan, and what the compilation was; nothing where it was refused before there was one.
    pub(super) fn run(
        &self,
        context: &Context,
        closure: &Closure,
        work: &mut Work<'_>,
    ) -> (Result<Plan>, Option<Status>) {
        if let Err(error) = self.check_names() {
            return (Err(error), None);
        }
        self.warn_of_captures(closure);
        let (plan, status) = match self.decide(context, closure, work) {
            Ok((plan, status)) => (Ok(plan), status),
            Err(error) => {
                let status = Status::Failed(error.to_string());
                (Err(error), status)
            }
        };
        self.cache.0.traces.set_status(&self.name, status.clone());
        (self.check_strict(&status).and(plan), Some(status))
    }

    fn check_names(&self) -> Result<()> {
        settings::check_name("function", &self.name)?;
        if is_rank_folder(&self.name) {
            return Err(Error::invalid(format!("function {:?}: folders of ranks have such names", self.name)));
        }
        self.check_parts()
    }

    fn check_parts(&self) -> Result<()> {
        let names = || self.parts.iter().map(|(name, _)| name);
        match names().enumerate().find(|(index, name)| names().take(*index).any(|before| before == *name)) {
            Some((_, name)) => Err(Error::invalid(format!("function {:?}: part {name:?} is given twice", self.name))),
            None => Ok(()),
        }
    }

    fn check_strict(&self, status: &Status) -> Result<()> {
        match status {
            Status::Uncached(why) if self.cache.0.settings.strict => {
                Err(Error::new(ErrorKind::File, format!("function {:?} is not cached: {why}", self.name)))
            }
            _ => Ok(()),
        }
    }

    fn decide(&self, context: &Context, closure: &Closure, work: &mut Work<'_>) -> Result<(Plan, Status)> {
        let nothing = Registry::new();
        let registry = self.registry.as_ref().unwrap_or(&nothing);
        registry.check()?;
        if let Some(inputs) = &self.inputs {
            self.check_static(inputs.symbols().next())?;
        }
        if let Some(why) = &self.unstored {
            return self.uncached(why.clone(), work);
        }
        let key = match self.key(context, closure) {
            Ok(key) => key,
            Err(why) => return self.uncached(format!("the code has no identity: {why}; salt() gives one"), work),
        };
        let covered = self.knows_captures(closure);
        let (key, again) = match self.cache.0.traces.look(&self.name, &key, self.inputs.as_ref(), covered) {
            Traced::Abandoned(why) => return Ok((self.build(work)?.plan, Status::Abandoned(why))),
            Traced::Second(first, why) => {
                self.abandon(&first, &why)?;
                return Ok((self.build(work)?.plan, Status::Abandoned(why)));
            }
            Traced::Use { key, again } => (key, again),
        };
        let place = self.place(&key);
        let start = Instant::now();
        match self.load(&place, &key, registry) {
            Found::Plan(plan, hash) => match again.or_else(|| self.seen_since(&key, covered)) {
                None if !self.cache.0.settings.verify => Ok(self.hit((plan, hash), &place, &key, start, "")),
                again => self.verified((plan, hash), &place, &key, registry, again, work),
            },
            Found::Refused(why) => self.uncached(why, work),
            Found::Absent | Found::Broken(_) | Found::Unbound(_) => {
                self.make(&place, &key, registry, (again, covered), work)
            }
        }
    }

    fn place(&self, key: &Key) -> Place {
        let settings = &self.cache.0.settings;
        let folder = format!("{}_{}_{}", settings.name, settings.shapes(), hex(&key.hash()[..16]));
        let levels = std::iter::once(folder).chain(settings.rank_folder()).chain([self.name.clone()]);
        Place { root: settings.root.clone(), levels: levels.collect() }
    }

    /// What is on disk. A plan with other inputs than those asked for is none of ours.
    fn load(&self, place: &Place, key: &Key, registry: &Registry) -> Found {
        let hash = key.hash();
        match place.load(|stored| *stored == hash, Code::Registered(registry)) {
            Found::Plan(plan, hash) => match self.check(&plan) {
                Ok(()) => Found::Plan(plan, hash),
                Err(error) => Found::Broken(error.to_string()),
            },
            other => other,
        }
    }

    fn check_static(&self, symbol: Option<&str>) -> Result<()> {
        match symbol {
            Some(name) if !self.cache.0.settings.dynamic => Err(Error::invalid(format!(
                "the cache is for static shapes, and function {:?} has the symbol {name:?}",
                self.name
            ))),
            _ => Ok(()),
        }
    }

    /// That a plan is what was asked for.
    fn check(&self, plan: &Plan) -> Result<()> {
        self.check_static(plan.recipe().symbols.first().map(|symbol| symbol.name.as_str()))?;
        let fits = self.inputs.as_ref().map_or(Ok(()), |inputs| inputs.fits(&Signature::of(plan)));
        fits.map_err(|text| Error::invalid(format!("function {:?}: {text}", self.name)))
    }

    fn build(&self, work: &mut Work<'_>) -> Result<Fresh> {
        let (settings, start) = (&self.cache.0.settings, Instant::now());
        let plan = Plan::build_decomposed(settings.options, &settings.decompositions, |g| work(g))?;
        self.check(&plan)?;
        Ok(Fresh { plan, took: start.elapsed() })
    }

    /// `how` says in the log what else was done than loading.
    fn hit(&self, (plan, hash): (Plan, Hash), place: &Place, key: &Key, start: Instant, how: &str) -> (Plan, Status) {
        let (path, took) = (place.path(), start.elapsed());
        say!(
            Info,
            "compile cache: hit for {:?}: {} operators from {} in {took:.1?}{how}",
            self.name,
            plan.operators(),
            shown(&path)
        );
        if let Err(why) = self.remember(key, &plan, hash) {
            return self.given_up(plan, why);
        }
        (plan, Status::Hit)
    }

    fn remember(&self, key: &Key, plan: &Plan, hash: Hash) -> Result<(), String> {
        self.cache.0.traces.remember(&self.name, key, Signature::of(plan), hash)
    }

    /// What another thread has compiled since this compilation began, when only building tells whether it is the
    /// same.
    fn seen_since(&self, key: &Key, covered: bool) -> Option<Seen> {
        let is_sure = covered && self.inputs.is_some();
        (!is_sure).then(|| self.cache.0.traces.seen(&self.name, key)).flatten()
    }

    /// Builds all the same and compares.
    fn verified(
        &self,
        stored: (Plan, Hash),
        place: &Place,
        key: &Key,
        registry: &Registry,
        again: Option<Seen>,
        work: &mut Work<'_>,
    ) -> Result<(Plan, Status)> {
        let start = Instant::now();
        let fresh = self.build(work)?;
        let Some(difference) = stored.0.difference(&fresh.plan) else {
            return Ok(self.hit(stored, place, key, start, " (built again to compare)"));
        };
        if again.is_some() {
            return self.second_plan(key, &difference, fresh);
        }
        let why = format!("what is built now is another plan: {difference}");
        say!(Warn, "compile cache: {}: {why}", shown(&place.path()));
        match self.locked(place) {
            // First of all it goes: a write that fails must not leave the wrong plan.
            Ok(locked) => match locked.clear() {
                Ok(()) => Ok(self.stored(fresh, &locked, (place, key, registry), Status::Rebuilt(why))),
                Err(cannot) => Ok(self.given_up(fresh.plan, cannot)),
            },
            Err(cannot) => Ok(self.given_up(fresh.plan, cannot)),
        }
    }

    /// The closure gives another plan than before, because of something that nobody stated.
    fn second_plan(&self, key: &Key, difference: &str, fresh: Fresh) -> Result<(Plan, Status)> {
        let why = format!(
            "function {:?} gives a second plan: {difference}; inputs() and part() tell plans of one function apart",
            self.name
        );
        self.cache.0.traces.abandon(&self.name, key, &why);
        self.abandon(key, &why)?;
        Ok((fresh.plan, Status::Abandoned(why)))
    }

    /// Takes an entry away because its function has a second trace.
    fn abandon(&self, key: &Key, why: &str) -> Result<()> {
        let settings = &self.cache.0.settings;
        if settings.strict {
            self.cache.0.traces.keep(&self.name, key);
            return Err(Error::invalid(why));
        }
        let place = self.place(key);
        say!(Warn, "compile cache: {why}; {} is abandoned", shown(&place.path()));
        if let Err(why) = place.remove(settings.lock_timeout) {
            say!(Warn, "compile cache: the abandoned entry stays: {why}");
        }
        Ok(())
    }

    fn locked(&self, place: &Place) -> Result<Locked, String> {
        let timeout = self.cache.0.settings.lock_timeout;
        place.check()?;
        match place.lock(timeout) {
            Ok(Some(locked)) => Ok(locked),
            Ok(None) => Err(format!("another process has built for more than {timeout:?}: {}", shown(&place.path()))),
            Err(super::folder::Trouble::Absent) => Err(format!("{} vanished", shown(&place.path()))),
            Err(super::folder::Trouble::Refused(why)) => Err(why),
        }
    }

    /// Builds and stores, unless another process has done so by the time that it is our turn.
    fn make(
        &self,
        place: &Place,
        key: &Key,
        registry: &Registry,
        (again, covered): (Option<Seen>, bool),
        work: &mut Work<'_>,
    ) -> Result<(Plan, Status)> {
        let start = Instant::now();
        let locked = match self.locked(place) {
            Ok(locked) => locked,
            Err(why) => return self.uncached(why, work),
        };
        let again = again.or_else(|| self.seen_since(key, covered));
        let found = self.load(place, key, registry);
        if let (Some(why), false) = (&locked.word, matches!(found, Found::Plan(..))) {
            let why = format!("another compilation was waited for, and its plan was not stored: {why}");
            // The others need not wait for this one.
            drop(locked);
            return self.uncached(why, work);
        }
        let status = match found {
            Found::Plan(plan, hash) if again.is_none() => {
                drop(locked);
                return match self.cache.0.settings.verify {
                    false => Ok(self.hit((plan, hash), place, key, start, "")),
                    true => self.verified((plan, hash), place, key, registry, None, work),
                };
            }
            Found::Plan(..) | Found::Absent => {
                self.say_miss(place, key);
                Status::Miss
            }
            Found::Unbound(why) => {
                say!(Warn, "compile cache: miss for {:?}: {why}", self.name);
                Status::Rebuilt(why)
            }
            Found::Refused(why) => return self.uncached(why, work),
            Found::Broken(why) => {
                say!(Warn, "compile cache: clearing broken cache {}: {why}", shown(&place.path()));
                if let Err(why) = locked.clear() {
                    locked.leave_word(&why);
                    drop(locked);
                    return self.uncached(why, work);
                }
                Status::Rebuilt(why)
            }
        };
        let fresh = self.build(work)?;
        super::step("entry", "built");
        if let Some(first) = again
            && first.hash != fresh.plan.recipe_hash()
        {
            drop(locked);
            return self.second_plan(key, "another than the first", fresh);
        }
        Ok(self.stored(fresh, &locked, (place, key, registry), status))
    }

    fn say_miss(&self, place: &Place, key: &Key) {
        say!(Info, "compile cache: miss for {:?}: building for {}", self.name, shown(&place.path()));
        if let Some((path, differences)) = place.nearest(&self.cache.0.settings.name, key) {
            for (part, here, there) in differences {
                let text = printable(&format!("{part}: {here} here, {there} there"));
                say!(Info, "compile cache: {} differs in {text}", shown(&path));
            }
        }
    }

    fn stored(
        &self,
        fresh: Fresh,
        locked: &Locked,
        (place, key, registry): (&Place, &Key, &Registry),
        status: Status,
    ) -> (Plan, Status) {
        let Fresh { plan, took } = fresh;
        let start = Instant::now();
        let (bytes, hash) = match storable(&plan, registry) {
            Ok((encoded, hash)) => (entry::join(&key.hash(), &hash, &encoded), hash),
            Err(why) => {
                drop(locked.clear());
                locked.leave_word(&why);
                return self.given_up(plan, why);
            }
        };
        if let Err(why) = self.remember(key, &plan, hash) {
            return self.given_up(plan, why);
        }
        let figures =
            Figures { operators: plan.operators(), streams: plan.streams(), bytes: bytes.len(), build: took };
        let meta = entry::meta(&self.cache.0.settings.name, &self.name, key, &hash, figures);
        if let Err(why) = locked.save(&meta, &bytes) {
            locked.leave_word(&why);
            return self.given_up(plan, why);
        }
        say!(
            Info,
            "compile cache: {:?} built in {took:.1?}, {} bytes stored in {:.1?} in {}",
            self.name,
            bytes.len(),
            start.elapsed(),
            shown(&place.path())
        );
        match self.read_back(&plan, place, key, registry) {
            Ok(()) => (plan, status),
            Err(why) => {
                let why = locked.clear().err().map_or_else(|| why.clone(), |stays| format!("{why}; {stays}"));
                locked.leave_word(&why);
                self.given_up(plan, why)
            }
        }
    }

    /// In verify mode: that what is on disk gives the plan again.
    fn read_back(&self, plan: &Plan, place: &Place, key: &Key, registry: &Registry) -> Result<(), String> {
        if !self.cache.0.settings.verify {
            return Ok(());
        }
        let wrong = |why: &str| Err(format!("what was stored does not give the plan again: {why}"));
        match self.load(place, key, registry) {
            Found::Plan(again, _) => plan.difference(&again).map_or(Ok(()), |difference| wrong(&difference)),
            // Code may be registered at other starts.
            Found::Unbound(_) => Ok(()),
            Found::Absent => wrong("it is not there"),
            Found::Broken(why) | Found::Refused(why) => wrong(&why),
        }
    }

    fn uncached(&self, why: String, work: &mut Work<'_>) -> Result<(Plan, Status)> {
        let fresh = self.build(work)?;
        Ok(self.given_up(fresh.plan, why))
    }

    fn given_up(&self, plan: Plan, why: String) -> (Plan, Status) {
        if self.cache.0.traces.is_new(&self.name, &why) {
            say!(Warn, "compile cache: {:?} is not cached: {why}", self.name);
        }
        (plan, Status::Uncached(why))
    }
}

/// The bytes of a plan with its hash, or why no start could load them: they would be broken at each of them.
fn storable(plan: &Plan, registry: &Registry) -> Result<(Vec<u8>, Hash), String> {
    if let Some(why) = plan.unnamed() {
        return Err(why);
    }
    plan.check_registered(registry)?;
    let bytes = plan.to_bytes();
    if bytes.len() as u64 >= entry::MOST_PLAN {
        return Err(format!("its {} bytes are too many", bytes.len()));
    }
    match Plan::from_bytes(&bytes, Code::None) {
        Ok((_, hash)) => Ok((bytes, hash)),
        Err(NotLoaded::Broken(why) | NotLoaded::Unbound(why)) => {
            Err(format!("the plan cannot be loaded again: {why}"))
        }
    }
}

/// The error of a closure that is asked twice, which does not happen.
pub(super) fn asked_twice() -> Error {
    Error::new(ErrorKind::Internal, "a plan was built twice")
}

#[cfg(test)]
mod tests;
