//! Bytes in steps: where the bytes of a value lie in its storage, and what two values have in common.

use crate::plan::recipe::Recipe;
use crate::plan::recipe::layout::Extent;
use crate::plan::symbols::effort::spend;
use crate::plan::symbols::poly::Bounds;

/// The bytes `start + i * stride + j * stride' + … + 0..run` for all `i`, `j`, … below their counts. None at
/// all when the run is 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Steps {
    pub(crate) start: u64,
    /// Stride and count, the largest stride first. Every stride is larger than the run.
    pub(crate) axes: Vec<(u64, u64)>,
    pub(crate) run: u64,
}

/// Two values are in too many pieces, and too unlike each other, to be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMany;

/// Most pairs of pieces that are compared for two values.
const MOST_COMPARED: u32 = 1 << 17;

impl Steps {
    /// The bytes of a value for these values of the symbols; none when there are others, or on overflow.
    pub(crate) fn of(recipe: &Recipe, value: u32, symbols: &[u64]) -> Option<Self> {
        let (info, layout) = (&recipe.values[value as usize], recipe.layout_of(value));
        let start = info.offset.value(symbols)?;
        let dims =
            layout.dims.iter().map(|dim| dim.as_fixed().map_or_else(|| dim.value(symbols), |dim| Some(dim as u64)));
        let strides = layout.strides.iter().map(|stride| stride.value(symbols));
        Self::new(start, layout.dtype.size() as u64, dims.zip(strides))
    }

    /// The bytes of a value for the greatest values of the symbols, which have all that it has for others; none when
    /// its place depends on them.
    pub(crate) fn largest(recipe: &Recipe, value: u32, bounds: Bounds<'_>) -> Option<Self> {
        let (info, layout) = (&recipe.values[value as usize], recipe.layout_of(value));
        let dims = layout.dims.iter().map(|dim| u64::try_from(Extent::of_dim(*dim)?.greatest(bounds)?).ok());
        let strides = layout.strides.iter().map(Extent::as_fixed);
        Self::new(info.offset.as_fixed()?, layout.dtype.size() as u64, dims.zip(strides))
    }

    /// `sizes` are counts and strides, the latter in elements of `size` bytes.
    pub(crate) fn new(
        start: u64,
        size: u64,
        sizes: impl Iterator<Item = (Option<u64>, Option<u64>)>,
    ) -> Option<Self> {
        let mut axes: Vec<(u64, u64)> = Vec::new();
        let mut is_empty = false;
        for (count, stride) in sizes {
            let (count, stride) = (count?, stride?.checked_mul(size)?);
            is_empty |= count == 0;
            if count > 1 && stride > 0 {
                axes.push((stride, count));
            }
        }
        if is_empty {
            return Some(Self { start, axes: Vec::new(), run: 0 });
        }
        axes.sort_unstable();
        let (mut run, mut kept) = (size, 0_usize);
        for i in 0..axes.len() {
            let (stride, count) = axes[i];
            let before = kept.checked_sub(1).map(|last| axes[last]);
            match before {
                None if stride <= run => run = run.checked_add(stride.checked_mul(count - 1)?)?,
                Some((least, steps)) if least.checked_mul(steps) == Some(stride) => axes[kept - 1].1 = steps * count,
                _ => {
                    axes[kept] = (stride, count);
                    kept += 1;
                }
            }
        }
        axes.truncate(kept);
        axes.reverse();
        let steps = Self { start, axes, run };
        steps.checked_end().map(|_| steps)
    }

    fn checked_end(&self) -> Option<u64> {
        let last = self
            .axes
            .iter()
            .try_fold(self.start, |last, (stride, count)| last.checked_add(stride.checked_mul(count - 1)?))?;
        last.checked_add(self.run).filter(|end| *end < 1 << 62)
    }

    /// Behind the last byte.
    pub(crate) fn end(&self) -> u64 {
        self.start + self.axes.iter().map(|(stride, count)| stride * (count - 1)).sum::<u64>() + self.run
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.run == 0
    }

