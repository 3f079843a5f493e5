//! Image preprocessing (AIPP) whose parameters a run sets.

use std::sync::Arc;

use acl_sys::{aclAippInputFormat, aclmdlAIPP, aclmdlInputAippType};

use super::bind::ModelKey;
use super::run::{ModelRun, find};
use crate::call::{call, pointer};
use crate::context::ContextInner;
use crate::error::{Error, ErrorKind, Result};

/// How the bytes of an image lie.
///
/// Source of what each is: the guide to AIPP, `aclmdlSetAIPPInputFormat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(alias = "aclAippInputFormat")]
pub enum ImageFormat {
    /// All brightnesses, then the two colours of each two by two pixels in turn: NV12. Width and height are even.
    #[doc(alias = "ACL_YUV420SP_U8")]
    Yuv420Sp,
    /// Four bytes a pixel, of which three are used: the first three, or the last three with
    /// [`Preprocessing::skip_first_channel`].
    #[doc(alias = "ACL_XRGB8888_U8")]
    Xrgb8888,
    /// Three bytes a pixel.
    #[doc(alias = "ACL_RGB888_U8")]
    Rgb888,
    /// Brightness alone, one byte a pixel.
    #[doc(alias = "ACL_YUV400_U8")]
    Yuv400,
}

impl ImageFormat {
    /// The bytes of one image of so many pixels.
    ///
    /// ```
    /// assert_eq!(racl::ImageFormat::Yuv420Sp.bytes(4, 2), 12);
    /// ```
    #[must_use]
    pub fn bytes(self, width: u32, height: u32) -> usize {
        let pixels = width as usize * height as usize;
        match self {
            Self::Yuv420Sp => pixels * 3 / 2,
            Self::Xrgb8888 => pixels * 4,
            Self::Rgb888 => pixels * 3,
            Self::Yuv400 => pixels,
        }
    }

    fn raw(self) -> aclAippInputFormat {
        match self {
            Self::Yuv420Sp => aclAippInputFormat::ACL_YUV420SP_U8,
            Self::Xrgb8888 => aclAippInputFormat::ACL_XRGB8888_U8,
            Self::Rgb888 => aclAippInputFormat::ACL_RGB888_U8,
            Self::Yuv400 => aclAippInputFormat::ACL_YUV400_U8,
        }
    }
}

/// A conversion of colours: each channel of the result is a row of the matrix times the three channels, in 256ths.
///
/// For images in YUV `input_bias` is taken away before, for others `output_bias` is added behind (guide to AIPP, colour
/// space conversion). Results below 0 become 0, above 255 they become 255.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(alias = "aclmdlSetAIPPCscParams")]
pub struct ColorConversion {
    /// Rows for the channels of the result; -32677 to 32676 each.
    pub matrix: [[i16; 3]; 3],
    /// For [`ImageFormat::Yuv420Sp`].
    pub input_bias: [u8; 3],
    /// For the others.
    pub output_bias: [u8; 3],
}

impl ColorConversion {
    /// From the YUV of JPEG files to RGB.
    pub const JPEG_TO_RGB: Self = Self::from_yuv([[256, 0, 359], [256, -88, -183], [256, 454, 0]], [0, 128, 128]);
    /// From YUV of BT.601 in its narrow range (16 to 235) to RGB.
    pub const BT601_NARROW_TO_RGB: Self =
        Self::from_yuv([[298, 0, 409], [298, -100, -208], [298, 516, 0]], [16, 128, 128]);
    /// From YUV of BT.709 in its narrow range (16 to 235) to RGB.
    pub const BT709_NARROW_TO_RGB: Self =
        Self::from_yuv([[298, 0, 459], [298, -55, -136], [298, 541, 0]], [16, 128, 128]);

    const fn from_yuv(matrix: [[i16; 3]; 3], input_bias: [u8; 3]) -> Self {
        Self { matrix, input_bias, output_bias: [0; 3] }
    }
}

/// What is done with one image of a batch: a part of it is taken, numbers are made of its bytes, and it gets a margin.
/// As [`ImageSteps::default`] has it, nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct ImageSteps {
    crop: Option<[u32; 4]>,
    margin: Option<[u32; 4]>,
    means: [u8; 4],
    minima: [f32; 4],
    factors: [f32; 4],
}

impl Default for ImageSteps {
    fn default() -> Self {
        Self { crop: None, margin: None, means: [0; 4], minima: [0.0; 4], factors: [1.0; 4] }
    }
}

