//! Placing temporaries from the largest to the smallest, each at the lowest place that no conflicting one has.

use super::{Places, Temporaries};

/// Above this many, comparing all pairs takes too long.
const MOST: usize = 4096;

pub(super) fn place(all: &Temporaries<'_>) -> Option<Places> {
    let temporaries = &all.all;
    if temporaries.len() > MOST {
        return None;
    }
    let mut largest_first: Vec<usize> = (0..temporaries.len()).collect();
    largest_first.sort_by_key(|index| (std::cmp::Reverse(temporaries[*index].bytes), *index));
    let mut offsets = vec![0; temporaries.len()];
    let mut peak = 0;
    let mut placed: Vec<usize> = Vec::new();
    let mut taken: Vec<(u64, u64)> = Vec::new();
    for index in largest_first {
        let one = &temporaries[index];
        taken.clear();
        for other in &placed {
            let known = &temporaries[*other];
            if !all.before(known, one) && !all.before(one, known) {
                taken.push((offsets[*other], offsets[*other] + known.bytes));
            }
        }
        taken.sort_unstable();
        let mut offset = 0;
        for (start, end) in &taken {
            if *start >= offset + one.bytes {
                break;
            }
            offset = offset.max(*end);
        }
        offsets[index] = offset;
        peak = peak.max(offset + one.bytes);
        placed.push(index);
    }
    Some(Places { offsets, peak })
}
