//! Runs the work of a recipe on host memory, one node at a time, in whatever legal order it is told.

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::lock::theirs;
use crate::op::Recorded;
use crate::plan::recipe::choice;
use crate::plan::recipe::function::works_together;
use crate::plan::recipe::function::{Body, Code, ForeignBody, told};
use crate::plan::recipe::{Access, NodeKind, Recipe};

use super::choices::Open;

use super::host::{self, HostView};
use super::memory::{Memory, host_layout, size};
use super::on_mock::{Given, OnMock};

/// A run that has come so far. A clone goes on independently.
#[derive(Clone)]
pub(crate) struct Machine<'a> {
    recipe: &'a Recipe,
    bodies: &'a [Body],
    /// Nodes of each stream.
    chains: Arc<[Vec<u32>]>,
    /// Gates that the plan gives signals to; those of others are taken as given from outside.
    own: Arc<[bool]>,
    /// How many nodes of each stream are done.
    done: Vec<usize>,
    /// Whether what is done once has been done, so that no step does it.
    prepared: bool,
    recorded: Vec<bool>,
    signals: Vec<u32>,
    /// The choices that each stream is in, the innermost last.
    open: Vec<Vec<Open>>,
    pub(crate) memory: Memory,
    /// What runs bring to the host, by output.
    pub(crate) brought: Vec<Vec<u8>>,
    /// Host memory of the inputs.
    host: Arc<[Vec<u8>]>,
    /// Where operators are computed that the host does not.
    mock: OnMock,
}

/// What a node wrote: the bytes of the elements of a value. Downloads write host memory, and name what they read.
#[cfg_attr(not(test), expect(dead_code, reason = "tests look at what is written"))]
pub(crate) struct Written<'a> {
    pub(crate) node: u32,
    pub(crate) value: u32,
    pub(crate) bytes: &'a [u8],
}

