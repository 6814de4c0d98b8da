//! Non-maximum suppression: of boxes that overlap, the one with the greatest score.

use kernlink::shape_inference::InferenceContext;
use kernlink::{Result, bail, ensure};
use kernlink_macros::register_op;

use crate::shapes;

#[register_op(
    attr("T: {half, float} = DT_FLOAT"),
    attr("T_threshold: {half, float} = DT_FLOAT"),
    input("boxes: T", "`[boxes, 4]`: two opposite corners each, `[y, x, y, x]`."),
    input("scores: T", "`[boxes]`."),
    input("max_output_size: int32", "The greatest number of boxes that are chosen, a scalar."),
    input(
        "iou_threshold: T_threshold",
        "Of boxes whose intersection is a greater part of their union than this, from 0 to 1, one is left out; a scalar."
    ),
    output("selected_indices: int32", "The indices of the chosen boxes, those with the greatest scores first."),
    shape_fn = suppression_shape,
)]
pub enum NonMaxSuppressions {
    /// Which boxes to keep: by falling scores, those that overlap with none that is kept already.
    NonMaxSuppressionV2,
    /// [`NonMaxSuppressionV2`] of the boxes whose scores are above `score_threshold`.
    #[op(input("score_threshold: T_threshold", "The score above which boxes are looked at, a scalar."))]
    NonMaxSuppressionV3,
    /// [`NonMaxSuppressionV3`] that says how many boxes were chosen, and may fill up with zeros.
    #[op(
        like = NonMaxSuppressionV3,
        output("valid_outputs: int32", "The number of chosen boxes, a scalar."),
        attr("pad_to_max_output_size: bool = false", "Whether zeros follow until there are `max_output_size` indices."),
        shape_fn = counted_suppression_shape,
    )]
    NonMaxSuppressionV4,
}

/// Which boxes to keep: by falling scores, those that overlap with none that is kept already.
#[register_op(
    input("boxes: float", "`[boxes, 4]`: two opposite corners each, `[y, x, y, x]`."),
    input("scores: float", "`[boxes]`."),
    input("max_output_size: int32", "The greatest number of boxes that are chosen, a scalar."),
    output("selected_indices: int32", "The indices of the chosen boxes, those with the greatest scores first."),
    attr(
        "iou_threshold: float = 0.5",
        "Of boxes whose intersection is a greater part of their union than this, from 0 to 1, one is left out."
    ),
    shape_fn = suppression_shape,
)]
pub struct NonMaxSuppression;

/// Which boxes to keep, where boxes that overlap with kept ones may also lose a part of their scores instead.
///
/// With `soft_nms_sigma` above 0 no box is left out for its overlaps: its score is multiplied by
/// `exp(-overlap² / (2 * sigma))` for each kept box, and it is kept once it is the greatest that way. See Bodla and others,
/// "Soft-NMS: Improving Object Detection With One Line of Code", 2017.
#[register_op(
    input("boxes: T", "`[boxes, 4]`: two opposite corners each, `[y, x, y, x]`."),
    input("scores: T", "`[boxes]`."),
    input("max_output_size: int32", "The greatest number of boxes that are chosen, a scalar."),
    input(
        "iou_threshold: T",
        "Of boxes whose intersection is a greater part of their union than this, from 0 to 1, one is left out; a scalar."
    ),
    input("score_threshold: T", "The score above which boxes are looked at, a scalar."),
    input("soft_nms_sigma: T", "How fast scores fall with the overlap; 0, for not at all, or more; a scalar."),
    output("selected_indices: int32", "The indices of the chosen boxes, those with the greatest scores first."),
    output("selected_scores: T", "Their scores, as they have become."),
    output("valid_outputs: int32", "The number of chosen boxes, a scalar."),
    attr("T: {half, float} = DT_FLOAT"),
    attr("pad_to_max_output_size: bool = false", "Whether zeros follow until there are `max_output_size` indices."),
    shape_fn = soft_suppression_shape,
)]
pub struct NonMaxSuppressionV5;

/// Which boxes to keep, by a matrix of how much they overlap.
#[register_op(
    input("overlaps: float", "`[boxes, boxes]`: how much each two overlap."),
    input("scores: float", "`[boxes]`."),
    input("max_output_size: int32", "The greatest number of boxes that are chosen, a scalar."),
    input("overlap_threshold: float", "Of boxes that overlap more than this one is left out, a scalar."),
    input("score_threshold: float", "The score above which boxes are looked at, a scalar."),
    output("selected_indices: int32", "The indices of the chosen boxes, those with the greatest scores first."),
    shape_fn = overlaps_shape,
)]
pub struct NonMaxSuppressionWithOverlaps;