impl ImageSteps {
    /// Takes the pixels from `x` and `y` on, `width` by `height`. Of [`ImageFormat::Yuv420Sp`] `x` and `y` are even.
    #[doc(alias = "aclmdlSetAIPPCropParams")]
    pub fn crop(mut self, x: u32, y: u32, width: u32, height: u32) -> Self {
        self.crop = Some([x, y, width, height]);
        self
    }

    /// Puts zeros around it, at most 32 on each side.
    #[doc(alias = "aclmdlSetAIPPPaddingParams")]
    pub fn margin(mut self, top: u32, bottom: u32, left: u32, right: u32) -> Self {
        self.margin = Some([top, bottom, left, right]);
        self
    }

    /// Each channel becomes `(byte - mean - minimum) * factor`, of halves, behind conversions and swaps; the minima are 0
    /// to 255, the factors -65504 to 65504. Only of models that take numbers, not bytes.
    #[doc(alias = "aclmdlSetAIPPDtcPixelMean")]
    #[doc(alias = "aclmdlSetAIPPDtcPixelMin")]
    #[doc(alias = "aclmdlSetAIPPPixelVarReci")]
    pub fn normalise(mut self, means: [u8; 3], minima: [f32; 3], factors: [f32; 3]) -> Self {
        self.means[..3].copy_from_slice(&means);
        self.minima[..3].copy_from_slice(&minima);
        self.factors[..3].copy_from_slice(&factors);
        self
    }

    /// Width and height of the result.
    fn result(&self, width: u32, height: u32) -> (u64, u64) {
        let [_, _, width, height] = self.crop.unwrap_or([0, 0, width, height]).map(u64::from);
        let [top, bottom, left, right] = self.margin.unwrap_or_default().map(u64::from);
        (width + left + right, height + top + bottom)
    }

    fn check(&self, of: &Preprocessing) -> std::result::Result<(), String> {
        if let Some([x, y, width, height]) = self.crop {
            let fits =
                |from: u32, size: u32, all: u32| size > 0 && from.checked_add(size).is_some_and(|end| end <= all);
            if !fits(x, width, of.width) || !fits(y, height, of.height) {
                return Err(format!("a crop of {width} x {height} at {x}, {y} of {} x {}", of.width, of.height));
            }
            if of.format == ImageFormat::Yuv420Sp && (x % 2 != 0 || y % 2 != 0) {
                return Err(format!("a crop of YUV420SP at {x}, {y}, which are to be even"));
            }
        }
        if self.margin.is_some_and(|margin| margin.iter().any(|side| *side > 32)) {
            return Err("a margin of over 32".to_owned());
        }
        let numbers = |numbers: &[f32; 4], least: f32, most: f32| numbers.iter().all(|x| (least..=most).contains(x));
        if !numbers(&self.minima, 0.0, 255.0) || !numbers(&self.factors, -65504.0, 65504.0) {
            return Err("minima are 0 to 255, factors -65504 to 65504".to_owned());
        }
        Ok(())
    }
}

/// Parameters of image preprocessing (dynamic AIPP) for one run: how the images of an input lie in memory, and what is made
/// of them before the network reads them. For models that were built to be told with each run; preprocessing that was
/// built in needs nothing.
///
/// The device does it in this order: a part is taken, channels are swapped and colours converted, bytes become numbers,
/// and a margin is added. What comes out has to have the size that the network takes.
///
/// # Examples
///
/// ```
/// use racl::mock::ModelFile;
/// use racl::{ImageFormat, ImageSteps, Preprocessing};
///
/// let device = racl::Acl::mock()?.device(0)?;
/// // On a card a file of atc, whose AIPP configuration has `aipp_mode: dynamic`. Images of up to 48 bytes become 3 x 2 x 2.
/// let file = ModelFile::new().input::<u8>("image", &[1, 48]).output::<half::f16>("y", &[1, 3, 2, 2]);
/// let file = file.preprocess("image", 1, "y");
/// let model = device.context().load_model_bytes(file.bytes()?)?;
/// let pixels: Vec<u8> = (0..48).collect(); // 4 x 4 of three bytes
/// let image = device.upload_tensor(&pixels, [1, 48])?;
/// let mut y = device.zeros::<half::f16>([1, 3, 2, 2])?;
/// let steps = ImageSteps::default().crop(1, 1, 2, 2).normalise([1, 1, 1], [0.0; 3], [0.5; 3]);
/// let told = Preprocessing::new(ImageFormat::Rgb888, 4, 4).steps(steps);
/// model.run().input("image", &image)?.preprocessing("image", told)?.output("y", &mut y)?.wait()?;
/// assert_eq!(y.to_vec()?[..2], [7.0, 8.5].map(half::f16::from_f32)); // of the bytes 15 and 18
/// # Ok::<(), racl::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[doc(alias = "aclmdlAIPP")]
#[doc(alias = "aclmdlSetAIPPSrcImageSize")]
pub struct Preprocessing {
    format: ImageFormat,
    width: u32,
    height: u32,
    swap: bool,
    skip: bool,
    conversion: Option<ColorConversion>,
    images: Vec<ImageSteps>,
}

