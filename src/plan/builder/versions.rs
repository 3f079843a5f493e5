//! Versions of values that wait for other work (`wait_value`).

use super::{NONE, push_slowly};

/// What waits for what, by value.
pub(super) struct Versions {
    /// By value, as far as there are roles.
    roles: Vec<Roles>,
    all: Vec<Version>,
    /// Lists of nodes, each behind its length; the first is empty.
    lists: Vec<u32>,
}

/// Numbers from 1 on, and where lists start.
#[derive(Clone, Copy, Default)]
struct Roles {
    after: u32,
    /// The version of which the value is the earlier one.
    earlier: u32,
    /// The version of which it is the later one.
    later: u32,
}

/// An earlier and a later version of a value.
pub(super) struct Version {
    pub(super) place: u32,
    pub(super) earlier_used: u32,
    pub(super) later_used: u32,
}

impl Versions {
    pub(super) fn new() -> Self {
        Self { roles: Vec::new(), all: Vec::new(), lists: vec![0] }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.roles.is_empty()
    }

    fn roles(&self, value: u32) -> Roles {
        self.roles.get(value as usize).copied().unwrap_or_default()
    }

    fn roles_mut(&mut self, value: u32) -> &mut Roles {
        let value = value as usize;
        if self.roles.len() <= value {
            self.roles.reserve_exact(match self.roles.capacity() {
                room if room > value => 0,
                _ => value + 1 - self.roles.len() + self.roles.len() / 8,
            });
            self.roles.resize(value + 1, Roles::default());
        }
        &mut self.roles[value]
    }

    /// Nodes that users of a value wait for.
    pub(super) fn after(&self, value: u32) -> &[u32] {
        let list = self.roles(value).after as usize;
        &self.lists[list + 1..=list + self.lists[list] as usize]
    }

    /// Makes users of a view wait for what users of `value` wait for, and count as its users.
    pub(super) fn share(&mut self, value: u32, view: u32) {
        let roles = self.roles(value);
        if roles.after != 0 || roles.earlier != 0 || roles.later != 0 {
            *self.roles_mut(view) = roles;
        }
    }

    /// Makes `later` a version of `value` whose users also wait for what those of `dependency` wait for, and for
    /// `producers`. A node is left out where another one `hides` it: is known to come after it.
    pub(super) fn add(
        &mut self,
        value: u32,
        later: u32,
        waits: (u32, &[u32]),
        place: u32,
        hides: impl Fn(u32, u32) -> bool,
    ) {
        let (dependency, producers) = waits;
        let start = self.lists.len();
        push_slowly(&mut self.lists, 0);
        let list = self.roles(value).after as usize;
        for i in list + 1..=list + self.lists[list] as usize {
            let node = self.lists[i];
            push_slowly(&mut self.lists, node);
        }
        let more = self.after(dependency).to_vec();
        more.iter().chain(producers).for_each(|node| self.keep(start, *node, &hides));
        self.lists[start] = (self.lists.len() - start - 1) as u32;
        if self.lists[start] == 0 {
            self.lists.pop();
        } else if self.lists[start..] == self.lists[list..=list + self.lists[list] as usize] {
            self.lists.truncate(start);
            self.roles_mut(later).after = list as u32;
        } else {
            // The newest first, which may have waited for others.
            self.lists[start + 1..].sort_unstable_by_key(|node| std::cmp::Reverse(*node));
            self.roles_mut(later).after = start as u32;
        }
        let version = Version { place, earlier_used: NONE, later_used: NONE };
        push_slowly(&mut self.all, version);
        let number = self.all.len();
        self.roles_mut(value).earlier = number as u32;
        self.roles_mut(later).later = number as u32;
    }

    /// Adds a node to the last list, which starts at `start`, unless one there hides it; those that it hides go.
    fn keep(&mut self, start: usize, node: u32, hides: impl Fn(u32, u32) -> bool) {
        if self.lists[start + 1..].iter().any(|known| hides(*known, node)) {
            return;
        }
        let mut kept = start + 1;
        for i in start + 1..self.lists.len() {
            if !hides(node, self.lists[i]) {
                self.lists[kept] = self.lists[i];
                kept += 1;
            }
        }
        self.lists.truncate(kept);
        push_slowly(&mut self.lists, node);
    }

    /// Notes that `node` uses `value`.
    pub(super) fn note(&mut self, value: u32, node: u32) {
        let Roles { earlier, later, .. } = self.roles(value);
        if earlier != 0 {
            self.all[earlier as usize - 1].earlier_used = node;
        }
        if later != 0 {
            self.all[later as usize - 1].later_used = node;
        }
    }

    /// Versions of which both were used since the later one was made.
    pub(super) fn both_used(self) -> Vec<Version> {
        let mut all = self.all;
        all.retain(|version| version.earlier_used != NONE && version.later_used != NONE);
        all.sort_by_key(|version| version.later_used);
        all
    }
}
