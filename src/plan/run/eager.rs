//! Running operator by operator on real streams.

use std::sync::Arc;

use crate::context::Context;
use crate::error::Result;
use crate::event::Event;
use crate::plan::recipe::Recipe;
use crate::stream::Stream;

use super::delivery::{Delivery, Ring};
use super::host::AHEAD;
use super::issue::{HostSides, events, lease_streams};
use super::outcome::Outcome;

/// Sizes of a dynamic plan for which host memory is kept.
const SIZES: usize = 64;

/// Streams, events and host memory of eager runs, kept from one to the next.
#[derive(Default)]
pub(super) struct Eager {
    /// Those of the tags; the first is that of the run, and between runs a placeholder.
    streams: Vec<Stream>,
    events: Vec<Event>,
    /// By values of the symbols, for each of them up to [`AHEAD`] times; that of the latest run in front. With its run, as
    /// [`Outside`](super::outside::Outside) counts them.
    hosts: Vec<(Vec<usize>, u64, HostSides)>,
    /// By values of the symbols, for host outputs that each run brings to memory of its own; the newest in front.
    rings: Vec<(Vec<usize>, Arc<Ring>)>,
    /// The end of the latest run; none when it waits at no gate to the outside.
    pub(super) end: Option<Arc<Event>>,
}

impl Eager {
    /// Whether [`Eager::prepare`] has nothing to make.
    pub(super) fn is_prepared(&self) -> bool {
        !self.streams.is_empty()
    }

    /// Streams for a run on `origin`, and the events.
    pub(super) fn prepare(&mut self, recipe: &Recipe, context: &Context, origin: &Stream) -> Result<()> {
        if self.streams.is_empty() {
            // Both or none.
            let made = events(recipe, context.inner())?;
            self.streams = lease_streams(recipe, context, origin.clone())?;
            self.events = made;
        }
        self.streams[0] = origin.clone();
        Ok(())
    }

    /// Streams, events and host memory of a run.
    pub(super) fn parts(&mut self, symbols: &[usize], run: u64) -> (&[Stream], &[Event], Option<&mut HostSides>) {
        let found = self.hosts.iter_mut().find(|(known, ..)| known == symbols);
        let hosts = found.map(|(_, of, hosts)| {
            *of = run;
            hosts
        });
        (&self.streams, &self.events, hosts)
    }

    pub(super) fn hosts(&mut self, symbols: &[usize]) -> Option<&mut HostSides> {
        self.hosts.iter_mut().find(|(known, ..)| known == symbols).map(|(.., hosts)| hosts)
    }

    pub(super) fn add_hosts(&mut self, symbols: &[usize], hosts: HostSides) {
        self.hosts.truncate(SIZES - 1);
        self.hosts.insert(0, (symbols.to_vec(), 0, hosts));
    }

    /// The run that the next one with these symbols would wait for; with whether uploads and downloads are behind gates of
    /// their run.
    pub(super) fn awaited(
        &self,
        symbols: &[usize],
        latest: Option<&Delivery>,
        (uploads, downloads): (bool, bool),
    ) -> Result<Option<u64>> {
        let mut known = self.hosts.iter().filter(|(known, ..)| known == symbols);
        let (count, oldest) = (known.clone().count(), known.next_back());
        let hosts = match oldest {
            Some((_, run, hosts)) if count >= AHEAD && !hosts.is_free()? => {
                let own = uploads || downloads && hosts.are_outputs_lent();
                Some(of_run(*run, own))
            }
            _ => None,
        };
        let ring = self.rings.iter().find(|(known, _)| known == symbols);
        let ring = ring.map_or(Ok(None), |(_, ring)| ring.awaited(latest))?;
        Ok(hosts.max(ring.map(|run| of_run(run, downloads))))
    }

    /// Memory for host outputs of runs with these symbols.
    pub(super) fn ring(&mut self, symbols: &[usize], make: impl FnOnce() -> Arc<Ring>) -> &Arc<Ring> {
        let known = self.rings.iter().position(|(known, _)| known == symbols);
        let index = known.unwrap_or_else(|| {
            self.rings.truncate(SIZES - 1);
            self.rings.insert(0, (symbols.to_vec(), make()));
            0
        });
        &self.rings[index].1
    }

    /// Puts memory in front whose copies are done, or the oldest when there is enough; true when there has to be more.
    pub(super) fn needs_hosts(&mut self, symbols: &[usize]) -> Result<bool> {
        let of_these = |known: &(Vec<usize>, u64, HostSides)| known.0 == symbols;
        let count = self.hosts.iter().filter(|known| of_these(known)).count();
        let Some(oldest) = self.hosts.iter().rposition(of_these) else { return Ok(true) };
        let reuses = count >= AHEAD || self.hosts[oldest].2.is_free()?;
        if reuses {
            self.hosts[..=oldest].rotate_right(1);
        }
        Ok(!reuses)
    }

    /// Waits for the streams beside that of the run, and reports their errors.
    pub(super) fn wait_sides(&self) -> Result<()> {
        self.sides().iter().try_for_each(|side| side.0.wait_for(side.0.progress().submitted(), None))
    }

    /// Where the run before is known to have failed: what the library has to say of that is no news of the next one.
    pub(super) fn take_told(&self, stream: &Stream, before: &Outcome) {
        if !self.sides().is_empty() && before.has_failed() {
            self.sides().iter().for_each(|side| side.0.take_told());
            stream.0.set_told_aside();
        }
    }

    /// The streams beside that of the run.
    pub(super) fn sides(&self) -> &[Stream] {
        self.streams.get(1..).unwrap_or_default()
    }

    /// Whether no copy uses host memory, as far as can be told.
    pub(super) fn is_quiet(&self) -> bool {
        self.hosts.iter().all(|(.., hosts)| hosts.is_quiet())
    }

    /// Lets go of the stream of the run, which is the caller's.
    pub(super) fn leave(&mut self, placeholder: &Stream) {
        self.streams[0] = placeholder.clone();
    }
}

/// What a copy of a run waits for: that run, where a gate is in front of it, else the one before.
fn of_run(run: u64, behind: bool) -> u64 {
    if behind { run } else { run.saturating_sub(1) }
}