/// As many as the guide has room for (`aclmdlCreateAIPP`).
const MOST_IMAGES: usize = 127;

impl Preprocessing {
    /// For one image of so many pixels, of which nothing is done: 2 to 4096 wide, 1 to 4096 high.
    pub fn new(format: ImageFormat, width: u32, height: u32) -> Self {
        let images = vec![ImageSteps::default()];
        Self { format, width, height, swap: false, skip: false, conversion: None, images }
    }

    /// How many images there are, 1 to 127: as many as the model was built for, or the most of them where a run chooses.
    /// New ones have the steps of the last one.
    #[doc(alias = "aclmdlCreateAIPP")]
    pub fn images(mut self, count: usize) -> Self {
        let last = self.images.last().copied().unwrap_or_default();
        // One too many is enough to be refused.
        self.images.resize(count.min(MOST_IMAGES + 1), last);
        self
    }

    /// What is done with each image.
    pub fn steps(mut self, steps: ImageSteps) -> Self {
        self.images.fill(steps);
        self
    }

    /// What is done with the image of this number. One that there is not is ignored.
    pub fn steps_of(mut self, image: usize, steps: ImageSteps) -> Self {
        if let Some(of) = self.images.get_mut(image) {
            *of = steps;
        }
        self
    }

    /// Swaps red and blue, or the two colours of YUV, before a conversion.
    #[doc(alias = "aclmdlSetAIPPRbuvSwapSwitch")]
    pub fn swap_channels(mut self, swap: bool) -> Self {
        self.swap = swap;
        self
    }

    /// Of [`ImageFormat::Xrgb8888`] the last three channels are used, and not the first three.
    #[doc(alias = "aclmdlSetAIPPAxSwapSwitch")]
    pub fn skip_first_channel(mut self, skip: bool) -> Self {
        self.skip = skip;
        self
    }

    /// Converts colours; not of [`ImageFormat::Yuv400`], which has none.
    pub fn convert(mut self, conversion: ColorConversion) -> Self {
        self.conversion = Some(conversion);
        self
    }

    fn check(&self) -> std::result::Result<(), String> {
        let (width, height) = (self.width, self.height);
        if !(2..=4096).contains(&width) || !(1..=4096).contains(&height) {
            return Err(format!("{width} x {height} pixels: 2 to 4096 wide, 1 to 4096 high"));
        }
        if self.format == ImageFormat::Yuv420Sp && (width % 2 != 0 || height % 2 != 0) {
            return Err(format!("{width} x {height} pixels of YUV420SP, which are to be even"));
        }
        if self.format == ImageFormat::Yuv400 && self.conversion.is_some() {
            return Err("YUV400 has no colours to convert".to_owned());
        }
        let coefficients = self.conversion.iter().flat_map(|conversion| conversion.matrix.as_flattened());
        if let Some(wrong) = coefficients.into_iter().find(|x| !(-32677..=32676).contains(*x)) {
            return Err(format!("{wrong} in a matrix, -32677 to 32676"));
        }
        if !(1..=MOST_IMAGES).contains(&self.images.len()) {
            return Err(format!("no image, or over {MOST_IMAGES}"));
        }
        let first = self.images[0].result(width, height);
        for (index, steps) in self.images.iter().enumerate() {
            steps.check(self).map_err(|text| format!("image {index}: {text}"))?;
            let (wide, high) = steps.result(width, height);
            if (wide, high) != first {
                return Err(format!("image {index} becomes {wide} x {high}, the first {} x {}", first.0, first.1));
            }
        }
        Ok(())
    }

