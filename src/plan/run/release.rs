//! Ending what waits at gates for signals that nobody will give.

use crate::error::Result;
use crate::event::Event;

use super::executable::Executable;
use super::outside::Opened;

impl Executable {
    /// A way out of runs that wait at external gates for signals that will not come: gives signals that were given
    /// time to arrive, as long as [`RunOptions::signal_limit`](super::RunOptions::signal_limit), then opens the gates
    /// until every run so far is over, and those at which [`wait_signal`](Executable::wait_signal) has more waits
    /// than signals. Blocks until then. Gives the names of the gates that it opened; what follows them ran without
    /// what it waits for.
    ///
    /// # Errors
    ///
    /// The first error of the runs.
    ///
    /// # Examples
    ///
    /// ```
    /// use racl::op::DataType::F32;
    /// use racl::plan::{Frozen, Input, Plan};
    ///
    /// let plan = Plan::build(|g| {
    ///     let x = g.input("x", [4], F32, Input::Static)?;
    ///     let ready = g.external("ready")?;
    ///     g.wait_external(ready)?;
    ///     let y = g.abs(x)?;
    ///     g.output("y", y)
    /// })?;
    /// let device = racl::Acl::mock()?.device(0)?;
    /// let stream = device.stream()?;
    /// let mut exe = plan.capture(&device, Frozen::new())?;
    /// exe.run(&stream, &mut exe.bindings())?;
    /// assert_eq!(exe.release_gates()?, ["ready"]); // nobody signals it
    /// stream.synchronize()?;
    /// assert!(exe.release_gates()?.is_empty());
    /// # Ok::<(), racl::Error>(())
    /// ```
    pub fn release_gates(&mut self) -> Result<Vec<String>> {
        let opened = self.release(true);
        let ends = self.store.all().iter().map(|captured| &captured.end).chain([&self.eager.end]);
        ends.flatten().try_for_each(Event::synchronize)?;
        Ok(opened.into_iter().map(|opened| opened.name).collect())
    }

    /// An event for the ends of runs that wait at gates.
    pub(super) fn end(&self) -> Result<Option<Event>> {
        self.outside.as_ref().map_or(Ok(None), |outside| outside.end(self.context.inner()))
    }

    /// Lets graphs come to their end, before they are dropped.
    pub(super) fn settle_graphs(&self, graphs: impl IntoIterator<Item = usize>) {
        let Some(outside) = &self.outside else { return };
        let ends: Vec<_> = graphs.into_iter().filter_map(|index| self.store.peek(index)?.end.as_ref()).collect();
        let opened = outside.release(&ends, &self.origin, true);
        opened.iter().for_each(|opened| opened.report(self.context.inner()));
    }

    fn release(&self, forever: bool) -> Vec<Opened> {
        let Some(outside) = &self.outside else { return Vec::new() };
        let graphs = self.store.all().iter().filter_map(|captured| captured.end.as_ref());
        let ends: Vec<_> = graphs.chain(&self.eager.end).collect();
        let mut opened = outside.release(&ends, &self.origin, forever);
        opened.extend(outside.release_others(&self.origin));
        opened
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        let Some(outside) = &self.outside else { return };
        // Streams of its own are waited for, as are graphs. Others belong to the user: only what is left over is
        // ended.
        let waits = self.store.len() > 0 || !self.eager.sides().is_empty();
        if waits || outside.is_short() {
            self.release(waits).iter().for_each(|opened| opened.report(self.context.inner()));
        }
    }
}
