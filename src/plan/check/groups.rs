//! Parts of a storage that certainly lie apart, told without comparing every two.

use crate::plan::overlap::boxes::{Box, Grid};
use crate::plan::recipe::Recipe;
use crate::plan::recipe::layout::Extent;
use crate::plan::symbols::effort::spend;
use crate::plan::symbols::poly::Bounds;
use crate::sort;

/// Fewer values are compared with each other at once.
const FEW: usize = 16;
/// Values of more than this part of the storage join what is apart without them: they are in no group.
const SMALL: i128 = 8;

/// The group of each value, numbered from 0: values of different groups have no byte in common. Those without one may
/// have some in common with any.
pub(super) fn groups(recipe: &Recipe, values: &[u32], bounds: Bounds<'_>) -> (Vec<Option<u32>>, usize) {
    let none = || (vec![None; values.len()], 0);
    if values.len() < FEW {
        return none();
    }
    let Some(grid) = Grid::of(recipe, values.iter().copied(), bounds) else { return none() };
    let greatest: Vec<u64> = bounds.iter().map(|(_, greatest)| *greatest).collect();
    let mut places = Vec::new();
    for (index, value) in values.iter().enumerate().filter(|(_, value)| is_small(recipe, **value, bounds)) {
        if let Some(place) = grid.place(recipe, *value, bounds).and_then(|place| Placed::new(index, place)) {
            places.push(place);
        }
    }
    let mut groups = vec![places];
    for digit in 0..grid.digits() {
        groups = groups.into_iter().flat_map(|group| split(group, digit, &greatest, bounds)).collect();
    }
    let mut of = vec![None; values.len()];
    for (number, group) in (0..).zip(&groups) {
        group.iter().for_each(|one| of[one.index] = Some(number));
    }
    (of, groups.len())
}

fn is_small(recipe: &Recipe, value: u32, bounds: Bounds<'_>) -> bool {
    let all = recipe.storages[recipe.storage_of(value) as usize].bytes.greatest(bounds);
    let bytes = recipe.layout_of(value).bytes().as_ref().and_then(|bytes| Extent::greatest(bytes, bounds));
    matches!((bytes, all), (Some(bytes), Some(all)) if bytes.saturating_mul(SMALL) <= all)
}

/// A box in little memory.
struct Placed {
    index: usize,
    digits: Vec<(Extent, Extent)>,
}

impl Placed {
    fn new(index: usize, place: Box) -> Option<Self> {
        let digits = place.0.into_iter().map(|(start, end)| Some((Extent::of(start)?, Extent::of(end)?)));
        Some(Self { index, digits: digits.collect::<Option<_>>()? })
    }
}

/// Splits a group wherever one digit of all that follow certainly is at least the end of all before. No range ends
/// before it starts, so that what is behind the last group is behind all.
fn split(group: Vec<Placed>, digit: usize, greatest: &[u64], bounds: Bounds<'_>) -> Vec<Vec<Placed>> {
    let mut group: Vec<_> = group.into_iter().map(|one| (one.digits[digit].0.value(greatest), one)).collect();
    sort::by_key(&mut group, |(start, _)| *start);
    let (mut groups, mut end): (Vec<Vec<Placed>>, Option<Extent>) = (Vec::new(), None);
    for (_, one) in group {
        spend(1);
        let (from, to) = &one.digits[digit];
        let is_behind = groups.is_empty() || end.as_ref().is_some_and(|end| end.is_at_most(from, bounds));
        end = match end {
            _ if is_behind => Some(to.clone()),
            Some(end) if end.is_at_most(to, bounds) => Some(to.clone()),
            Some(end) if to.is_at_most(&end, bounds) => Some(end),
            // No end is certain: what follows stays together.
            _ => None,
        };
        match groups.last_mut().filter(|_| !is_behind) {
            Some(last) => last.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}