    /// As the library has it.
    pub(super) fn told(&self, context: &Arc<ContextInner>) -> Result<Told> {
        // SAFETY: the call takes a number.
        let raw = unsafe { pointer!(&**context, aclmdlCreateAIPP(self.images.len() as u64)) }?;
        let told = Told { raw, context: Arc::clone(context) };
        let (width, height) = (self.width as i32, self.height as i32);
        // SAFETY: live parameters; here and below numbers, in their ranges.
        unsafe { call!(&**context, aclmdlSetAIPPInputFormat(raw, self.format.raw())) }?;
        // SAFETY: as above.
        unsafe { call!(&**context, aclmdlSetAIPPSrcImageSize(raw, width, height)) }?;
        if self.swap {
            // SAFETY: as above.
            unsafe { call!(&**context, aclmdlSetAIPPRbuvSwapSwitch(raw, 1)) }?;
        }
        if self.skip {
            // SAFETY: as above.
            unsafe { call!(&**context, aclmdlSetAIPPAxSwapSwitch(raw, 1)) }?;
        }
        if let Some(conversion) = &self.conversion {
            let ([[a, b, c], [d, e, f], [g, h, i]], [o, p, q], [r, s, t]) =
                (conversion.matrix, conversion.output_bias, conversion.input_bias);
            // SAFETY: as above.
            unsafe {
                call!(&**context, aclmdlSetAIPPCscParams(raw, 1, a, b, c, d, e, f, g, h, i, o, p, q, r, s, t))
            }?;
        }
        self.images.iter().zip(0..).try_for_each(|(steps, index)| told.tell(steps, index))?;
        Ok(told)
    }
}

/// Parameters of the library.
pub(super) struct Told {
    raw: *mut aclmdlAIPP,
    context: Arc<ContextInner>,
}

impl Told {
    pub(super) fn raw(&self) -> *const aclmdlAIPP {
        self.raw
    }

    fn tell(&self, steps: &ImageSteps, index: u64) -> Result<()> {
        let (context, raw) = (&*self.context, self.raw);
        if let Some([x, y, width, height]) = steps.crop.map(|crop| crop.map(|number| number as i32)) {
            // SAFETY: live parameters; here and below numbers, in their ranges, of an image that there is.
            unsafe { call!(context, aclmdlSetAIPPCropParams(raw, 1, x, y, width, height, index)) }?;
        }
        if let Some([top, bottom, left, right]) = steps.margin.map(|margin| margin.map(|number| number as i32)) {
            // SAFETY: as above.
            unsafe { call!(context, aclmdlSetAIPPPaddingParams(raw, 1, top, bottom, left, right, index)) }?;
        }
        let [a, b, c, d] = steps.means.map(i16::from);
        // SAFETY: as above.
        unsafe { call!(context, aclmdlSetAIPPDtcPixelMean(raw, a, b, c, d, index)) }?;
        let [a, b, c, d] = steps.minima;
        // SAFETY: as above.
        unsafe { call!(context, aclmdlSetAIPPDtcPixelMin(raw, a, b, c, d, index)) }?;
        let [a, b, c, d] = steps.factors;
        // SAFETY: as above.
        unsafe { call!(context, aclmdlSetAIPPPixelVarReci(raw, a, b, c, d, index)) }
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        // SAFETY: the parameters are this value's own and destroyed once.
        if let Err(error) = unsafe { call!(&*self.context, aclmdlDestroyAIPP(self.raw)) } {
            self.context.record_drop_error("destroying parameters of image preprocessing", error);
        }
    }
}

impl ModelRun<'_> {
    /// Says what is made of the images of an input, of a model that was built to be told so with each run. A second call for
    /// one input replaces the first.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for no such input, one whose images the model does nothing with or takes as it was
    /// built, and parameters that go against each other. What goes against the model, such as another size of the result,
    /// the library refuses when the run is submitted.
    #[doc(alias = "aclmdlSetInputAIPP")]
    #[doc(alias = "aclmdlSetAIPPByInputIndex")]
    #[doc(alias = "aclmdlGetAippType")]
    pub fn preprocessing(mut self, key: impl ModelKey, told: Preprocessing) -> Result<Self> {
        let about = self.model.description();
        let index = find(&about.inputs, &key, "input")?;
        let says = |text: &str| Error::invalid(format!("{:?} of the model: {text}", about.inputs[index].name));
        told.check().map_err(|text| says(&text))?;
        let (context, id) = (self.model.loaded.context(), self.model.loaded.id()?);
        let (mut kind, mut attached) = (aclmdlInputAippType::ACL_DATA_WITHOUT_AIPP, 0);
        let at = about.place_of_input(index);
        // SAFETY: a loaded model, and places for a kind and a number.
        unsafe { call!(&**context, aclmdlGetAippType(id, at, &raw mut kind, &raw mut attached)) }?;
        if kind != aclmdlInputAippType::ACL_DATA_WITH_DYNAMIC_AIPP {
            return Err(says("it takes no parameters of image preprocessing in a run"));
        }
        let Some(of) = about.parameters.iter().position(|(place, _)| *place == attached) else {
            let text =
                format!("the library says that input {attached} has parameters of preprocessing, and not what it is");
            return Err(Error::new(ErrorKind::UnknownValue, text));
        };
        self.parameters[of] = Some(told);
        Ok(self)
    }
}
