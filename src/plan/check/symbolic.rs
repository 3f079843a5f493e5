//! What is certainly written before it is read, whatever the symbols are.

use std::collections::HashSet;

use crate::plan::overlap::boxes::{Box, Grid};
use crate::plan::overlap::ranges::{may_overlap, range};
use crate::plan::overlap::steps::Steps;
use crate::plan::recipe::Recipe;
use crate::plan::recipe::layout::Extent;
use crate::plan::symbols::dim::Dim;

use super::cover::Cover;
use super::written::{Event, Life, Reader, each};

/// Most ranges that do not meet, most boxes that do not make up one, most sorts of rows, and most values that are left.
const MOST: usize = 64;

/// The readers of what cannot be shown to be written.
pub(super) fn open(recipe: &Recipe, life: Life<'_>) -> Vec<Reader> {
    let mut written = Known { ever: Written::new(recipe, life), left: Vec::new(), since: None };
    let (mut known, mut open) = (HashSet::new(), Vec::new());
    each(recipe, life, |event| {
        let value = event.value();
        let info = &recipe.values[value as usize];
        match event {
            Event::Leave(_) => {
                known.clear();
                return written.leave(value);
            }
            _ if known.contains(&(info.layout, &info.offset)) => return,
            Event::Write(_) => written.add(value),
            Event::Read(..) if written.has(value) => {}
            Event::Read(reader, _) => return open.push(reader),
        }
        known.insert((info.layout, &info.offset));
    });
    open
}

/// What is written, where operators leave some of it.
struct Known<'a> {
    /// What was written at any time.
    ever: Written<'a>,
    /// Values that were left and are not written again as a whole.
    left: Vec<u32>,
    /// What was written since the last of all was left.
    since: Option<Written<'a>>,
}

impl Known<'_> {
    fn add(&mut self, value: u32) {
        self.ever.add(value);
        self.since.iter_mut().for_each(|since| since.add(value));
    }

    fn leave(&mut self, value: u32) {
        // When there are too many, no more than what is written since counts.
        if self.left.len() < MOST {
            if let Some(since) = &mut self.since {
                self.left.retain(|left| !since.has(*left));
            }
            let place = |value: u32| &self.ever.recipe.values[value as usize];
            if !self.left.iter().any(|left| place(*left) == place(value)) {
                self.left.push(value);
            }
        }
        self.since = Some(self.ever.without());
    }

    fn has(&mut self, value: u32) -> bool {
        let Some(since) = &mut self.since else { return self.ever.has(value) };
        if since.has(value) {
            return true;
        }
        let (recipe, bounds) = (self.ever.recipe, &self.ever.bounds);
        let mut is_there = |left: &u32| !may_overlap(recipe, *left, value, bounds) || since.has(*left);
        self.left.len() < MOST && self.left.iter().all(&mut is_there) && self.ever.has(value)
    }
}

struct Written<'a> {
    recipe: &'a Recipe,
    bounds: Vec<(u64, u64)>,
    ranges: Vec<(Extent, Extent)>,
    /// Number of rows, bytes of each, and what of each row is written.
    rows: Vec<(Extent, u64, Cover)>,
    grid: Option<Grid>,
    boxes: Vec<Box>,
}

impl<'a> Written<'a> {
    fn new(recipe: &'a Recipe, life: Life<'_>) -> Self {
        let bounds = recipe.bounds();
        let values = life.all.iter().map(|one| recipe.access(one).value).chain(life.given).chain(life.output);
        let grid = Grid::of(recipe, values, &bounds);
        Self { recipe, bounds, ranges: Vec::new(), rows: Vec::new(), grid, boxes: Vec::new() }
    }

    /// The same where nothing is written.
    fn without(&self) -> Self {
        let (bounds, grid) = (self.bounds.clone(), self.grid.clone());
        Self { recipe: self.recipe, bounds, ranges: Vec::new(), rows: Vec::new(), grid, boxes: Vec::new() }
    }

    fn place(&self, value: u32) -> Option<Box> {
        self.grid.as_ref()?.place(self.recipe, value, &self.bounds)
    }

    /// Makes a box one with those that it completes.
    fn add_box(&mut self, mut all: Box) {
        let mut index = 0;
        while let Some(other) = self.boxes.get(index) {
            match all.union(other, &self.bounds) {
                Some(both) => {
                    self.boxes.swap_remove(index);
                    (all, index) = (both, 0);
                }
                None => index += 1,
            }
        }
        if self.boxes.len() < MOST {
            self.boxes.push(all);
        }
    }

