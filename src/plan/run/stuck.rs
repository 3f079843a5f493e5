//! Waits that could not end: for a run that waits at a gate, by a call that has the executable, so that nobody else can
//! signal meanwhile.

use crate::error::Result;
use crate::plan::recipe::{NodeKind, ORIGIN};

use super::bindings::{Bindings, OutputId};
use super::delivery::Delivery;
use super::executable::Executable;
use super::outside::Outside;
use super::symbols::resolve;

impl Executable {
    /// Before a run that would wait for host memory of runs before it: that they end without another signal. `found` is
    /// the graph that it replays.
    pub(super) fn check_ahead(&mut self, found: Option<usize>, bind: &Bindings) -> Result<()> {
        if !self.outside.as_ref().is_some_and(Outside::is_short) {
            return Ok(());
        }
        let awaited = match found {
            Some(index) => self.awaited_by(index)?,
            None => {
                let symbols = resolve(&self.plan.0, bind)?;
                let symbols = self.sizes(symbols);
                let uploads = self.is_behind_a_gate(|kind| matches!(kind, NodeKind::Upload(_)));
                let downloads = self.is_behind_a_gate(|kind| matches!(kind, NodeKind::Download(_)));
                self.eager.awaited(&symbols, self.latest(), (uploads, downloads))?
            }
        };
        match (&self.outside, awaited) {
            (Some(outside), Some(run)) => {
                outside.check_ends(run, "another run would wait for the host memory of one before it")
            }
            _ => Ok(()),
        }
    }

    /// The latest run that a replay would wait for.
    fn awaited_by(&self, index: usize) -> Result<Option<u64>> {
        let Some(captured) = self.store.peek(index) else { return Ok(None) };
        let mut awaited = captured.behind.as_ref().map_or(Ok(None), |behind| behind.ring.awaited(self.latest()))?;
        for input in &self.hosts {
            awaited = awaited.max(captured.uploads[*input as usize].awaited()?);
        }
        Ok(awaited)
    }

    /// The latest host outputs, which go when another run begins.
    fn latest(&self) -> Option<&Delivery> {
        self.last.as_ref()?.delivery.as_ref()
    }

    /// Before a wait for an output of the latest run: that it comes without another signal. What is over, or cannot be
    /// asked, is told by whoever reads.
    pub(super) fn check_reachable(&self, output: OutputId) -> Result<()> {
        let Some(outside) = self.outside.as_ref().filter(|outside| outside.is_short()) else { return Ok(()) };
        let waits = matches!(self.run_end(), Ok(Some(_)));
        let is_eager = self.last.as_ref().is_some_and(|last| last.captured.is_none());
        if !waits || is_eager && !self.is_held_up(output) {
            return Ok(());
        }
        outside.check_ends(outside.runs(), "the output comes from a run")
    }

    /// Whether a gate holds up a read of an output of an eager run, which waits for its copy and for all side streams.
    fn is_held_up(&self, output: OutputId) -> bool {
        let nodes = &self.plan.0.recipe.nodes;
        let beside = nodes.iter().any(|node| node.tag != ORIGIN && matches!(node.kind, NodeKind::ExternalWait(_)));
        beside || self.is_behind_a_gate(|kind| matches!(kind, NodeKind::Download(of) if of == output.index))
    }

    /// Whether eager work of a kind comes behind a wait at a gate.
    fn is_behind_a_gate(&self, wanted: impl Fn(NodeKind) -> bool) -> bool {
        let (nodes, order) = (&self.plan.0.recipe.nodes, &self.plan.0.order);
        let all = |wanted: &dyn Fn(NodeKind) -> bool| -> Vec<u32> {
            (0_u32..).zip(nodes).filter(|(_, node)| wanted(node.kind)).map(|(index, _)| index).collect()
        };
        let gates = all(&|kind| matches!(kind, NodeKind::ExternalWait(_)));
        all(&wanted).iter().any(|work| gates.iter().any(|gate| order.before(*gate, *work)))
    }

    /// The number of a run that begins.
    pub(super) fn next_run(&self) -> u64 {
        self.outside.as_ref().map_or(0, |outside| outside.runs() + 1)
    }

    /// In front of a run: what waited in one that failed or was aborted is not known.
    pub(super) fn note_failed(&self) {
        if let Some(outside) = self.outside.as_ref().filter(|_| self.outcome.has_failed()) {
            outside.failed();
        }
    }

    /// Behind a run: where it failed, what it waits for is not known.
    pub(super) fn note_run(&self, done: Result<()>) -> Result<()> {
        if let (Err(_), Some(outside)) = (&done, &self.outside) {
            outside.failed();
        }
        done
    }
}
