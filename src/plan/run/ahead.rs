//! Graphs captured before the first run that needs them.

use std::panic::Location;

use crate::error::Result;

use super::bindings::Bindings;
use super::budget;
use super::executable::Executable;
use super::options::Mode;

impl Executable {
    /// Captures the graph that a run with these bindings would need, without running it. Nothing when it is there, or
    /// in eager mode.
    ///
    /// # Errors
    ///
    /// Those of [`Executable::run`] before anything is launched.
    #[track_caller]
    pub fn capture(&mut self, bind: &mut Bindings) -> Result<()> {
        let at = Location::caller();
        self.check_bindings(bind)?;
        self.find(bind, at).map(drop)
    }

    /// How many more graphs can be captured: up to the limit of
    /// [`RunOptions::graph_limit`](super::RunOptions::graph_limit), and with the streams that the device has left,
    /// where it tells. None in eager mode.
    ///
    /// # Errors
    ///
    /// Those of asking the device.
    pub fn graph_room(&self) -> Result<usize> {
        if self.options.mode == Mode::Eager {
            return Ok(0);
        }
        let by_limit = self.options.limit.saturating_sub(self.store.len());
        let by_streams = budget::graphs_left(&self.plan.0, &self.context)?;
        Ok(by_streams.map_or(by_limit, |graphs| graphs.min(by_limit)))
    }
}