    fn add(&mut self, value: u32) {
        if let Some(place) = self.place(value) {
            self.add_box(place);
        }
        let range = range(self.recipe, value);
        if range.dense {
            self.add_range(range.start, range.end);
        }
        let Some((count, bytes, steps)) = rows(self.recipe, value) else { return };
        let known = self.rows.iter().position(|row| (&row.0, row.1) == (&count, bytes));
        let index = known.unwrap_or(self.rows.len());
        if index >= MOST {
            return;
        }
        if known.is_none() {
            self.rows.push((count.clone(), bytes, Cover::new(Vec::new())));
        }
        let (cover, whole) = (&mut self.rows[index].2, Steps { start: 0, axes: Vec::new(), run: bytes });
        let is_whole = cover.add(&steps).is_ok() && cover.missing(&whole) == Ok(None);
        if let (true, Some(end)) = (is_whole, count.times(&Extent::Fixed(bytes))) {
            self.add_range(Extent::Fixed(0), end);
        }
    }

    /// Makes a range one with those that it meets.
    fn add_range(&mut self, mut start: Extent, mut end: Extent) {
        while let Some(index) = self.ranges.iter().position(|other| self.union(other, (&start, &end)).is_some()) {
            let other = self.ranges.swap_remove(index);
            if let Some(both) = self.union(&other, (&start, &end)) {
                (start, end) = both;
            }
        }
        if self.ranges.len() < MOST {
            self.ranges.push((start, end));
        }
    }

    /// One range for two that certainly meet.
    fn union(&self, (a, b): &(Extent, Extent), (c, d): (&Extent, &Extent)) -> Option<(Extent, Extent)> {
        let least = |x: &Extent, y: &Extent| {
            if x.is_at_most(y, &self.bounds) {
                return Some((x.clone(), y.clone()));
            }
            y.is_at_most(x, &self.bounds).then(|| (y.clone(), x.clone()))
        };
        if !c.is_at_most(b, &self.bounds) || !a.is_at_most(d, &self.bounds) {
            return None;
        }
        Some((least(a, c)?.0, least(b, d)?.1))
    }

    fn has(&mut self, value: u32) -> bool {
        let most = |dim: &Dim| Extent::of_dim(*dim).and_then(|dim| dim.greatest(&self.bounds));
        if self.recipe.layout_of(value).dims.iter().any(|dim| most(dim) == Some(0)) {
            return true;
        }
        let range = range(self.recipe, value);
        let inside = |(start, end): &(Extent, Extent)| {
            start.is_at_most(&range.start, &self.bounds) && range.end.is_at_most(end, &self.bounds)
        };
        if range.is_empty() || self.ranges.iter().any(inside) {
            return true;
        }
        if self.place(value).is_some_and(|place| self.boxes.iter().any(|one| one.has(&place, &self.bounds))) {
            return true;
        }
        let Some((count, bytes, steps)) = rows(self.recipe, value) else { return false };
        let row = self.rows.iter_mut().find(|row| (&row.0, row.1) == (&count, bytes));
        row.is_some_and(|(.., cover)| cover.missing(&steps) == Ok(None))
    }
}

/// A value that is the same part of each of a number of rows: how many these are, bytes of each, and the part.
fn rows(recipe: &Recipe, value: u32) -> Option<(Extent, u64, Steps)> {
    let (info, layout) = (&recipe.values[value as usize], recipe.layout_of(value));
    let (mut rows, mut inner): (Option<(Extent, Extent)>, Vec<_>) = (None, Vec::new());
    for (dim, stride) in layout.dims.iter().zip(&layout.strides).rev() {
        let count = Extent::of_dim(*dim)?;
        rows = match rows {
            Some((rows, step)) if rows.times(&step).as_ref() == Some(stride) => Some((rows.times(&count)?, step)),
            None if count.as_fixed().is_none() => Some((count, stride.clone())),
            other => {
                inner.push((Some(count.as_fixed()?), Some(stride.as_fixed()?)));
                other
            }
        };
    }
    let (rows, step) = rows?;
    let size = layout.dtype.size() as u64;
    let bytes = step.as_fixed()?.checked_mul(size)?;
    let steps = Steps::new(info.offset.as_fixed()?, size, inner.into_iter())?;
    (steps.end() <= bytes).then_some((rows, bytes, steps))
}
