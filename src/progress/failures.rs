//! Which work failed, as somebody was told: nobody else is, since the library tells each failure once. Panics of host
//! functions are noted when they happen.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::lose_order;
use crate::error::ErrorKind;
use crate::lock::Lock;

/// Spans that are told apart; of more, the oldest become one.
const KEPT: usize = 32;

/// Failures that waits for a whole device were told, by its number.
static OF_DEVICES: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

fn of_device(device: i32) -> &'static AtomicU64 {
    &OF_DEVICES[device.unsigned_abs() as usize % OF_DEVICES.len()]
}

/// How often somebody who waited for a whole device was told that something had failed.
pub(crate) fn device_failures(device: i32) -> u64 {
    of_device(device).load(Ordering::Acquire)
}

pub(crate) fn note_device_failed(device: i32) {
    lose_order();
    of_device(device).fetch_add(1, Ordering::AcqRel);
}

/// Submissions: those after the first number, up to the second.
pub(crate) type Span = (u64, u64);

/// What work failed with, and what the library logged of it, as far as whoever was told first has read that.
pub(crate) type Failed = (ErrorKind, Arc<[String]>);

struct Noted {
    span: Span,
    /// Which of all it was.
    number: u64,
    failed: Failed,
}

/// Spans of submissions of which something failed, the oldest in front.
#[derive(Default)]
pub(super) struct Failures {
    /// How many there were.
    told: AtomicU64,
    spans: Lock<Vec<Noted>>,
}

impl Failures {
    /// Gives its number.
    pub(super) fn note(&self, span: Span, kind: ErrorKind) -> u64 {
        let mut spans = self.spans.lock();
        let number = self.told.load(Ordering::Acquire) + 1;
        spans.push(Noted { span, number, failed: (kind, Arc::default()) });
        if spans.len() > KEPT {
            let oldest = spans.remove(0).span;
            let next = &mut spans[0].span;
            *next = (oldest.0.min(next.0), oldest.1.max(next.1));
        }
        self.told.store(number, Ordering::Release);
        number
    }

    /// What the library logged of that.
    pub(super) fn log(&self, number: u64, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        if let Some(noted) = self.spans.lock().iter_mut().find(|noted| noted.number == number) {
            noted.failed.1 = lines.into();
        }
    }

    pub(super) fn count(&self) -> u64 {
        self.told.load(Ordering::Acquire)
    }

    /// Whether work of `span` may have failed.
    pub(super) fn touch(&self, span: Span) -> bool {
        self.find_since(0, span).is_some()
    }

    /// What work failed with that may be of `span`: the latest of it.
    pub(super) fn find(&self, span: Span) -> Option<Failed> {
        self.find_since(0, span)
    }

    /// The same of those that were noted when there were `count` already.
    pub(super) fn find_since(&self, count: u64, span: Span) -> Option<Failed> {
        if self.count() == count {
            return None;
        }
        let spans = self.spans.lock();
        let new = usize::try_from(self.count() - count).unwrap_or(usize::MAX);
        spans.iter().rev().take(new).find(|noted| meet(noted.span, span)).map(|noted| noted.failed.clone())
    }
}

pub(super) fn meet(one: Span, other: Span) -> bool {
    one.0.max(other.0) < one.1.min(other.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_share_a_submission_touch() {
        let failures = Failures::default();
        assert!(!failures.touch((0, u64::MAX)));
        failures.note((3, 5), ErrorKind::DeviceFault); // 4 and 5
        for (span, touches) in [((0, 3), false), ((0, 4), true), ((4, 5), true), ((5, 9), false), ((4, 4), false)] {
            assert_eq!(failures.touch(span), touches, "{span:?}");
        }
    }

    #[test]
    fn those_of_before_are_left_out() {
        let failures = Failures::default();
        failures.note((0, 9), ErrorKind::DeviceFault);
        let count = failures.count();
        assert_eq!(failures.find_since(count, (0, 9)), None);
        failures.note((5, 6), ErrorKind::DeviceFault);
        let since = [(0, 9), (6, 9)].map(|span| failures.find_since(count, span).is_some());
        assert_eq!(since, [true, false]);
        let many = 2 * KEPT as u64;
        for index in 0..many {
            failures.note((10 + index, 11 + index), ErrorKind::DeviceFault);
        }
        assert!(failures.find_since(count, (5, 6)).is_some(), "what was put together counts as new");
    }

    #[test]
    fn of_many_spans_none_is_forgotten() {
        let failures = Failures::default();
        let many = 5 * KEPT as u64;
        for index in 0..many {
            failures.note((10 * index, 10 * index + 1), ErrorKind::DeviceFault);
        }
        assert!((0..many).all(|index| failures.touch((10 * index, 10 * index + 1))));
        assert!(!failures.touch((10 * many - 9, 10 * many)), "the latest are told apart");
        assert_eq!(failures.spans.lock().len(), KEPT);
    }
    #[test]
    fn the_kind_is_that_of_what_was_told_last() {
        let failures = Failures::default();
        failures.note((0, 9), ErrorKind::DeviceFault);
        failures.note((5, 6), ErrorKind::CallbackPanicked);
        let kinds = [(0, 1), (5, 6), (9, 10)].map(|span| failures.find(span).map(|(kind, _)| kind));
        assert_eq!(kinds, [Some(ErrorKind::DeviceFault), Some(ErrorKind::CallbackPanicked), None]);
    }

    #[test]
    fn what_was_logged_goes_with_the_failure_that_it_is_of() {
        let failures = Failures::default();
        let first = failures.note((0, 2), ErrorKind::DeviceFault);
        let second = failures.note((2, 4), ErrorKind::DeviceFault);
        failures.log(second, &[]);
        failures.log(first, &["of the first".to_owned()]);
        failures.log(9, &["of none".to_owned()]);
        let lines = |span| failures.find(span).map(|(_, lines)| lines.to_vec());
        assert_eq!((lines((0, 1)), lines((3, 4))), (Some(vec!["of the first".to_owned()]), Some(Vec::new())));
    }
}
