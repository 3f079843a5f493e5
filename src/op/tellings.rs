//! What an operator is told, as a plan keeps it: of one that takes a single argument beside its tensors that alone, since
//! plans have many that differ in it.

use super::operand::Access;
use super::told::{Takes, Thin, Told};

static READ: Told = Told::Tensor(Access::Read);
static WRITE: Told = Told::Tensor(Access::Write);
static READ_WRITE: Told = Told::Tensor(Access::ReadWrite);

/// What is told as a parameter of this kind if that is a tensor.
fn tensor(takes: Takes) -> Option<&'static Told> {
    match takes {
        Takes::Tensor(Access::Read, _) => Some(&READ),
        Takes::Tensor(Access::Write, _) => Some(&WRITE),
        Takes::Tensor(Access::ReadWrite, _) => Some(&READ_WRITE),
        _ => None,
    }
}

fn takes_tensors(takes: Takes) -> bool {
    matches!(takes, Takes::Tensor(..) | Takes::Tensors(..))
}

/// The arguments of an operator, kept.
#[derive(Clone)]
pub(super) enum Kept {
    /// All other parameters take a tensor, and have it; this one takes none.
    One(Told),
    All(Thin<Told>),
}

impl Kept {
    /// All arguments, of an operator whose parameters take this.
    pub(super) fn of(mut all: Vec<Told>, takes: &[Takes]) -> Self {
        let is_tensor = |(told, takes): (&Told, &Takes)| tensor(*takes) == Some(told);
        let mut others = (0..all.len().min(takes.len())).filter(|at| !is_tensor((&all[*at], &takes[*at])));
        match (others.next(), others.next()) {
            (Some(at), None) if all.len() == takes.len() && !takes_tensors(takes[at]) => {
                Self::One(all.swap_remove(at))
            }
            _ => Self::All(all.into()),
        }
    }

    pub(super) fn all(&self, takes: &'static [Takes]) -> Tellings<'_> {
        match self {
            Self::One(told) => Tellings { takes, other: told, all: &[] },
            Self::All(all) => Tellings::from(&**all),
        }
    }

    /// What is no tensor, of a parameter.
    pub(super) fn get_mut(&mut self, parameter: usize, takes: &[Takes]) -> Option<&mut Told> {
        match self {
            Self::One(told) => takes.get(parameter).filter(|takes| tensor(**takes).is_none()).map(|_| told),
            Self::All(all) => all.get_mut(parameter),
        }
    }
}

/// All that an operator is told, in the order of its parameters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tellings<'a> {
    /// Tensors, but for one parameter; nothing where `all` has what is told.
    takes: &'static [Takes],
    other: &'a Told,
    all: &'a [Told],
}

impl<'a> Tellings<'a> {
    pub(crate) fn get(self, parameter: usize) -> Option<&'a Told> {
        match self.takes.get(parameter) {
            Some(takes) => Some(tensor(*takes).unwrap_or(self.other)),
            None => self.all.get(parameter),
        }
    }

    /// How many tensors stand before those of a parameter.
    pub(crate) fn tensors_before(self, parameter: usize) -> usize {
        let count = |told: &Told| told.tensors().map_or(0, |(count, _)| count as usize);
        let takes = &self.takes[..parameter.min(self.takes.len())];
        let all = &self.all[..parameter.min(self.all.len())];
        takes.iter().filter(|takes| matches!(takes, Takes::Tensor(..))).count() + all.iter().map(count).sum::<usize>()
    }

    /// Whether it is known that no tensor is left out, and that there are no lists of them.
    pub(crate) fn has_each_tensor(self) -> bool {
        !self.takes.is_empty()
    }

    pub(crate) fn len(self) -> usize {
        self.takes.len() + self.all.len()
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = &'a Told> {
        self.takes.iter().map(move |takes| tensor(*takes).unwrap_or(self.other)).chain(self.all)
    }
}

impl<'a> From<&'a [Told]> for Tellings<'a> {
    fn from(all: &'a [Told]) -> Self {
        Self { takes: &[], other: &READ, all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAKES: [Takes; 3] =
        [Takes::Tensor(Access::Read, true), Takes::Scalar(true), Takes::Tensor(Access::Write, false)];

    #[test]
    fn what_is_kept_is_what_was_told() {
        let number = || Told::Scalar(2.5_f32.into());
        let (read, write) = (|| Told::Tensor(Access::Read), || Told::Tensor(Access::Write));
        let cases = [
            (vec![read(), number(), write()], true),
            (vec![read(), Told::Null, write()], true),
            (vec![Told::NoTensor, number(), write()], false),
            (vec![Told::NoTensor, Told::Null, write()], false),
            (vec![read(), number()], false),
            (vec![write(), number(), write()], false),
        ];
        for (told, alone) in cases {
            let kept = Kept::of(told.clone(), &TAKES);
            assert_eq!(matches!(kept, Kept::One(_)), alone, "{told:?}");
            let all = kept.all(&TAKES);
            assert_eq!((all.len(), all.iter().cloned().collect::<Vec<_>>()), (told.len(), told.clone()));
            assert_eq!(all.has_each_tensor(), alone);
            for parameter in 0..4 {
                assert_eq!(all.get(parameter), told.get(parameter), "{parameter} of {told:?}");
                let before = told.iter().take(parameter).filter(|told| told.tensors().is_some());
                assert_eq!(all.tensors_before(parameter), before.count(), "{parameter} of {told:?}");
            }
        }
        const LIST: [Takes; 3] = [
            Takes::Tensor(Access::Read, false),
            Takes::Tensors(Access::Read, false),
            Takes::Tensor(Access::Write, false),
        ];
        let with_list = Kept::of(vec![read(), Told::Tensors(3, Access::Read), write()], &LIST);
        assert_eq!((with_list.all(&LIST).tensors_before(2), with_list.all(&LIST).has_each_tensor()), (4, false));
        let tensors = vec![read(), read()];
        let takes: &'static [Takes] = &[Takes::Tensor(Access::Read, false); 2];
        assert_eq!(Kept::of(tensors.clone(), takes).all(takes).iter().cloned().collect::<Vec<_>>(), tensors);
    }

    #[test]
    fn what_is_no_tensor_can_be_told_anew() {
        let told = vec![Told::Tensor(Access::Read), Told::Null, Told::Tensor(Access::Write)];
        let mut kept = Kept::of(told, &TAKES);
        assert!(kept.get_mut(0, &TAKES).is_none() && kept.get_mut(3, &TAKES).is_none());
        *kept.get_mut(1, &TAKES).unwrap() = Told::Number(7);
        assert_eq!(kept.all(&TAKES).get(1), Some(&Told::Number(7)));
    }

    #[test]
    fn what_a_plan_keeps_of_one_number_is_small() {
        assert_eq!(size_of::<Kept>(), size_of::<Told>());
        assert!(size_of::<Kept>() <= 16);
    }
}
