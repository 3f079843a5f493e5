//! From bytes to a recipe, of which nothing is known yet but its form.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::plan::check::finding::Finding;
use crate::plan::recipe::wire::CoresPart;
use crate::plan::recipe::{Places, Recipe};

use super::Unlinked;
use super::error::{DecodeError, Part, invalid};
use super::lints::FindingPart;

/// What a recipe of nothing takes: the length of each list.
const LEAST_RECIPE: usize = 20;

/// Bytes that are left.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    fn take<T: Deserialize<'a>>(&mut self, part: Part, index: usize) -> Result<T, DecodeError> {
        match postcard::take_from_bytes(self.0) {
            Ok((item, left)) => {
                self.0 = left;
                Ok(item)
            }
            Err(error) => Err(DecodeError::Unreadable { part, index, text: error.to_string() }),
        }
    }

    /// Entries of at least `least` bytes each: no more room is taken for them than the bytes that are left can fill.
    fn list_of<T>(
        &mut self,
        part: Part,
        least: usize,
        mut read: impl FnMut(&mut Self, usize) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let count: u64 = self.take(part, 0)?;
        if count > (self.0.len() / least) as u64 {
            return Err(DecodeError::Count { part, count, left: self.0.len() });
        }
        let mut all = Vec::with_capacity(count as usize);
        for index in 0..count as usize {
            all.push(read(self, index)?);
        }
        Ok(all)
    }

    fn list<T: DeserializeOwned>(&mut self, part: Part, least: usize) -> Result<Vec<T>, DecodeError> {
        self.list_of(part, least, |reader, index| reader.take(part, index))
    }

    /// Recipes, and which of those before it each one calls; the last is that of the plan.
    pub(super) fn all(&mut self) -> Result<(Vec<Unlinked>, Unlinked), DecodeError> {
        let callees = self.list_of(Part::Called, LEAST_RECIPE, Self::unlinked)?;
        let index = callees.len();
        Ok((callees, self.unlinked(index)?))
    }

    fn unlinked(&mut self, index: usize) -> Result<Unlinked, DecodeError> {
        let called: Vec<u32> = self.list(Part::Called, 1)?;
        if called.iter().any(|called| *called as usize >= index) {
            return invalid(Part::Called, index, "it calls itself, or one that is not before it");
        }
        Ok(Unlinked { recipe: self.recipe()?, called })
    }

    fn recipe(&mut self) -> Result<Recipe, DecodeError> {
        Ok(Recipe {
            symbols: self.list(Part::Symbol, 3)?,
            tags: self.list(Part::Tag, 2)?,
            events: self.list(Part::Event, 1)?,
            externals: self.list(Part::External, 1)?,
            storages: self.list(Part::Storage, 3)?,
            layouts: self.list(Part::Layout, 3)?,
            values: self.list(Part::Value, 4)?,
            accesses: self.list(Part::Access, 2)?,
            nodes: self.list(Part::Node, 6)?,
            inputs: self.list(Part::Input, 3)?,
            outputs: self.list(Part::Output, 4)?,
            constants: self.list_of(Part::Constant, 1, |reader, index| {
                reader.take::<&[u8]>(Part::Constant, index).map(<[u8]>::to_vec)
            })?,
            functions: self.list(Part::Function, 7)?,
            cores: self.list_of(Part::CoreLimit, 2, |reader, index| {
                reader.take(Part::CoreLimit, index).map(|CoresPart(cores)| cores)
            })?,
            reserved: self.list(Part::Reserved, 2)?,
            prefetches: self.list(Part::Prefetch, 2)?,
            prefetch_cap: self.take(Part::PrefetchCap, 0)?,
            calls: self.list(Part::Call, 5)?,
            choices: self.list(Part::Choice, 2)?,
            called: Vec::new(),
            places: Places::default(),
        })
    }

    /// Source files, the places in them, and the place of each node.
    pub(super) fn places(&mut self, recipe: &mut Recipe) -> Result<(), DecodeError> {
        recipe.places = Places { files: self.list(Part::File, 1)?, all: self.list(Part::Place, 3)? };
        let each: Vec<u32> = self.list(Part::Place, 1)?;
        if each.len() != recipe.nodes.len() {
            return invalid(Part::Place, each.len(), format!("{} nodes have one", recipe.nodes.len()));
        }
        recipe.nodes.iter_mut().zip(each).for_each(|(node, place)| node.place = place);
        Ok(())
    }

    pub(super) fn lints(&mut self) -> Result<Vec<Finding>, DecodeError> {
        self.list_of(Part::Lint, 3, |reader, index| {
            reader.take(Part::Lint, index).map(|FindingPart(finding)| finding)
        })
    }
}
