//! The kernels of Newton's method over groups of rows.
//!
//! Sums over the blocks of a group are taken block by block, as if there were no groups.
#![allow(clippy::needless_range_loop)]

use super::block6::{Block6, Vector6, add_outer, staggered, subtract_outer};
use super::row_groups::{Kind, NO_BLOCK, RowGroup};
use crate::math::Mat3;
use crate::simd::{F4, Kernel, Lanes, V4, Vec4, load_rows, load3};

/// Evaluates the augmented impulses at a velocity change and their projections, and adds the
/// momentum `-J^T P(z)` of each body.
pub(crate) struct Evaluate<'a> {
    pub(crate) groups: &'a mut [RowGroup],
    /// By body of the island, followed by zero for the environment.
    pub(crate) change: &'a [Vector6],
    pub(crate) momentum: &'a mut [Vector6],
}

impl Kernel for Evaluate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for group in self.groups {
            let u = Vec4::load(&group.free_velocity) + relative::<L>(group, self.change);
            let rho = L::load(&group.rho);
            let mut z = Vec4::load(&group.multiplier) - u.scale(rho);
            let impulse = match group.kind {
                // The part of `u + softness r = 0` in the multiplier itself is solved for directly.
                Kind::Bilateral => {
                    let by = L::splat(1.0) + rho * L::load(&group.softness);
                    z = Vec4::new(z.x / by, z.y / by, z.z / by);
                    z
                }
                Kind::Unilateral => {
                    let zero = L::splat(0.0);
                    Vec4::new(z.x.max(zero), zero, zero)
                }
                Kind::Contact => project(z, L::load(&group.friction)),
            };
            z.store(&mut group.augmented);
            impulse.store(&mut group.impulse);
            let linear = combine(&load_rows(&group.linear), impulse);
            for side in 0..2 {
                let body = group.bodies[side] as usize;
                if let Some(sum) = self.momentum.get_mut(body) {
                    let angular = combine(&load_rows(&group.angular[side]), impulse);
                    add_lanes::<L>(sum, linear, angular, side == 0);
                }
            }
        }
    }
}

/// Subtracts the relative velocity due to `change` from the free velocity of each group.
pub(crate) struct Release<'a> {
    pub(crate) groups: &'a mut [RowGroup],
    pub(crate) change: &'a [Vector6],
}

impl Kernel for Release<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for group in self.groups {
            let free = Vec4::load(&group.free_velocity) - relative::<L>(group, self.change);
            free.store(&mut group.free_velocity);
        }
    }
}

/// Adds the velocity changes due to the multipliers.
pub(crate) struct Accumulate<'a> {
    pub(crate) groups: &'a [RowGroup],
    /// Inverse mass and inverse inertia of each body of the island.
    pub(crate) inverses: &'a [(f64, Mat3)],
    pub(crate) change: &'a mut [Vector6],
}

impl Kernel for Accumulate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for group in self.groups {
            let impulse = Vec4::<L>::load(&group.multiplier);
            let linear = combine(&load_rows(&group.linear), impulse);
            for side in 0..2 {
                let body = group.bodies[side] as usize;
                if let Some((mass, inertia)) = self.inverses.get(body) {
                    let angular = combine(&load_rows(&group.angular[side]), impulse);
                    let turned = times_matrix(inertia, angular);
                    let change = &mut self.change[body];
                    add_lanes::<L>(change, linear.scale(L::splat(*mass)), turned, side == 1);
                }
            }
        }
    }
}

/// Adds `rho J^T P' J` at the last evaluated impulses to the blocks of a matrix.
pub(crate) struct Assemble<'a> {
    pub(crate) groups: &'a [RowGroup],
    pub(crate) blocks: &'a mut [Block6],
}

impl Kernel for Assemble<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for group in self.groups {
            let slope = slope::<L>(group);
            let mut active = F4::ZERO;
            slope[0].store(&mut active);
            if active == F4::ZERO {
                continue;
            }
            let linear = mix(&slope, &load_rows(&group.linear));
            let columns = [
                right(&linear, &mix(&slope, &load_rows(&group.angular[0]))),
                right(&linear, &mix(&slope, &load_rows(&group.angular[1]))),
            ];
            let rows = [left::<L>(group, 0), left::<L>(group, 1)];
            for (at, &place) in group.places.iter().enumerate() {
                if place == NO_BLOCK {
                    continue;
                }
                let block = &mut self.blocks[place as usize];
                let (row, column) = (&rows[at / 2], &columns[at % 2]);
                if at / 2 == at % 2 {
                    add_products::<L>(block, group.count, &active, row, column);
                } else {
                    subtract_products::<L>(block, group.count, &active, row, column);
                }
            }
        }
    }
}

/// The six entries of each row of one side, by row and lane.
type Left<L> = [[[L; 2]; 4]; 3];

