//! Which shapes the inputs of a run have, and which gear fits them.

use super::description::{ModelDescription, ModelGears};
use crate::error::{Error, Result};

/// A choice among the sizes that a model was built for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Gear {
    Batch(usize),
    ImageSize(usize, usize),
    /// Every size of all inputs.
    Dims(Vec<usize>),
}

impl ModelDescription {
    /// The sizes of all inputs that `gear` stands for; none where they are not known or it cannot be one of this model.
    pub(super) fn shapes_of(&self, gear: &Gear) -> Option<Vec<Vec<usize>>> {
        let mut row = match gear {
            Gear::Dims(dims) => dims.iter().copied(),
            Gear::Batch(_) | Gear::ImageSize(..) => [].iter().copied(),
        };
        let mut shapes = Vec::with_capacity(self.inputs.len());
        for input in &self.inputs {
            let mut open = 0;
            let mut shape = Vec::new();
            for size in input.sizes.as_ref()? {
                let told = match gear {
                    Gear::Dims(_) => Some(row.next()?),
                    Gear::Batch(count) => Some(size.unwrap_or(*count)),
                    Gear::ImageSize(height, width) => match size {
                        Some(size) => Some(*size),
                        None => {
                            open += 1;
                            [*height, *width].get(open - 1).copied()
                        }
                    },
                };
                shape.push(told?);
            }
            shapes.push(shape);
        }
        row.next().is_none().then_some(shapes)
    }

    /// Each gear there is.
    pub(super) fn all_gears(&self) -> Vec<Gear> {
        match &self.gears {
            ModelGears::None => Vec::new(),
            ModelGears::Batch(counts) => counts.iter().map(|count| Gear::Batch(*count)).collect(),
            ModelGears::ImageSize(sizes) => sizes.iter().map(|(h, w)| Gear::ImageSize(*h, *w)).collect(),
            ModelGears::Dims(rows) => rows.iter().map(|row| Gear::Dims(row.clone())).collect(),
        }
    }

    /// The gear of a run, and the shapes of its inputs with it: the one that was chosen, else the one that the known
    /// shapes of what it was given leave.
    pub(super) fn find_gear(
        &self,
        chosen: Option<&Gear>,
        given: &[Option<Vec<usize>>],
    ) -> Result<(Gear, Vec<Vec<usize>>)> {
        let all = self.all_gears();
        if let Some(gear) = chosen {
            let shapes = all.contains(gear).then(|| self.shapes_of(gear)).flatten();
            let shapes = shapes.ok_or_else(|| Error::invalid(format!("{gear}: {}", self.what_there_is())))?;
            return Ok((gear.clone(), shapes));
        }
        let fits = |shapes: &[Vec<usize>]| {
            let same = |(given, shape): (&Option<Vec<usize>>, _)| given.as_ref().is_none_or(|given| given == shape);
            given.iter().zip(shapes).all(same)
        };
        let mut fitting = all.into_iter().filter_map(|gear| {
            let shapes = self.shapes_of(&gear).filter(|shapes| fits(shapes))?;
            Some((gear, shapes))
        });
        match (fitting.next(), fitting.next()) {
            (Some(one), None) => Ok(one),
            (None, _) => {
                Err(Error::invalid(format!("no gear has the shapes of these inputs: {}", self.what_there_is())))
            }
            (Some(_), Some(_)) => {
                let text = "the inputs do not tell which size is meant: choose one, or give tensors";
                Err(Error::invalid(format!("{text}; {}", self.what_there_is())))
            }
        }
    }

    fn what_there_is(&self) -> String {
        match &self.gears {
            ModelGears::None => "the model has no sizes to choose from".to_owned(),
            ModelGears::Batch(counts) => format!("the model was built for batches of {counts:?}"),
            ModelGears::ImageSize(sizes) => format!("the model was built for heights and widths {sizes:?}"),
            ModelGears::Dims(rows) => format!("the model was built for sizes of all inputs {rows:?}"),
        }
    }
}

impl std::fmt::Display for Gear {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Batch(count) => write!(f, "a batch of {count}"),
            Self::ImageSize(height, width) => write!(f, "images of {height} by {width}"),
            Self::Dims(dims) => write!(f, "sizes {dims:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::description::{ModelFormat, ModelTensor};
    use super::*;
    use crate::op::DataType;

    fn tensor(sizes: &[Option<usize>]) -> ModelTensor {
        ModelTensor {
            name: "x".to_owned(),
            data_type: Some(DataType::F32),
            raw_type: 0,
            format: ModelFormat::Nd,
            sizes: Some(sizes.to_vec()),
            ranges: Vec::new(),
            bytes: None,
        }
    }

    fn model(inputs: &[&[Option<usize>]], gears: ModelGears) -> ModelDescription {
        let inputs = inputs.iter().map(|sizes| tensor(sizes)).collect();
        ModelDescription { inputs, outputs: Vec::new(), gears, choice: None, parameters: Vec::new() }
    }

    #[test]
    fn a_gear_gives_every_open_size() {
        let batch = model(&[&[None, Some(3)], &[None], &[Some(2)]], ModelGears::Batch(vec![1, 4]));
        assert_eq!(batch.shapes_of(&Gear::Batch(4)).unwrap(), [vec![4, 3], vec![4], vec![2]]);
        let image = model(&[&[Some(1), None, None]], ModelGears::ImageSize(vec![(8, 9)]));
        assert_eq!(image.shapes_of(&Gear::ImageSize(8, 9)).unwrap(), [[1, 8, 9]]);
        let dims = model(&[&[None, Some(3)], &[None]], ModelGears::Dims(vec![vec![2, 3, 5]]));
        assert_eq!(dims.shapes_of(&Gear::Dims(vec![2, 3, 5])).unwrap(), [vec![2, 3], vec![5]]);
        for wrong in [vec![2, 3], vec![2, 3, 5, 1]] {
            assert!(dims.shapes_of(&Gear::Dims(wrong)).is_none());
        }
    }

    #[test]
    fn shapes_tell_the_gear_where_one_alone_has_them() {
        let batch = model(&[&[None, Some(3)], &[None]], ModelGears::Batch(vec![1, 4]));
        let found = batch.find_gear(None, &[Some(vec![4, 3]), None]).unwrap();
        assert_eq!(found, (Gear::Batch(4), vec![vec![4, 3], vec![4]]));
        let says = |given: &[Option<Vec<usize>>], chosen| batch.find_gear(chosen, given).unwrap_err().to_string();
        assert!(says(&[None, None], None).contains("which size is meant"));
        assert!(says(&[Some(vec![4, 3]), Some(vec![1])], None).contains("batches of [1, 4]"));
        assert!(says(&[None, None], Some(&Gear::Batch(2))).contains("a batch of 2: the model was built for"));
        assert!(says(&[None, None], Some(&Gear::ImageSize(1, 4))).contains("images of 1 by 4"));
    }
}