/// The best boxes of all classes of each image, after those of each class that overlap are left out.
#[register_op(
    input("boxes: float", "`[batch, boxes, q, 4]`, where `q` is 1 if all classes have the same boxes, or the number of classes."),
    input("scores: float", "`[batch, boxes, classes]`."),
    input("max_output_size_per_class: int32", "The greatest number of boxes of a class, a scalar."),
    input("max_total_size: int32", "The greatest number of boxes of an image, a scalar."),
    input(
        "iou_threshold: float",
        "Of boxes whose intersection is a greater part of their union than this, from 0 to 1, one is left out; a scalar."
    ),
    input("score_threshold: float", "The score above which boxes are looked at, a scalar."),
    output("nmsed_boxes: float", "`[batch, detections, 4]`, those with the greatest scores first; zeros where there are fewer."),
    output("nmsed_scores: float", "`[batch, detections]`."),
    output("nmsed_classes: float", "`[batch, detections]`: the indices of the classes."),
    output("valid_detections: int32", "`[batch]`: the numbers of detections, without what fills up."),
    attr(
        "pad_per_class: bool = false",
        "Whether there are at most `max_output_size_per_class * classes` detections, not always `max_total_size`."
    ),
    attr("clip_boxes: bool = true", "Whether the coordinates of the boxes are clipped to the range from 0 to 1."),
    shape_fn = combined_suppression_shape,
)]
pub struct CombinedNonMaxSuppression;

/// Inputs 0 and 1 are boxes and their scores, the others scalars.
fn boxes_and_scores(c: &InferenceContext<'_>) -> Result<()> {
    let boxes = c.with_rank(c.input(0), 2)?;
    let scores = c.with_rank(c.input(1), 1)?;
    for index in 2..c.num_inputs() {
        c.with_rank(c.input(index), 0)?;
    }
    c.merge_dim(c.dim(boxes, 0), c.dim(scores, 0))?;
    c.with_value(c.dim(boxes, 1), 4)?;
    Ok(())
}

fn suppression_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    boxes_and_scores(c)?;
    shapes::output_shape(c, c.vector(c.unknown_dim()))
}

/// The first `lists` outputs are as long as there are boxes, or as input 2 says if they are filled up; the next is a scalar.
fn counted(c: &InferenceContext<'_>, lists: usize) -> Result<()> {
    boxes_and_scores(c)?;
    let pads: bool = c.attr("pad_to_max_output_size")?;
    let padded = if pads { Some(c.make_dim_for_scalar_input(2)?) } else { None };
    for index in 0..lists {
        c.set_output(index, c.vector(padded.unwrap_or_else(|| c.unknown_dim())));
    }
    c.set_output(lists, c.scalar());
    Ok(())
}

fn counted_suppression_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    counted(c, 1)
}

fn soft_suppression_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    counted(c, 2)
}

fn overlaps_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let overlaps = c.with_rank(c.input(0), 2)?;
    let scores = c.with_rank(c.input(1), 1)?;
    for index in 2..5 {
        c.with_rank(c.input(index), 0)?;
    }
    c.merge_dim(c.dim(overlaps, 0), c.dim(scores, 0))?;
    c.merge_dim(c.dim(overlaps, 0), c.dim(overlaps, 1))?;
    shapes::output_shape(c, c.vector(c.unknown_dim()))
}

fn combined_suppression_shape(c: &mut InferenceContext<'_>) -> Result<()> {
    let boxes = c.with_rank(c.input(0), 4)?;
    let scores = c.with_rank(c.input(1), 3)?;
    for index in 2..6 {
        c.with_rank(c.input(index), 0)?;
    }
    c.merge_dim(c.dim(boxes, 0), c.dim(scores, 0))?;
    c.merge_dim(c.dim(boxes, 1), c.dim(scores, 1))?;
    c.with_value(c.dim(boxes, 3), 4)?;
    let (kinds, classes) = (c.dim(boxes, 2), c.value(c.dim(scores, 2)));
    if let (Some(kinds), Some(classes)) = (c.value(kinds), classes)
        && kinds != 1
        && kinds != classes
    {
        bail!(
            InvalidArgument,
            "third dimension of boxes must be either 1 or equal to the third dimension of scores, not {kinds}"
        );
    }
    let total = c.value(c.make_dim_for_scalar_input(3)?);
    ensure!(total.is_none_or(|total| total > 0), InvalidArgument, "max_total_size should be > 0");
    let per_class = c.value(c.make_dim_for_scalar_input(2)?);
    let detections = if !c.attr::<bool>("pad_per_class")? {
        total
    } else {
        ensure!(
            per_class.is_none_or(|size| size > 0),
            InvalidArgument,
            "max_output_size_per_class must be > 0 if pad_per_class is set to true"
        );
        match (per_class, classes) {
            // An unknown total is less than all to TensorFlow, and so the dimension unknown.
            (Some(size), Some(classes)) => total.map(|total| total.min(size.saturating_mul(classes))),
            _ => None,
        }
    };
    let detections = || detections.map_or_else(|| c.unknown_dim(), |size| c.make_dim(size));
    let batch = c.dim(boxes, 0);
    c.set_output(0, c.make_shape([batch, detections(), c.make_dim(4)]));
    c.set_output(1, c.make_shape([batch, detections()]));
    c.set_output(2, c.make_shape([batch, detections()]));
    c.set_output(3, c.vector(batch));
    Ok(())
}