/// The six entries of each row of `rho P' J` of one side, by row, entry and lane.
type Right = [[F4; 6]; 3];

#[inline(always)]
fn add_products<L: Lanes>(
    block: &mut Block6,
    count: usize,
    active: &F4,
    rows: &Left<L>,
    columns: &Right,
) {
    let mut sum = block.load::<L>();
    for lane in 0..count {
        if active.0[lane] != 0.0 {
            for i in 0..3 {
                let column = staggered(rows[i][lane]);
                add_outer(&mut sum, &column, &entries(&columns[i], lane));
            }
        }
    }
    block.store(sum);
}

#[inline(always)]
fn subtract_products<L: Lanes>(
    block: &mut Block6,
    count: usize,
    active: &F4,
    rows: &Left<L>,
    columns: &Right,
) {
    let mut sum = block.load::<L>();
    for lane in 0..count {
        if active.0[lane] != 0.0 {
            for i in 0..3 {
                let column = staggered(rows[i][lane]);
                subtract_outer(&mut sum, &column, &entries(&columns[i], lane));
            }
        }
    }
    block.store(sum);
}

#[inline(always)]
fn entries(row: &[F4; 6], lane: usize) -> [f64; 6] {
    [row[0].0[lane], row[1].0[lane], row[2].0[lane], row[3].0[lane], row[4].0[lane], row[5].0[lane]]
}

/// Returns the relative velocity of a group's rows due to velocity changes.
#[inline(always)]
fn relative<L: Lanes>(group: &RowGroup, change: &[Vector6]) -> Vec4<L> {
    let [a, b] = [&change[group.bodies[0] as usize], &change[group.bodies[1] as usize]];
    let (va, wa) = spread::<L>(a);
    let (vb, wb) = spread::<L>(b);
    let along = vb - va;
    let linear = load_rows::<L>(&group.linear);
    let angular_a = load_rows::<L>(&group.angular[0]);
    let angular_b = load_rows::<L>(&group.angular[1]);
    Vec4::new(
        linear[0].dot(along) + angular_b[0].dot(wb) - angular_a[0].dot(wa),
        linear[1].dot(along) + angular_b[1].dot(wb) - angular_a[1].dot(wa),
        linear[2].dot(along) + angular_b[2].dot(wb) - angular_a[2].dot(wa),
    )
}

/// Copies the linear and the angular part of a vector to all lanes.
#[inline(always)]
fn spread<L: Lanes>(v: &Vector6) -> (Vec4<L>, Vec4<L>) {
    (
        Vec4::new(L::splat(v.get(0)), L::splat(v.get(1)), L::splat(v.get(2))),
        Vec4::new(L::splat(v.get(3)), L::splat(v.get(4)), L::splat(v.get(5))),
    )
}

/// Returns the sum of the rows, each times its entry of `by`.
#[inline(always)]
pub(crate) fn combine<L: Lanes>(rows: &[Vec4<L>; 3], by: Vec4<L>) -> Vec4<L> {
    rows[0].scale(by.x) + rows[1].scale(by.y) + rows[2].scale(by.z)
}

#[inline(always)]
fn times_matrix<L: Lanes>(matrix: &Mat3, v: Vec4<L>) -> Vec4<L> {
    let (x, y, z) = (matrix.x_axis, matrix.y_axis, matrix.z_axis);
    Vec4::new(
        weighted([x.x, y.x, z.x], v),
        weighted([x.y, y.y, z.y], v),
        weighted([x.z, y.z, z.z], v),
    )
}

#[inline(always)]
fn weighted<L: Lanes>(by: [f64; 3], v: Vec4<L>) -> L {
    L::splat(by[0]) * v.x + L::splat(by[1]) * v.y + L::splat(by[2]) * v.z
}

/// Adds the vectors of all lanes to `sum`, or subtracts them, lane after lane.
#[inline(always)]
fn add_lanes<L: Lanes>(sum: &mut Vector6, linear: Vec4<L>, angular: Vec4<L>, add: bool) {
    let zero = L::splat(0.0);
    let top = L::transposed([linear.x, linear.y, linear.z, angular.x]);
    let bottom = L::transposed([angular.y, angular.z, zero, zero]);
    let (mut high, mut low) = (L::load(&sum.0[0]), L::load(&sum.0[1]));
    for lane in 0..4 {
        if add {
            high = high + top[lane];
            low = low + bottom[lane];
        } else {
            high = high - top[lane];
            low = low - bottom[lane];
        }
    }
    high.store(&mut sum.0[0]);
    low.store(&mut sum.0[1]);
}

/// Returns `P(z)` of contacts: pushing normal impulses, friction within its disk.
#[inline(always)]
fn project<L: Lanes>(z: Vec4<L>, friction: L) -> Vec4<L> {
    let push = z.x.max(L::splat(0.0));
    let limit = friction * push;
    let squared = z.y * z.y + z.z * z.z;
    let slides = squared.gt(limit * limit);
    let shrink = limit / squared.sqrt();
    Vec4::new(push, L::select(slides, z.y * shrink, z.y), L::select(slides, z.z * shrink, z.z))
}