/// Is told of everything that is written.
pub(crate) type Watch<'a> = &'a mut dyn FnMut(Written<'_>);

impl<'a> Machine<'a> {
    /// Before the first node. `host` is the host memory of each input.
    pub(crate) fn new(recipe: &'a Recipe, bodies: &'a [Body], memory: Memory, host: Vec<Vec<u8>>) -> Self {
        let mut chains = vec![Vec::new(); recipe.tags.len()];
        let mut own = vec![false; recipe.externals.len()];
        for (index, node) in recipe.nodes.iter().enumerate() {
            chains[usize::from(node.tag)].push(index as u32);
            if let NodeKind::ExternalRecord(gate) = node.kind {
                own[gate as usize] = true;
            }
        }
        Self {
            recipe,
            bodies,
            done: vec![0; chains.len()],
            prepared: false,
            open: vec![Vec::new(); chains.len()],
            chains: chains.into(),
            own: own.into(),
            recorded: vec![false; recipe.events.len()],
            signals: vec![0; recipe.externals.len()],
            memory,
            brought: vec![Vec::new(); recipe.outputs.len()],
            host: host.into(),
            mock: OnMock::default(),
        }
    }

    /// The next node of each stream that can go on.
    pub(crate) fn ready(&self) -> Vec<u32> {
        let next = self.chains.iter().zip(&self.done).filter_map(|(chain, done)| chain.get(*done).copied());
        next.filter(|node| self.is_ready(*node)).collect()
    }

    /// How many nodes of each stream are done.
    #[cfg(test)]
    pub(crate) fn progress(&self) -> &[usize] {
        &self.done
    }

    #[cfg(test)]
    pub(crate) fn is_done(&self) -> bool {
        self.chains.iter().zip(&self.done).all(|(chain, done)| *done == chain.len())
    }

    fn is_ready(&self, node: u32) -> bool {
        match self.recipe.nodes[node as usize].kind {
            NodeKind::Wait(event) => self.recorded[event as usize],
            NodeKind::ExternalWait(gate) => !self.own[gate as usize] || self.signals[gate as usize] > 0,
            _ => true,
        }
    }

    /// Runs everything that is left, always the node that `choose` picks by its index among the ready ones.
    pub(crate) fn run(&mut self, mut choose: impl FnMut(&[u32]) -> usize, watch: Watch<'_>) -> Result<()> {
        self.prepare(watch)?;
        loop {
            let ready = self.ready();
            if ready.is_empty() {
                return self.check_end();
            }
            self.step(ready[choose(&ready)], watch)?;
        }
    }

    /// Does first what is done once.
    fn prepare(&mut self, watch: Watch<'_>) -> Result<()> {
        let recipe = self.recipe;
        let once = (0..).zip(&recipe.nodes).filter(|(_, node)| recipe.is_once(node));
        for (node, _) in once.filter(|_| !self.prepared).collect::<Vec<_>>() {
            self.work(node, watch)?;
        }
        self.prepared = true;
        Ok(())
    }

    fn check_end(&self) -> Result<()> {
        let mut next = self.chains.iter().zip(&self.done).filter_map(|(chain, done)| chain.get(*done));
        match next.next() {
            None => Ok(()),
            Some(node) => {
                let text = format!("{} never ends in this interleaving", self.recipe.describe(*node));
                Err(Error::new(ErrorKind::InvalidPlan, text))
            }
        }
    }

    /// Runs a node, which is ready.
    pub(crate) fn step(&mut self, node: u32, watch: Watch<'_>) -> Result<()> {
        let info = &self.recipe.nodes[node as usize];
        debug_assert!(self.is_ready(node));
        if let NodeKind::Begin(_) | NodeKind::Case | NodeKind::End = info.kind {
            return self.choose(node);
        }
        if !self.prepared || !self.recipe.is_once(info) {
            self.work(node, watch)?;
        }
        self.done[usize::from(info.tag)] += 1;
        Ok(())
    }

    fn work(&mut self, node: u32, watch: Watch<'_>) -> Result<()> {
        let info = &self.recipe.nodes[node as usize];
        let accesses = self.recipe.accesses_of(info);
        match info.kind {
            NodeKind::Record(event) => self.recorded[event as usize] = true,
            NodeKind::ExternalRecord(gate) => self.signals[gate as usize] += 1,
            NodeKind::ExternalWait(gate) if self.own[gate as usize] => self.signals[gate as usize] -= 1,
            NodeKind::Wait(_) | NodeKind::ExternalWait(_) | NodeKind::Prefetch(_) => {}
            NodeKind::Foreign(function) => {
                let (body, info) = (&self.bodies[function as usize], &self.recipe.functions[function as usize]);
                match (body.code(), body.operator(info)) {
                    (Some(Code::Foreign(body)), _) => self.foreign(node, body, accesses, watch)?,
                    (_, Some(recorded)) => self.recorded(node, &*told(recorded, info, &[])?, accesses, watch)?,
                    _ => return self.fail(node, "has no code of an operator"),
                }
            }
            NodeKind::Host(function) => match self.bodies[function as usize].code() {
                Some(Code::Host(body)) => body.call(&self.recipe.functions[function as usize].attributes()),
                _ => return self.fail(node, "is an operator where a host function should be"),
            },
            NodeKind::Copy => {
                let bytes = self.memory.read(self.recipe, accesses[0].value);
                self.write(node, accesses[1].value, &bytes, watch);
            }
            NodeKind::FillBytes(byte) => {
                let bytes = vec![byte; size(self.recipe, accesses[0].value)];
                self.write(node, accesses[0].value, &bytes, watch);
            }
            NodeKind::Upload(input) => {
                let host = Arc::clone(&self.host);
                self.write(node, accesses[0].value, &host[input as usize], watch);
            }
            NodeKind::Download(output) => {
                let (value, bytes) = (accesses[0].value, self.memory.read(self.recipe, accesses[0].value));
                watch(Written { node, value, bytes: &bytes });
                self.brought[output as usize] = bytes;
            }
            NodeKind::Begin(_) | NodeKind::Case | NodeKind::End => {
                return self.fail(node, "is a bracket of a choice");
            }
            NodeKind::Call(_) | NodeKind::Choose(_) => return self.fail(node, "is not written out"),
        }
        Ok(())
    }

    /// Goes on where a bracket of a choice leads, which is on the same stream, as is all between brackets.
    fn choose(&mut self, node: u32) -> Result<()> {
        let info = &self.recipe.nodes[node as usize];
        let number = match self.recipe.accesses_of(info).first() {
            Some(condition) => choice::number(&self.memory.read(self.recipe, condition.value)),
            None => 0,
        };
        let tag = usize::from(info.tag);
        let next = match super::choices::next(self.recipe, node, number, &mut self.open[tag]) {
            Ok(next) => next,
            Err(text) => {
                return Err(Error::new(ErrorKind::NotSupported, format!("{}: {text}", self.recipe.describe(node))));
            }
        };
        self.done[tag] = (self.done[tag] + next as usize) - node as usize;
        Ok(())
    }

    fn write(&mut self, node: u32, value: u32, bytes: &[u8], watch: Watch<'_>) {
        self.memory.write(self.recipe, value, bytes);
        watch(Written { node, value, bytes });
    }

    fn fail<T>(&self, node: u32, text: &str) -> Result<T> {
        Err(Error::new(ErrorKind::NotSupported, format!("{} {text}", self.recipe.describe(node))))
    }

    /// An operator of the library: on the host where it is computed here, else on the mock.
    fn recorded(&mut self, node: u32, recorded: &Recorded, accesses: &[Access], watch: Watch<'_>) -> Result<()> {
        // Runs do not issue it either.
        let mut written = accesses.iter().filter(|access| access.mode.writes()).peekable();
        let is_empty =
            |access: &Access| host_layout(self.recipe, access.value).is_ok_and(|out| out.dims.contains(&0));
        if written.peek().is_some() && written.all(is_empty) && !works_together(recorded.name()) {
            return Ok(());
        }
        match self.on_host(recorded, accesses) {
            Some((out, Ok(elements))) => {
                self.write(node, out, &elements, watch);
                return Ok(());
            }
            Some((_, Err(text))) => {
                let text = format!("{} stops the device: {text}", self.recipe.describe(node));
                return Err(Error::new(ErrorKind::DeviceFault, text));
            }
            None => {}
        }
        let mut given = Vec::with_capacity(accesses.len());
        for access in accesses {
            let layout = host_layout(self.recipe, access.value).map_err(Error::invalid)?;
            // The same value is the same memory, so that an operator can work in place.
            let same = &self.recipe.values[access.value as usize];
            let first = accesses.iter().position(|one| self.recipe.values[one.value as usize] == *same).unwrap_or(0);
            let bytes = if first == given.len() { self.memory.read(self.recipe, access.value) } else { Vec::new() };
            given.push(Given { dtype: layout.dtype, dims: layout.dims, first, bytes });
        }
        let written = match self.mock.run(recorded, given) {
            Ok(written) => written,
            Err(error) => return Err(error.context_in_front(self.recipe.describe(node))),
        };
        for (access, bytes) in accesses.iter().zip(&written).filter(|(access, _)| access.mode.writes()) {
            self.write(node, access.value, bytes, watch);
        }
        Ok(())
    }

    /// The elements of the one result, in their order, of an operator that is computed here.
    fn on_host(&self, recorded: &Recorded, accesses: &[Access]) -> Option<(u32, Result<Vec<u8>, String>)> {
        let mut writes = accesses.iter().filter(|access| access.mode.writes());
        let (Some(out), None) = (writes.next(), writes.next()) else { return None };
        let mut views = Vec::with_capacity(accesses.len());
        for operand in accesses.iter().filter(|access| access.mode.reads()) {
            let bytes = self.memory.storage(self.recipe, self.recipe.storage_of(operand.value));
            views.push(HostView { bytes, layout: host_layout(self.recipe, operand.value).ok()? });
        }
        let layout = host_layout(self.recipe, out.value).ok()?;
        host::compute(recorded, &views, &layout).map(|elements| (out.value, elements))
    }

    fn foreign(&mut self, node: u32, body: &ForeignBody, accesses: &[Access], watch: Watch<'_>) -> Result<()> {
        let Some(simulate) = &body.simulate else {
            return self.fail(node, "cannot be simulated: Foreign::simulated gives it a computation on the host");
        };
        let (reads, writes) =
            (accesses.iter().filter(|one| one.mode.reads()), accesses.iter().filter(|one| one.mode.writes()));
        let read: Vec<Vec<u8>> = reads.map(|one| self.memory.read(self.recipe, one.value)).collect();
        let mut written: Vec<Vec<u8>> = writes.clone().map(|one| self.memory.read(self.recipe, one.value)).collect();
        theirs(|| simulate(&read, &mut written));
        for (index, (one, bytes)) in writes.zip(&written).enumerate() {
            let size = size(self.recipe, one.value);
            if bytes.len() != size {
                let text = format!("wrote {} bytes to value {index} of those it writes, of {size}", bytes.len());
                return self.fail(node, &text);
            }
            self.write(node, one.value, bytes, watch);
        }
        Ok(())
    }
}
