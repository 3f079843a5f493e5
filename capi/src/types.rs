//! Names for the numbers of element types and formats that the header takes and gives.

/// Element types: floats of 32 bits.
pub const RACL_TYPE_FLOAT: i32 = 0;
/// Floats of 16 bits.
pub const RACL_TYPE_FLOAT16: i32 = 1;
/// Signed integers of 8 bits.
pub const RACL_TYPE_INT8: i32 = 2;
/// Of 32 bits.
pub const RACL_TYPE_INT32: i32 = 3;
/// Unsigned integers of 8 bits.
pub const RACL_TYPE_UINT8: i32 = 4;
/// Signed integers of 16 bits.
pub const RACL_TYPE_INT16: i32 = 6;
/// Unsigned integers of 16 bits.
pub const RACL_TYPE_UINT16: i32 = 7;
/// Of 32 bits.
pub const RACL_TYPE_UINT32: i32 = 8;
/// Signed integers of 64 bits.
pub const RACL_TYPE_INT64: i32 = 9;
/// Unsigned ones of 64 bits.
pub const RACL_TYPE_UINT64: i32 = 10;
/// Floats of 64 bits.
pub const RACL_TYPE_DOUBLE: i32 = 11;
/// Truth values, a byte each.
pub const RACL_TYPE_BOOL: i32 = 12;
/// Complex numbers of two floats of 32 bits.
pub const RACL_TYPE_COMPLEX64: i32 = 16;
/// Of two floats of 64 bits.
pub const RACL_TYPE_COMPLEX128: i32 = 17;
/// Floats of 16 bits with the exponent of 32.
pub const RACL_TYPE_BF16: i32 = 27;
/// Integers of 4 bits, two in a byte.
pub const RACL_TYPE_INT4: i32 = 29;
/// Unsigned integers of 1 bit, eight in a byte.
pub const RACL_TYPE_UINT1: i32 = 30;
/// Complex numbers of two floats of 16 bits.
pub const RACL_TYPE_COMPLEX32: i32 = 33;
/// Floats of 8 bits whose exponent and mantissa vary in size.
pub const RACL_TYPE_HIFLOAT8: i32 = 34;
/// Floats of 8 bits with 5 of exponent and 2 of mantissa.
pub const RACL_TYPE_FLOAT8_E5M2: i32 = 35;
/// With 4 of exponent and 3 of mantissa, without infinities.
pub const RACL_TYPE_FLOAT8_E4M3FN: i32 = 36;
/// 8 bits of exponent alone: scales.
pub const RACL_TYPE_FLOAT8_E8M0: i32 = 37;
/// Floats of 4 bits with 2 of exponent and 1 of mantissa.
pub const RACL_TYPE_FLOAT4_E2M1: i32 = 40;
/// With 1 of exponent and 2 of mantissa.
pub const RACL_TYPE_FLOAT4_E1M2: i32 = 41;

/// Formats: images as batch, channels, height, width.
pub const RACL_FORMAT_NCHW: i32 = 0;
/// Images as batch, height, width, channels.
pub const RACL_FORMAT_NHWC: i32 = 1;
/// Any dimensions, laid out by strides.
pub const RACL_FORMAT_ND: i32 = 2;
/// Images in blocks of channels.
pub const RACL_FORMAT_NC1HWC0: i32 = 3;
/// Filters in blocks.
pub const RACL_FORMAT_FRACTAL_Z: i32 = 4;
/// Matrices in blocks, as the cube units read them.
pub const RACL_FORMAT_FRACTAL_NZ: i32 = 29;
/// Volumes as batch, channels, depth, height, width.
pub const RACL_FORMAT_NCDHW: i32 = 30;
/// Sequences as batch, channels, length.
pub const RACL_FORMAT_NCL: i32 = 47;

#[cfg(test)]
mod tests {
    use racl::op::{DataType, ElementType, Format};

    use super::*;

    #[test]
    fn they_are_the_numbers_of_the_library() {
        let known = [
            (RACL_TYPE_FLOAT, DataType::F32.into()),
            (RACL_TYPE_FLOAT16, DataType::F16.into()),
            (RACL_TYPE_INT8, DataType::I8.into()),
            (RACL_TYPE_INT32, DataType::I32.into()),
            (RACL_TYPE_UINT8, DataType::U8.into()),
            (RACL_TYPE_INT16, DataType::I16.into()),
            (RACL_TYPE_UINT16, ElementType::U16),
            (RACL_TYPE_UINT32, ElementType::U32),
            (RACL_TYPE_INT64, DataType::I64.into()),
            (RACL_TYPE_UINT64, ElementType::U64),
            (RACL_TYPE_DOUBLE, DataType::F64.into()),
            (RACL_TYPE_BOOL, ElementType::BOOL),
            (RACL_TYPE_COMPLEX64, ElementType::COMPLEX64),
            (RACL_TYPE_COMPLEX128, ElementType::COMPLEX128),
            (RACL_TYPE_BF16, DataType::Bf16.into()),
            (RACL_TYPE_INT4, ElementType::I4),
            (RACL_TYPE_UINT1, ElementType::U1),
            (RACL_TYPE_COMPLEX32, ElementType::COMPLEX32),
            (RACL_TYPE_HIFLOAT8, ElementType::HIFLOAT8),
            (RACL_TYPE_FLOAT8_E5M2, ElementType::F8_E5M2),
            (RACL_TYPE_FLOAT8_E4M3FN, ElementType::F8_E4M3FN),
            (RACL_TYPE_FLOAT8_E8M0, ElementType::F8_E8M0),
            (RACL_TYPE_FLOAT4_E2M1, ElementType::F4_E2M1),
            (RACL_TYPE_FLOAT4_E1M2, ElementType::F4_E1M2),
        ];
        for (number, of) in known {
            assert_eq!(number, of.number(), "{of:?}");
        }
        // All that have a name in racl.
        let named = (0..256).filter(|number| ElementType::of_number(*number).is_some()).count();
        assert_eq!(known.len(), named);
        let formats = [
            (RACL_FORMAT_NCHW, Format::NCHW),
            (RACL_FORMAT_NHWC, Format::NHWC),
            (RACL_FORMAT_ND, Format::ND),
            (RACL_FORMAT_NC1HWC0, Format::NC1HWC0),
            (RACL_FORMAT_FRACTAL_Z, Format::FRACTAL_Z),
            (RACL_FORMAT_FRACTAL_NZ, Format::FRACTAL_NZ),
            (RACL_FORMAT_NCDHW, Format::NCDHW),
            (RACL_FORMAT_NCL, Format::NCL),
        ];
        for (number, of) in formats {
            assert_eq!(Format::new(number), of);
        }
    }
}