/// Entries 00, 10, 20, 11, 12, 22, 01 and 02 of `rho P'(z)`, by lane: entry `ij` is the decrease of the
/// projected impulse along row `i` per unit of velocity along row `j`. Entry 21 equals 12.
type Slope<L> = [L; 8];

#[inline(always)]
fn slope<L: Lanes>(group: &RowGroup) -> Slope<L> {
    let zero = L::splat(0.0);
    let rho = L::load(&group.rho);
    let z = Vec4::<L>::load(&group.augmented);
    let pushes = z.x.gt(zero);
    match group.kind {
        Kind::Bilateral => {
            let stiff = rho / (L::splat(1.0) + rho * L::load(&group.softness));
            let used = Vec4::<L>::load(&group.used);
            let x = L::select(used.x, stiff, zero);
            let y = L::select(used.y, stiff, zero);
            [x, zero, zero, y, zero, L::select(used.z, stiff, zero), zero, zero]
        }
        Kind::Contact | Kind::Unilateral if group.is_weighted => {
            let [xx, xy, xz] = load3::<L>(&[group.weights[0], group.weights[1], group.weights[2]]);
            let [yy, yz, zz] = load3::<L>(&[group.weights[3], group.weights[4], group.weights[5]]);
            [xx, xy, xz, yy, yz, zz, xy, xz]
        }
        Kind::Unilateral => {
            [L::select(pushes, rho, zero), zero, zero, zero, zero, zero, zero, zero]
        }
        Kind::Contact => {
            let friction = L::load(&group.friction);
            let limit = friction * z.x;
            let length = (z.y * z.y + z.z * z.z).sqrt();
            let slides = length.gt(limit);
            let (a, b) = (z.y / length, z.z / length);
            let shrink = rho * limit / length;
            let slope = [
                L::select(slides, rho * friction * a, zero),
                L::select(slides, rho * friction * b, zero),
                L::select(slides, shrink * b * b, rho),
                L::select(slides, -shrink * a * b, zero),
                L::select(slides, shrink * a * a, rho),
            ];
            [
                L::select(pushes, rho, zero),
                L::select(pushes, slope[0], zero),
                L::select(pushes, slope[1], zero),
                L::select(pushes, slope[2], zero),
                L::select(pushes, slope[3], zero),
                L::select(pushes, slope[4], zero),
                zero,
                zero,
            ]
        }
    }
}

/// Returns the rows multiplied by the slope.
#[inline(always)]
fn mix<L: Lanes>(slope: &Slope<L>, rows: &[Vec4<L>; 3]) -> [Vec4<L>; 3] {
    let [xx, yx, zx, yy, yz, zz, xy, xz] = *slope;
    [
        rows[0].scale(xx) + rows[1].scale(xy) + rows[2].scale(xz),
        rows[0].scale(yx) + rows[1].scale(yy) + rows[2].scale(yz),
        rows[0].scale(zx) + rows[1].scale(yz) + rows[2].scale(zz),
    ]
}

#[inline(always)]
fn right<L: Lanes>(linear: &[Vec4<L>; 3], angular: &[Vec4<L>; 3]) -> Right {
    [
        right_row(linear[0], angular[0]),
        right_row(linear[1], angular[1]),
        right_row(linear[2], angular[2]),
    ]
}

#[inline(always)]
fn right_row<L: Lanes>(linear: Vec4<L>, angular: Vec4<L>) -> [F4; 6] {
    [
        stored(linear.x),
        stored(linear.y),
        stored(linear.z),
        stored(angular.x),
        stored(angular.y),
        stored(angular.z),
    ]
}

#[inline(always)]
fn stored<L: Lanes>(lanes: L) -> F4 {
    let mut memory = F4::ZERO;
    lanes.store(&mut memory);
    memory
}

#[inline(always)]
fn left<L: Lanes>(group: &RowGroup, side: usize) -> Left<L> {
    let (linear, angular) = (&group.linear, &group.angular[side]);
    [
        left_row(&linear[0], &angular[0]),
        left_row(&linear[1], &angular[1]),
        left_row(&linear[2], &angular[2]),
    ]
}

#[inline(always)]
fn left_row<L: Lanes>(linear: &V4, angular: &V4) -> [[L; 2]; 4] {
    let top = L::transpose([&linear[0], &linear[1], &linear[2], &angular[0]]);
    let bottom = L::transpose([&angular[1], &angular[2], &F4::ZERO, &F4::ZERO]);
    [[top[0], bottom[0]], [top[1], bottom[1]], [top[2], bottom[2]], [top[3], bottom[3]]]
}