    /// Number of pieces without gaps.
    pub(crate) fn pieces(&self) -> u64 {
        self.axes.iter().fold(1, |pieces: u64, (_, count)| pieces.saturating_mul(*count))
    }

    /// The first byte of each piece.
    pub(crate) fn starts(&self) -> impl Iterator<Item = u64> {
        (0..self.pieces()).map(|mut index| {
            let steps = self.axes.iter().rev().map(|(stride, count)| {
                let step = index % count * stride;
                index /= count;
                step
            });
            self.start + steps.sum::<u64>()
        })
    }

    /// The first bytes that both have.
    pub(crate) fn common(&self, other: &Self) -> Result<Option<(u64, u64)>, TooMany> {
        if self.is_empty() || other.is_empty() {
            return Ok(None);
        }
        let found = meet(self.part(), other.part(), &mut MOST_COMPARED.clone())?;
        Ok(found.map(|(start, end)| (start as u64, end as u64)))
    }

    /// Whether it has one of the bytes from `start` to `end`.
    pub(crate) fn touches(&self, start: u64, end: u64) -> bool {
        let other = Part { start: start as i64, axes: &[], run: (end - start) as i64 };
        start < end && !self.is_empty() && !matches!(meet(self.part(), other, &mut MOST_COMPARED.clone()), Ok(None))
    }

    fn part(&self) -> Part<'_> {
        Part { start: self.start as i64, axes: &self.axes, run: self.run as i64 }
    }
}

/// Some of the axes, at another place. Numbers are below 2⁶², so that sums do not overflow.
#[derive(Clone, Copy)]
struct Part<'a> {
    start: i64,
    axes: &'a [(u64, u64)],
    run: i64,
}

impl Part<'_> {
    fn end(&self) -> i64 {
        self.start + self.axes.iter().map(|(stride, count)| (stride * (count - 1)) as i64).sum::<i64>() + self.run
    }

    fn inner(self, steps: i64) -> Self {
        let stride = self.axes[0].0 as i64;
        Self { start: self.start + steps * stride, axes: &self.axes[1..], run: self.run }
    }
}

type Met = Result<Option<(i64, i64)>, TooMany>;

fn first(a: Option<(i64, i64)>, b: Option<(i64, i64)>) -> Option<(i64, i64)> {
    a.into_iter().chain(b).min()
}

fn meet(a: Part<'_>, b: Part<'_>, left: &mut u32) -> Met {
    *left = left.checked_sub(1).filter(|_| spend(1)).ok_or(TooMany)?;
    if a.start >= b.end() || b.start >= a.end() {
        return Ok(None);
    }
    let stride = |part: Part<'_>| part.axes.first().map_or(0, |(stride, _)| *stride);
    match stride(a).cmp(&stride(b)) {
        std::cmp::Ordering::Less => meet(b, a, left),
        std::cmp::Ordering::Equal if a.axes.is_empty() => Ok(Some((a.start.max(b.start), a.end().min(b.end())))),
        std::cmp::Ordering::Equal => meet_in_step(a, b, left),
        std::cmp::Ordering::Greater => {
            let (wide, narrow) = (stride(a), stride(b));
            if narrow != 0 && wide % narrow == 0 && b.axes[0].1 > wide / narrow {
                return meet_refined(a, b, wide / narrow, left);
            }
            meet_each(a, b, left)
        }
    }
}

/// Of two parts with the same first stride only the difference of the steps counts.
fn meet_in_step(a: Part<'_>, b: Part<'_>, left: &mut u32) -> Met {
    let (stride, of_a, of_b) = (a.axes[0].0 as i64, a.axes[0].1 as i64, b.axes[0].1 as i64);
    let (inner_a, inner_b) = (a.inner(0), b.inner(0));
    let low = (inner_a.start - inner_b.end()).div_euclid(stride) + 1;
    let high = (inner_a.end() - inner_b.start - 1).div_euclid(stride);
    let mut found = None;
    for difference in low.max(1 - of_a)..=high.min(of_b - 1) {
        let shift = (-difference).max(0) * stride;
        let met = meet(inner_a, b.inner(difference), left)?;
        found = first(found, met.map(|(start, end)| (start + shift, end + shift)));
    }
    Ok(found)
}

