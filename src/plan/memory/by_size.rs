//! Placing temporaries from the largest to the smallest, each at the lowest place that no conflicting one has.

use crate::sort;

use super::conflicts::Conflicts;
use super::{Places, Temporaries};

/// None when too many temporaries may be in use at once.
pub(super) fn place(temporaries: &Temporaries<'_>) -> Option<Places> {
    const NOWHERE: u64 = u64::MAX;
    let conflicts = Conflicts::of(temporaries)?;
    let all = &temporaries.all;
    let mut largest_first: Vec<u32> = (0..all.len() as u32).collect();
    sort::by_key(&mut largest_first, |index| std::cmp::Reverse(all[*index as usize].bytes));
    let mut offsets = vec![NOWHERE; all.len()];
    let mut peak = 0;
    let mut taken: Vec<(u64, u64)> = Vec::new();
    for index in largest_first {
        let bytes = all[index as usize].bytes;
        taken.clear();
        let placed = conflicts.with(index).map(|other| (offsets[other as usize], all[other as usize].bytes));
        taken.extend(placed.filter(|(start, _)| *start != NOWHERE).map(|(start, bytes)| (start, start + bytes)));
        taken.sort_unstable();
        let mut offset = 0;
        for (start, end) in &taken {
            if *start >= offset + bytes {
                break;
            }
            offset = offset.max(*end);
        }
        offsets[index as usize] = offset;
        peak = peak.max(offset + bytes);
    }
    Some(Places { offsets, peak })
}
