//! Conversion, copies, fills, look-ups and reordering.

use crate::op::{DataType, MAX_RANK, Scalar, Shape};

use super::at;
use super::view::{HostLayout, HostView, store};

/// Casts and copies: equal types bit by bit, so that NaN keeps its payload.
pub(super) fn convert(a: &HostView<'_>, out: &HostLayout) -> Vec<u8> {
    match a.layout.dtype {
        same if same == out.dtype => a.elements(&out.dims),
        DataType::F64 => store(&a.read::<f64>(&out.dims), out.dtype),
        float if float.is_float() => store(&a.read::<f32>(&out.dims), out.dtype),
        _ => store(&a.read::<i64>(&out.dims), out.dtype),
    }
}

/// None for a number of another type.
pub(super) fn fill(value: Scalar, out: &HostLayout) -> Option<Vec<u8>> {
    Some(value.element_of(out.dtype)?[..out.dtype.size()].repeat(out.dims.elements()))
}

/// None for an order that names a dimension that is not there.
pub(super) fn permute(a: &HostView<'_>, order: &[i64], out: &HostLayout) -> Option<Vec<u8>> {
    let mut strides = [0; MAX_RANK];
    for (to, from) in strides.iter_mut().zip(order) {
        *to = a.layout.strides[at(*from, a.layout.dims.len())?];
    }
    let view = HostView { layout: HostLayout { dims: out.dims, strides, ..a.layout }, ..*a };
    Some(view.elements(&out.dims))
}

pub(super) fn embedding(table: &HostView<'_>, indices: &HostView<'_>) -> Result<Vec<u8>, String> {
    let (&[height, width], strides) = (&*table.layout.dims, table.layout.strides) else {
        return Err(format!("a table of shape {}", table.layout.dims));
    };
    let row = Shape::new(&[width]).map_err(|error| error.to_string())?;
    let mut elements = Vec::new();
    for (position, index) in indices.read::<i64>(&indices.layout.dims).into_iter().enumerate() {
        let Some(index) = usize::try_from(index).ok().filter(|index| *index < height) else {
            return Err(format!("index {index}, number {position}, in a table of {height} rows"));
        };
        let mut layout = HostLayout { dims: row, strides: [0; MAX_RANK], ..table.layout };
        layout.strides[0] = strides[1];
        layout.offset += index * strides[0] * layout.dtype.size();
        elements.extend(HostView { layout, ..*table }.elements(&row));
    }
    Ok(elements)
}
