//! Element types of both sides.

use super::DLDataType;
use crate::error::{Error, Result};
use crate::op::{DataType, ElementType};

const INT: u8 = 0;
const UINT: u8 = 1;
const FLOAT: u8 = 2;
const BFLOAT: u8 = 4;
const COMPLEX: u8 = 5;
const BOOL: u8 = 6;

/// Each type that both know.
fn pairs() -> [(ElementType, (u8, u8)); 16] {
    [
        (DataType::F32.into(), (FLOAT, 32)),
        (DataType::F16.into(), (FLOAT, 16)),
        (DataType::Bf16.into(), (BFLOAT, 16)),
        (DataType::F64.into(), (FLOAT, 64)),
        (DataType::I8.into(), (INT, 8)),
        (DataType::I16.into(), (INT, 16)),
        (DataType::I32.into(), (INT, 32)),
        (DataType::I64.into(), (INT, 64)),
        (DataType::U8.into(), (UINT, 8)),
        (ElementType::U16, (UINT, 16)),
        (ElementType::U32, (UINT, 32)),
        (ElementType::U64, (UINT, 64)),
        (ElementType::BOOL, (BOOL, 8)),
        (ElementType::COMPLEX32, (COMPLEX, 32)),
        (ElementType::COMPLEX64, (COMPLEX, 64)),
        (ElementType::COMPLEX128, (COMPLEX, 128)),
    ]
}

pub(super) fn to_dlpack(kind: ElementType) -> Result<DLDataType> {
    match pairs().into_iter().find(|(own, _)| *own == kind) {
        Some((_, (code, bits))) => Ok(DLDataType { code, bits, lanes: 1 }),
        None => Err(Error::invalid(format!("elements of the type {}, which DLPack has no name for", kind.number()))),
    }
}

pub(super) fn from_dlpack(dtype: DLDataType) -> Result<ElementType> {
    let DLDataType { code, bits, lanes } = dtype;
    match pairs().into_iter().find(|(_, theirs)| *theirs == (code, bits)) {
        Some((own, _)) if lanes == 1 => Ok(own),
        _ => {
            let text =
                format!("elements of DLPack's kind {code} with {bits} bits in {lanes} lanes, which no type here is");
            Err(Error::invalid(text))
        }
    }
}
