//! The memory of a simulated run: the arena as it was planned, and everything that lies outside it.

use crate::error::{Error, ErrorKind, Result};
use crate::op::{MAX_RANK, Shape};
use crate::plan::memory::MemoryPlan;
use crate::plan::recipe::layout::Extent;
use crate::plan::recipe::{Recipe, StorageKind};

use super::host::HostLayout;
use super::random::Random;

/// Bytes of every storage of a recipe without symbols.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    arena: Vec<u8>,
    /// By storage; empty for those in the arena.
    own: Vec<Vec<u8>>,
    offsets: Vec<u64>,
}

impl Memory {
    /// Memory that holds what `inputs` are and, everywhere else, bytes that follow from the seed.
    pub(crate) fn new(recipe: &Recipe, plan: &MemoryPlan, inputs: &[Vec<u8>], seed: u64) -> Result<Self> {
        let mut poison = Random::new(seed);
        let mut undefined = |bytes: u64| -> Result<Vec<u8>> {
            let mut memory = Vec::new();
            let size = usize::try_from(bytes).unwrap_or(usize::MAX);
            memory.try_reserve_exact(size).map_err(|_| {
                Error::new(ErrorKind::OutOfMemory, format!("{bytes} bytes of host memory for a simulated run"))
            })?;
            memory.resize(size, 0);
            poison.fill(&mut memory);
            Ok(memory)
        };
        let arena = undefined(plan.peak)?;
        let own = recipe.storages.iter().map(|storage| match storage.kind {
            StorageKind::Temporary => Ok(Vec::new()),
            StorageKind::Constant(index) => Ok(recipe.constants[index as usize].clone()),
            StorageKind::Input(index) if !inputs[index as usize].is_empty() => Ok(inputs[index as usize].clone()),
            StorageKind::Input(_) | StorageKind::Output(_) | StorageKind::Once => {
                undefined(number(&storage.bytes) as u64)
            }
        });
        Ok(Self { arena, own: own.collect::<Result<_>>()?, offsets: plan.offsets.clone() })
    }

    /// The bytes of a storage that something uses.
    pub(crate) fn storage(&self, recipe: &Recipe, index: u32) -> &[u8] {
        let storage = &recipe.storages[index as usize];
        match storage.kind {
            StorageKind::Temporary => {
                let start = self.offsets[index as usize] as usize;
                &self.arena[start..start + number(&storage.bytes)]
            }
            _ => &self.own[index as usize],
        }
    }

    fn storage_mut(&mut self, recipe: &Recipe, index: u32) -> &mut [u8] {
        let storage = &recipe.storages[index as usize];
        match storage.kind {
            StorageKind::Temporary => {
                let start = self.offsets[index as usize] as usize;
                &mut self.arena[start..start + number(&storage.bytes)]
            }
            _ => &mut self.own[index as usize],
        }
    }

    /// The bytes of a value's elements in their order, without gaps.
    pub(crate) fn read(&self, recipe: &Recipe, value: u32) -> Vec<u8> {
        let storage = self.storage(recipe, recipe.storage_of(value));
        let (starts, run) = runs(recipe, value);
        starts.into_iter().flat_map(|start| &storage[start..start + run]).copied().collect()
    }

    /// Writes the bytes of a value's elements, given in their order without gaps.
    pub(crate) fn write(&mut self, recipe: &Recipe, value: u32, bytes: &[u8]) {
        let storage = self.storage_mut(recipe, recipe.storage_of(value));
        let (starts, run) = runs(recipe, value);
        debug_assert_eq!(starts.len() * run, bytes.len());
        for (start, piece) in starts.into_iter().zip(bytes.chunks_exact(run)) {
            storage[start..start + run].copy_from_slice(piece);
        }
    }
}

/// Number of bytes of a value's elements.
pub(super) fn size(recipe: &Recipe, value: u32) -> usize {
    recipe.layout_of(value).bytes().map_or(0, |bytes| number(&bytes))
}

/// How the elements of a value lie in its storage.
pub(super) fn host_layout(recipe: &Recipe, value: u32) -> Result<HostLayout, String> {
    let layout = recipe.layout_of(value);
    let dims: Vec<usize> = layout.dims.iter().filter_map(|dim| dim.as_fixed()).collect();
    let dims = Shape::new(&dims).map_err(|error| error.to_string())?;
    let mut strides = [0; MAX_RANK];
    strides.iter_mut().zip(&layout.strides).for_each(|(to, stride)| *to = number(stride));
    Ok(HostLayout { dtype: layout.dtype, dims, strides, offset: number(&recipe.values[value as usize].offset) })
}

/// First bytes of the contiguous pieces of a value, in the order of its elements, and the length of all of them.
fn runs(recipe: &Recipe, value: u32) -> (Vec<usize>, usize) {
    let layout = recipe.layout_of(value);
    let mut run = layout.dtype.size();
    let mut outer = Vec::new();
    for (dim, stride) in layout.dims.iter().zip(&layout.strides).rev() {
        let count = dim.as_fixed().expect("a recipe without symbols");
        let step = number(stride) * layout.dtype.size();
        match count {
            0 => return (Vec::new(), run),
            1 => {}
            _ if outer.is_empty() && step == run => run *= count,
            _ => outer.push((count, step)),
        }
    }
    let mut starts = vec![number(&recipe.values[value as usize].offset)];
    for (count, step) in outer.into_iter().rev() {
        starts = starts.iter().flat_map(|start| (0..count).map(move |i| start + i * step)).collect();
    }
    (starts, run)
}

fn number(extent: &Extent) -> usize {
    extent.as_fixed().expect("a recipe without symbols") as usize
}
