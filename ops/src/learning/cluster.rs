//! Clusters of points.

use kernlink_macros::register_op;

use crate::shapes;

/// Picks points that are far from one another as first centres of clusters: k-means++.
///
/// (D. Arthur and S. Vassilvitskii, k-means++: The Advantages of Careful Seeding, 2007.) The first is any point; each further one
/// is drawn with a chance that grows with the squared distance to the nearest of those before.
#[register_op(
    input("points: float", "One row a point."),
    input("num_to_sample: int64", "How many to pick, a scalar."),
    input("seed: int64", "What the random numbers depend on, a scalar."),
    input("num_retries_per_sample: int64", "How many more are drawn for each, of which the best stays; −1 for 2 + ln of the number."),
    output("samples: float", "One row a point that was picked."),
    shape_fn = shapes::unknown,
)]
pub struct KmeansPlusPlusInitialization;

/// Picks one of several candidates, with a chance that grows with its distance, by a Markov chain.
///
/// (O. Bachem and others, Approximate K-Means++ in Sublinear Time, 2016.)
#[register_op(
    input("distances: float", "The squared distance of each candidate to the nearest centre."),
    input("seed: int64", "What the random numbers depend on, a scalar."),
    output("index: int64", "Which candidate, a scalar."),
    shape_fn = shapes::scalar_shape,
)]
pub struct KMC2ChainInitialization;

/// The nearest centres of each point, the nearest first.
#[register_op(
    input("points: float", "One row a point."),
    input("centers: float", "One row a centre."),
    input("k: int64", "How many centres are wanted of each, a scalar; there are no more than all."),
    output("nearest_center_indices: int64", "One row a point."),
    output("nearest_center_distances: float", "The squared distances."),
    shape_fn = shapes::unknown,
)]
pub struct NearestNeighbors;
