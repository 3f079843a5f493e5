//! Versions of values that wait for other work (`wait_value`).

use crate::sort;

use super::{NONE, Value, push_slowly};

/// What waits for what. A version takes no value of the recipe, only a number in the handle.
pub(super) struct Versions {
    /// Of versions, and of views of what has a role; number 1 comes first.
    roles: Vec<Roles>,
    /// For each value that is no version the version of which it is the earlier one, as far as there are any.
    firsts: Vec<u32>,
    all: Vec<Version>,
    /// Lists of nodes, each behind its length; the first is empty.
    lists: Vec<u32>,
}

/// Places in `all`, from 1 on, and where lists start.
#[derive(Clone, Copy, Default)]
struct Roles {
    after: u32,
    /// The version of which it is the earlier one.
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
        Self { roles: Vec::new(), firsts: Vec::new(), all: Vec::new(), lists: vec![0] }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    fn roles(&self, value: Value) -> Roles {
        match value.version.checked_sub(1) {
            Some(number) => self.roles[number as usize],
            None => {
                Roles { earlier: self.firsts.get(value.index as usize).copied().unwrap_or(0), ..Roles::default() }
            }
        }
    }

    /// Gives the number.
    fn push(&mut self, roles: Roles) -> u32 {
        push_slowly(&mut self.roles, roles);
        self.roles.len() as u32
    }

    fn set_earlier(&mut self, value: Value, version: u32) {
        match value.version.checked_sub(1) {
            Some(number) => self.roles[number as usize].earlier = version,
            None => {
                while self.firsts.len() <= value.index as usize {
                    push_slowly(&mut self.firsts, 0);
                }
                self.firsts[value.index as usize] = version;
            }
        }
    }

    /// Nodes that users of a value wait for.
    pub(super) fn after(&self, value: Value) -> &[u32] {
        let list = self.roles(value).after as usize;
        &self.lists[list + 1..=list + self.lists[list] as usize]
    }

    /// The number of a view of `value`: its users wait for what those of the value wait for, and count as its users.
    pub(super) fn of_view(&mut self, value: Value) -> u32 {
        let roles = self.roles(value);
        if roles.earlier == 0 && value.version == 0 { 0 } else { self.push(roles) }
    }

    /// The number of a new version of `value`, whose users also wait for what those of `dependency` wait for, and for
    /// `producers`. A node is left out where another one `hides` it: is known to come after it.
    pub(super) fn add(
        &mut self,
        value: Value,
        waits: (Value, &[u32]),
        place: u32,
        hides: impl Fn(u32, u32) -> bool,
    ) -> u32 {
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
        let after = if self.lists[start] == 0 {
            self.lists.pop();
            0
        } else if self.lists[start..] == self.lists[list..=list + self.lists[list] as usize] {
            self.lists.truncate(start);
            list
        } else {
            // The newest first, which may have waited for others.
            self.lists[start + 1..].sort_unstable();
            self.lists[start + 1..].reverse();
            start
        };
        let version = Version { place, earlier_used: NONE, later_used: NONE };
        push_slowly(&mut self.all, version);
        let number = self.all.len() as u32;
        self.set_earlier(value, number);
        self.push(Roles { after: after as u32, earlier: 0, later: number })
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
    pub(super) fn note(&mut self, value: Value, node: u32) {
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
        sort::by_key(&mut all, |version| version.later_used);
        all
    }
}