/// Takes the first axis of `b` in groups of as many steps as make one of `a`.
fn meet_refined(a: Part<'_>, b: Part<'_>, group: u64, left: &mut u32) -> Met {
    let (stride, count) = b.axes[0];
    let mut axes = vec![(stride * group, count / group), (stride, group)];
    axes.extend_from_slice(&b.axes[1..]);
    let found = meet(a, Part { axes: &axes, ..b }, left)?;
    let rest = count % group;
    if rest == 0 {
        return Ok(found);
    }
    let mut axes = vec![(stride, rest)];
    axes.extend_from_slice(&b.axes[1..]);
    let start = b.start + (stride * (count - rest)) as i64;
    Ok(first(found, meet(a, Part { start, axes: &axes, ..b }, left)?))
}

/// Goes through the steps of `a` that can reach `b`.
fn meet_each(a: Part<'_>, b: Part<'_>, left: &mut u32) -> Met {
    let (stride, count) = (a.axes[0].0 as i64, a.axes[0].1 as i64);
    let inner = a.inner(0);
    let low = (b.start - inner.end()).div_euclid(stride) + 1;
    let high = (b.end() - inner.start - 1).div_euclid(stride);
    for step in low.max(0)..=high.min(count - 1) {
        if let Some(found) = meet(a.inner(step), b, left)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::builder::tests::generate::Dice;

    fn random(dice: &mut Dice) -> Steps {
        let size = [1, 2, 4][dice.index(3)];
        let axes: Vec<_> = (0..dice.below(4))
            .map(|_| (Some(u64::from(1 + dice.below(6))), Some(u64::from(dice.below(24)))))
            .collect();
        Steps::new(u64::from(dice.below(100)), size, axes.into_iter()).unwrap()
    }

    fn bytes(steps: &Steps) -> Vec<u64> {
        let mut all: Vec<u64> = steps.starts().flat_map(|start| start..start + steps.run).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    #[test]
    fn what_is_common_is_what_both_have() {
        let (mut apart, mut together) = (0, 0);
        for seed in 0..20_000 {
            let mut dice = Dice(seed);
            let (a, b) = (random(&mut dice), random(&mut dice));
            let (of_a, of_b) = (bytes(&a), bytes(&b));
            assert_eq!(a.end(), of_a.last().unwrap() + 1);
            let both = |byte: &u64| of_a.binary_search(byte).is_ok() && of_b.binary_search(byte).is_ok();
            match a.common(&b).unwrap() {
                Some((start, end)) => assert!(start < end && (start..end).all(|byte| both(&byte)), "{a:?} {b:?}"),
                None => assert!(!of_a.iter().any(both), "{a:?} {b:?}"),
            }
            *(if of_a.iter().any(both) { &mut together } else { &mut apart }) += 1;
            let (start, end) = (u64::from(dice.below(200)), u64::from(dice.below(200)));
            let touches = of_a.iter().any(|byte| (start..end).contains(byte));
            assert_eq!(a.touches(start, end.max(start)), touches);
        }
        assert!(apart > 2000 && together > 2000, "{apart} {together}");
    }

    #[test]
    fn columns_are_compared_without_going_through_their_rows() {
        let column = |at: u64| Steps::new(at, 4, [(Some(60_000_000), Some(8))].into_iter()).unwrap();
        assert_eq!(column(0).common(&column(4)), Ok(None));
        assert_eq!(column(0).common(&column(32)), Ok(Some((32, 36))));
        let odd = Steps::new(2, 1, [(Some(60_000_000), Some(37))].into_iter()).unwrap();
        let even = Steps::new(4, 1, [(Some(60_000_000), Some(64))].into_iter()).unwrap();
        assert!(odd.common(&even).unwrap().is_some());
    }
}
