//! Which temporaries may be in use at once.

use super::Temporaries;

/// Pairs to look at for each temporary, on average: more take longer than they are worth.
const PAIRS: usize = 64;
/// Pairs that are looked at in any case.
const FEW: usize = 1 << 17;

/// For each temporary those that it must not share bytes with.
pub(super) struct Conflicts {
    earlier: Lists,
    later: Lists,
}

impl Conflicts {
    /// None when there are too many.
    pub(super) fn of(temporaries: &Temporaries<'_>) -> Option<Self> {
        let all = &temporaries.all;
        let mut left = (PAIRS * all.len()).max(FEW);
        let horizons = horizons(temporaries);
        let mut earlier = Lists { starts: Vec::with_capacity(all.len() + 1), all: Vec::new() };
        let mut open: Vec<u32> = Vec::new();
        for (index, one) in all.iter().enumerate() {
            open.retain(|other| temporaries.last(&all[*other as usize]) >= horizons[index]);
            left = left.checked_sub(open.len())?;
            earlier.starts.push(earlier.all.len() as u32);
            // The later one of two is never done before the earlier one starts.
            earlier.all.extend(open.iter().filter(|other| !temporaries.before(&all[**other as usize], one)));
            open.push(index as u32);
        }
        earlier.starts.push(earlier.all.len() as u32);
        earlier.all.shrink_to_fit();
        Some(Self { later: earlier.turned(), earlier })
    }

    pub(super) fn with(&self, index: u32) -> impl Iterator<Item = u32> {
        self.earlier.of(index).iter().chain(self.later.of(index)).copied()
    }
}

/// Lists behind one another, and where each starts.
struct Lists {
    starts: Vec<u32>,
    all: Vec<u32>,
}

impl Lists {
    fn of(&self, index: u32) -> &[u32] {
        let index = index as usize;
        &self.all[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// For each number the lists that it is in.
    fn turned(&self) -> Self {
        let mut starts = vec![0_u32; self.starts.len()];
        for one in &self.all {
            starts[*one as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut all = vec![0; self.all.len()];
        for index in 0..self.starts.len() as u32 - 1 {
            for one in self.of(index) {
                let slot = &mut starts[*one as usize];
                all[*slot as usize] = index;
                *slot += 1;
            }
        }
        // Each start moved to its end, which is the start of the next.
        starts.rotate_right(1);
        starts[0] = 0;
        Self { starts, all }
    }
}

/// For each temporary a node: whatever had its last use before that conflicts neither with this temporary nor with
/// later ones.
fn horizons(temporaries: &Temporaries<'_>) -> Vec<u32> {
    let mut first_unknown = temporaries.order.first_unknown();
    let mut horizon = u32::MAX;
    let mut horizons: Vec<u32> = temporaries
        .all
        .iter()
        .rev()
        .map(|one| {
            let starts = temporaries.spans(one).iter().map(|span| first_unknown(span.first));
            horizon = starts.fold(horizon, u32::min);
            horizon
        })
        .collect();
    horizons.reverse();
    horizons
}
