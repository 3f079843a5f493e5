//! Running operator by operator on real streams.

use crate::context::Context;
use crate::error::Result;
use crate::event::Event;
use crate::plan::recipe::Recipe;
use crate::stream::Stream;

use super::issue::{HostSides, events, lease_streams};

/// Streams, events and host memory of eager runs, kept from one to the next.
#[derive(Default)]
pub(super) struct Eager {
    /// Those of the tags but the origin's, which is the caller's; none before the first run.
    sides: Option<(Vec<Stream>, Vec<Event>)>,
    /// By values of the symbols.
    hosts: Vec<(Vec<usize>, HostSides)>,
}

impl Eager {
    /// The streams of a run on `origin`, by tag.
    pub(super) fn streams(&mut self, recipe: &Recipe, context: &Context, origin: &Stream) -> Result<Vec<Stream>> {
        let (sides, _) = match self.sides.take() {
            Some(known) => self.sides.insert(known),
            None => {
                let streams = lease_streams(recipe, context, origin.clone())?;
                self.sides.insert((streams[1..].to_vec(), events(recipe, context.inner())?))
            }
        };
        Ok(std::iter::once(origin).chain(&*sides).cloned().collect())
    }

    /// The events, and the host memory for these symbols.
    pub(super) fn parts(&mut self, symbols: &[usize]) -> (&[Event], Option<&mut HostSides>) {
        let hosts = self.hosts.iter_mut().find(|(known, _)| known == symbols).map(|(_, hosts)| hosts);
        (self.sides.as_ref().map_or(&[], |(_, events)| events), hosts)
    }

    pub(super) fn hosts(&mut self, symbols: &[usize]) -> Option<&mut HostSides> {
        self.parts(symbols).1
    }

    pub(super) fn add_hosts(&mut self, symbols: &[usize], hosts: HostSides) {
        self.hosts.push((symbols.to_vec(), hosts));
    }
}
