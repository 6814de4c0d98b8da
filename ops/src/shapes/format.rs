//! Data formats: where the batch, the channels and the spatial dimensions lie.

use kernlink::ensure;
use kernlink::error::{Error, Result};

/// The layout of the inputs and outputs of convolutions and pooling.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TensorFormat {
    /// Batch, spatial dimensions, channels. Also `NDHWC`.
    Nhwc,
    /// Batch, channels, spatial dimensions. Also `NCDHW`.
    Nchw,
    /// Batch, channels / 4, spatial dimensions, 4 channels.
    NchwVectC,
    /// Batch, spatial dimensions with the last one / 4, channels, 4 places.
    NhwcVectW,
    /// Spatial dimensions, batch, channels.
    Hwnc,
    /// Spatial dimensions, channels, batch.
    Hwcn,
}

impl TensorFormat {
    /// The format that attr `data_format` names.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for another word.
    #[track_caller]
    pub fn from_name(name: &str) -> Result<TensorFormat> {
        Ok(match name {
            "NHWC" | "NDHWC" => TensorFormat::Nhwc,
            "NCHW" | "NCDHW" => TensorFormat::Nchw,
            "NCHW_VECT_C" => TensorFormat::NchwVectC,
            "NHWC_VECT_W" => TensorFormat::NhwcVectW,
            "HWNC" => TensorFormat::Hwnc,
            "HWCN" => TensorFormat::Hwcn,
            _ => return Err(Error::invalid_argument(format!("Invalid data format string: {name}"))),
        })
    }

    /// The format that attr `data_format` names, of images as kernels take them.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for formats that only devices of certain makers have.
    pub fn of_images(name: &str) -> Result<TensorFormat> {
        let format = TensorFormat::from_name(name)?;
        ensure!(
            matches!(format, TensorFormat::Nhwc | TensorFormat::Nchw),
            InvalidArgument,
            "data_format `{name}` is not supported"
        );
        Ok(format)
    }

    /// The number of dimensions with `spatial` spatial ones.
    pub const fn rank(self, spatial: usize) -> usize {
        match self {
            TensorFormat::NchwVectC | TensorFormat::NhwcVectW => spatial + 3,
            _ => spatial + 2,
        }
    }

    /// The dimension of the batch.
    pub const fn batch(self, spatial: usize) -> usize {
        match self {
            TensorFormat::Hwnc => spatial,
            TensorFormat::Hwcn => spatial + 1,
            _ => 0,
        }
    }

    /// The dimension of the channels.
    pub const fn channel(self, spatial: usize) -> usize {
        match self {
            TensorFormat::Nhwc | TensorFormat::NhwcVectW | TensorFormat::Hwnc => spatial + 1,
            TensorFormat::Nchw | TensorFormat::NchwVectC => 1,
            TensorFormat::Hwcn => spatial,
        }
    }

    /// The first spatial dimension; the others follow it.
    pub const fn first_spatial(self) -> usize {
        match self {
            TensorFormat::Nhwc | TensorFormat::NhwcVectW => 1,
            TensorFormat::Nchw | TensorFormat::NchwVectC => 2,
            TensorFormat::Hwnc | TensorFormat::Hwcn => 0,
        }
    }

    /// The dimension of the 4 channels or places that lie together.
    pub const fn inner(self, spatial: usize) -> Option<usize> {
        match self {
            TensorFormat::NchwVectC | TensorFormat::NhwcVectW => Some(spatial + 2),
            _ => None,
        }
    }
}

/// The layout of the filters of two-dimensional convolutions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FilterFormat {
    /// Height, width, input channels, output channels.
    Hwio,
    /// Output channels, input channels, height, width.
    Oihw,
    /// Output channels, height, width, input channels.
    Ohwi,
    /// Output channels, input channels / 4, height, width, 4 input channels.
    OihwVectI,
}

impl FilterFormat {
    /// The format that attr `filter_format` names.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for another word.
    #[track_caller]
    pub fn from_name(name: &str) -> Result<FilterFormat> {
        Ok(match name {
            "HWIO" => FilterFormat::Hwio,
            "OIHW" => FilterFormat::Oihw,
            "OHWI" => FilterFormat::Ohwi,
            "OIHW_VECT_I" => FilterFormat::OihwVectI,
            _ => return Err(Error::invalid_argument(format!("Invalid filter format string: {name}"))),
        })
    }

    /// The dimension of the height; that of the width follows it.
    pub const fn height(self) -> usize {
        match self {
            FilterFormat::Hwio => 0,
            FilterFormat::Oihw | FilterFormat::OihwVectI => 2,
            FilterFormat::Ohwi => 1,
        }
    }

    /// The dimension of the input channels.
    pub const fn input(self) -> usize {
        match self {
            FilterFormat::Hwio => 2,
            FilterFormat::Oihw | FilterFormat::OihwVectI => 1,
            FilterFormat::Ohwi => 3,
        }
    }

    /// The dimension of the output channels.
    pub const fn output(self) -> usize {
        match self {
            FilterFormat::Hwio => 3,
            _ => 0,
        }
    }
}
