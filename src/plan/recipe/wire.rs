//! How the parts of a recipe are written. The order of variants here is the file format: a new one goes to the end,
//! any other change needs another format version.
//!
//! Types that users see are mirrored, so that they get no serialisation of their own to keep stable.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::op::DataType;
use crate::plan::symbols::dim::{Dim, MAX_SYMBOLS};
use crate::plan::symbols::poly::Poly;

use super::layout::{Extent, Layout};
use super::{Cores, Input, OnMove};

#[derive(Serialize, Deserialize)]
#[serde(remote = "DataType")]
pub(crate) enum DataTypeWire {
    F32,
    F16,
    Bf16,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    Bool,
    U16,
    U32,
    U64,
    Complex32,
    Complex64,
    Complex128,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "OnMove")]
pub(crate) enum OnMoveWire {
    Recapture,
    Fail,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Input")]
pub(crate) enum InputWire {
    Frozen,
    Static,
    Copied,
    Tracked(#[serde(with = "OnMoveWire")] OnMove),
    Updatable,
    Host,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Cores")]
pub(crate) struct CoresWire {
    cube: u32,
    vector: u32,
}

/// A core limit of its own.
#[derive(Serialize, Deserialize)]
pub(crate) struct CoresPart(#[serde(with = "CoresWire")] pub(crate) Cores);

#[derive(Serialize, Deserialize)]
enum DimWire {
    Fixed(u64),
    Symbolic { factor: u64, plus: i64, powers: [u8; MAX_SYMBOLS] },
}

impl From<Dim> for DimWire {
    fn from(dim: Dim) -> Self {
        match dim.parts() {
            (0, plus, _) if plus >= 0 => Self::Fixed(plus as u64),
            (factor, plus, powers) => Self::Symbolic { factor, plus, powers },
        }
    }
}

impl From<DimWire> for Dim {
    fn from(dim: DimWire) -> Self {
        match dim {
            DimWire::Fixed(size) => Self::fixed(size),
            DimWire::Symbolic { factor, plus, powers } => Self::from_parts(factor, plus, powers),
        }
    }
}

/// A size by itself.
pub(crate) mod dim {
    use super::{Deserialize, Deserializer, Dim, DimWire, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(dim: &Dim, to: S) -> Result<S::Ok, S::Error> {
        DimWire::from(*dim).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Dim, D::Error> {
        DimWire::deserialize(from).map(Dim::from)
    }
}

/// Several sizes.
pub(crate) mod dims {
    use super::{Deserialize, Deserializer, Dim, DimWire, Serializer};

    pub(crate) fn serialize<S: Serializer>(dims: &[Dim], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(dims.iter().map(|dim| DimWire::from(*dim)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Dim>, D::Error> {
        let dims = Vec::<DimWire>::deserialize(from)?;
        Ok(dims.into_iter().map(Dim::from).collect())
    }
}

#[derive(Serialize, Deserialize)]
enum ExtentWire {
    Fixed(u64),
    Symbolic(Vec<([u8; MAX_SYMBOLS], i128)>),
}

impl Serialize for Extent {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let wire = match self {
            Self::Fixed(value) => ExtentWire::Fixed(*value),
            Self::Symbolic(poly) => ExtentWire::Symbolic(poly.terms().map(|(powers, by)| (*powers, *by)).collect()),
        };
        wire.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Extent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match ExtentWire::deserialize(from)? {
            ExtentWire::Fixed(value) => Ok(Self::Fixed(value)),
            ExtentWire::Symbolic(terms) => {
                let mut poly = Poly::default();
                terms.into_iter().for_each(|(powers, by)| poly.add_term(powers, by));
                Self::of(poly).ok_or_else(|| D::Error::custom("a size below 0"))
            }
        }
    }
}

#[derive(Serialize, Deserialize)]
struct LayoutWire {
    #[serde(with = "DataTypeWire")]
    dtype: DataType,
    dims: Vec<DimWire>,
    strides: Vec<Extent>,
}

impl Serialize for Layout {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let dims = self.dims.iter().map(|dim| DimWire::from(*dim)).collect();
        LayoutWire { dtype: self.dtype, dims, strides: self.strides.clone() }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Layout {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let LayoutWire { dtype, dims, strides } = LayoutWire::deserialize(from)?;
        Ok(Self { dtype, dims: dims.into_iter().map(Dim::from).collect(), strides })
    }
}
