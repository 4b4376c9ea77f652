//! The sweeps over contacts, which compute their impulses.
// Index loops: iterators over a few lanes are not inlined into the kernels.
#![allow(clippy::needless_range_loop, unsafe_code)]

use crate::constraints::contact_block::{ContactBlock, POINTS};
use crate::constraints::lanes::{DeltaPoses, SharedBodies, Symmetric, Velocities, along, combine};
use crate::constraints::solver_rows::{Point, SolverRows};
use crate::simd::{Kernel, Lanes, Vec4, load_rows, load3};

/// Passes over a manifold's points, each forward and backward, where they cannot be solved together. More passes are
/// cheap: the cost of a manifold is in accessing its bodies.
const POINT_PASSES: usize = 2;

/// Largest damping of a point's friction, relative to the effective mass: a slip that friction can stop this many times
/// over is as good as none.
pub(super) const MAX_DAMPING: f64 = 1e3;

/// The kernel that sweeps once over the contacts of a color.
pub(crate) struct Sweep<'a> {
    blocks: &'a [ContactBlock],
    rows: &'a mut [SolverRows],
    bodies: SharedBodies<'a>,
    pass: Pass,
}

impl<'a> Sweep<'a> {
    /// # Safety
    /// While the kernel runs, no other worker accesses the inertial bodies of these blocks, and none writes the others:
    /// see [`SharedBodies`].
    pub(crate) unsafe fn new(
        blocks: &'a [ContactBlock],
        rows: &'a mut [SolverRows],
        bodies: SharedBodies<'a>,
        pass: Pass,
    ) -> Self {
        Self { blocks, rows, bodies, pass }
    }
}

/// The purpose of a sweep.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pass {
    /// Normal impulses that also correct overlaps, before bodies move.
    Biased(Softening),
    /// Impulses without bias, with friction, whose velocities bodies keep.
    Relax {
        /// Inverse of the substep's duration, 1/s.
        rate: f64,
    },
    /// The energy that restitution may return, before any of it does.
    RestitutionEnergy {
        /// Approach speed above which contacts bounce, m/s.
        speed: f64,
    },
    /// Impulses of restitution.
    Restitution {
        /// Approach speed above which contacts bounce, m/s.
        speed: f64,
    },
}

impl Pass {
    /// Returns the inverse of the substep's duration, 1/s.
    pub(crate) fn rate(&self) -> f64 {
        match self {
            Self::Biased(soft) => soft.rate,
            Self::Relax { rate } => *rate,
            Self::RestitutionEnergy { .. } | Self::Restitution { .. } => 0.0,
        }
    }
}

/// The correction of position errors in a biased sweep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Softening {
    /// Inverse of the substep's duration, 1/s.
    pub(crate) rate: f64,
    pub(crate) soft: Softness,
    /// Maximum correction speed, m/s.
    pub(crate) max_speed: f64,
}

/// The softness of a constraint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Softness {
    /// Rate at which position errors decay, 1/s.
    pub(crate) bias_rate: f64,
    /// Fraction of the impulse that a rigid constraint would apply.
    pub(crate) mass_scale: f64,
    /// Fraction of the accumulated impulse that is removed.
    pub(crate) impulse_scale: f64,
}

impl Softness {
    /// Returns the softness of an implicit spring with a phase of `phase` rad per substep `h` and the damping ratio
    /// `damping`.
    pub(crate) fn new(phase: f64, damping: f64, h: f64) -> Self {
        let first = 2.0 * damping + phase;
        let impulse_scale = 1.0 / (1.0 + phase * first);
        Self {
            bias_rate: phase / (first * h),
            mass_scale: phase * first * impulse_scale,
            impulse_scale,
        }
    }
}

impl Kernel for Sweep<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { blocks, rows, bodies, pass } = self;
        let contacts = blocks.iter().zip(rows);
        match pass {
            Pass::Biased(soft) => {
                for (block, rows) in contacts {
                    // SAFETY: the contract of `new`.
                    unsafe { solve_by_point_count::<L, true>(block, rows, &bodies, &soft) };
                }
            }
            Pass::Relax { rate } => {
                let rigid = Softness { bias_rate: 0.0, mass_scale: 1.0, impulse_scale: 0.0 };
                let soft = Softening { rate, soft: rigid, max_speed: 0.0 };
                for (block, rows) in contacts {
                    // SAFETY: the contract of `new`.
                    unsafe { solve_by_point_count::<L, false>(block, rows, &bodies, &soft) };
                }
            }
            Pass::RestitutionEnergy { speed } => {
                for (block, rows) in contacts {
                    if block.any_restitution {
                        // SAFETY: the contract of `new`.
                        unsafe { measure_restitution::<L>(block, rows, &bodies, speed) };
                    }
                }
            }
            Pass::Restitution { speed } => {
                for (block, rows) in contacts {
                    // SAFETY: the contract of `new`.
                    unsafe {
                        match (block.any_restitution, block.kinematic) {
                            (false, _) => {}
                            (true, false) => {
                                apply_restitution::<L, false>(block, rows, &bodies, speed)
                            }
                            (true, true) => {
                                apply_restitution::<L, true>(block, rows, &bodies, speed)
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Solves a block with the code specialized for its number of points.
///
/// # Safety
/// See [`SharedBodies`].
#[inline(always)]
unsafe fn solve_by_point_count<L: Lanes, const BIASED: bool>(
    block: &ContactBlock,
    rows: &mut SolverRows,
    bodies: &SharedBodies<'_>,
    soft: &Softening,
) {
    // SAFETY: the caller's contract.
    unsafe {
        match (block.max_points, block.kinematic) {
            (0, _) => {}
            (1, false) => solve_normal::<L, false, BIASED, 1>(block, rows, bodies, soft),
            (2, false) => solve_normal::<L, false, BIASED, 2>(block, rows, bodies, soft),
            (_, false) => solve_normal::<L, false, BIASED, POINTS>(block, rows, bodies, soft),
            (_, true) => solve_normal::<L, true, BIASED, POINTS>(block, rows, bodies, soft),
        }
    }
}

/// The frames of four contacts, with the angular rows and lever arms of their bodies: see [`SolverRows`].
pub(crate) struct ContactFrame<L> {
    pub(crate) n: Vec4<L>,
    pub(crate) t: Vec4<L>,
    pub(crate) s: Vec4<L>,
    pub(crate) axes_a: [Vec4<L>; 3],
    pub(crate) axes_b: [Vec4<L>; 3],
    centroid: [L; 4],
}

impl<L: Lanes> ContactFrame<L> {
    #[inline(always)]
    pub(crate) fn load(rows: &SolverRows) -> Self {
        let (n, t) = (Vec4::load(&rows.normal), Vec4::load(&rows.tangent));
        let [p, q, r, s] = &rows.centroid;
        Self {
            n,
            t,
            s: n.cross(t),
            axes_a: load_rows(&rows.axes_a),
            axes_b: load_rows(&rows.axes_b),
            centroid: [L::load(p), L::load(q), L::load(r), L::load(s)],
        }
    }

    /// Returns a relative motion of the two bodies, velocity or displacement, in plane coordinates.
    #[inline(always)]
    pub(crate) fn plane_motion(
        &self,
        linear: Vec4<L>,
        turn_a: Vec4<L>,
        turn_b: Vec4<L>,
    ) -> Vec4<L> {
        let (xa, ya) = (self.axes_a[0].dot(turn_a), self.axes_a[1].dot(turn_a));
        let (xb, yb) = (self.axes_b[0].dot(turn_b), self.axes_b[1].dot(turn_b));
        let [p, q, r, s] = self.centroid;
        Vec4::new(self.n.dot(linear) + r * xb + s * yb - p * xa - q * ya, xb - xa, yb - ya)
    }

    /// Applies an impulse in plane coordinates to the two bodies.
    #[inline(always)]
    fn apply_impulse<const KINEMATIC: bool>(
        &self,
        impulse: Vec4<L>,
        a: &mut Velocities<L>,
        b: &mut Velocities<L>,
    ) {
        let [p, q, r, s] = self.centroid;
        a.v = a.v - self.n.scale(impulse.x * a.inverse_mass);
        b.v = b.v + self.n.scale(impulse.x * b.inverse_mass);
        let turn = a.angular_part::<KINEMATIC>(impulse);
        a.w = a.w - self.axes_a[0].scale(p * turn.x + turn.y);
        a.w = a.w - self.axes_a[1].scale(q * turn.x + turn.z);
        let turn = b.angular_part::<KINEMATIC>(impulse);
        b.w = b.w + self.axes_b[0].scale(r * turn.x + turn.y);
        b.w = b.w + self.axes_b[1].scale(s * turn.x + turn.z);
    }
}

/// Returns the point where friction acts, relative to A and to B.
#[inline(always)]
fn friction_centers<L: Lanes>(rows: &SolverRows) -> ([L; 3], [L; 3]) {
    let [x, y, z, p, q, r] = &rows.friction_center;
    ([L::load(x), L::load(y), L::load(z)], [L::load(p), L::load(q), L::load(r)])
}

impl<L: Lanes> ContactFrame<L> {
    /// Returns the velocity along the two tangents where friction acts, and about the normal.
    #[inline(always)]
    pub(crate) fn slip(&self, rows: &SolverRows, a: &Velocities<L>, b: &Velocities<L>) -> [L; 3] {
        let (ta, tb) = (along(&self.axes_a, a.w), along(&self.axes_b, b.w));
        let ([xa, ya, za], [xb, yb, zb]) = friction_centers::<L>(rows);
        let v = b.v - a.v;
        [
            self.t.dot(v) - (zb * tb.x + yb * tb.z) + (za * ta.x + ya * ta.z),
            self.s.dot(v) + (xb * tb.z - zb * tb.y) - (xa * ta.z - za * ta.y),
            tb.z - ta.z,
        ]
    }
}

/// Returns the row of a point in plane coordinates.
#[inline(always)]
pub(crate) fn point_row<L: Lanes>(point: &Point) -> Vec4<L> {
    Vec4::new(L::splat(1.0), L::load(&point.x), L::load(&point.y))
}

/// Solves four manifolds of at most `P` points. With `BIASED`, impulses correct overlaps; without, friction follows.
///
/// # Safety
/// See [`SharedBodies`].
#[inline(always)]
unsafe fn solve_normal<L: Lanes, const KINEMATIC: bool, const BIASED: bool, const P: usize>(
    block: &ContactBlock,
    rows: &mut SolverRows,
    bodies: &SharedBodies<'_>,
    soft: &Softening,
) {
    let [ia, ib] = block.bodies;
    // SAFETY: the caller's contract.
    let (mut a, mut b) =
        unsafe { (Velocities::<L>::load(bodies, ia), Velocities::<L>::load(bodies, ib)) };
    // SAFETY: the caller's contract.
    let (da, db) =
        unsafe { (DeltaPoses::<L>::load(bodies, ia), DeltaPoses::<L>::load(bodies, ib)) };
    let frame = ContactFrame::<L>::load(rows);
    let moved = frame.plane_motion(db.p - da.p, da.t, db.t);
    let u = frame.plane_motion(b.v - a.v, a.w, b.w);
    let mut points = NormalRows::<L, P>::load::<BIASED>(rows, moved, soft);
    let mut applied = points.solve_together::<BIASED>(rows, u);
    // A mask of the manifolds that have a pulling or an open point.
    let split = points.open.max(L::splat(0.0) - points.least).gt(L::splat(0.0));
    if split.any() {
        applied = Vec4::<L>::select(split, Vec4::splat(0.0), applied);
        points.solve_in_turn(rows, u, split, &mut applied);
    }
    let [load, torque] = points.store::<BIASED>(rows);
    frame.apply_impulse::<KINEMATIC>(applied, &mut a, &mut b);
    if !BIASED {
        solve_friction::<L, KINEMATIC, P>(rows, &frame, [load, torque], [&mut a, &mut b]);
    }
    // SAFETY: the caller's contract.
    unsafe {
        a.store(bodies, ia);
        b.store(bodies, ib);
    }
}

/// The normal rows of four manifolds of at most `P` points while they are solved.
struct NormalRows<L, const P: usize> {
    /// Number of points.
    count: L,
    /// Velocity to add to each row's before it is driven to zero, m/s.
    bias: [L; P],
    /// Impulses before the sweep, N s.
    impulse: [L; P],
    /// New impulses, N s.
    new: [L; P],
    /// Largest bias of an open point, m/s.
    open: L,
    /// Smallest impulse from solving all points together, N s; negative if a point pulls.
    least: L,
    /// Sum of the biases of overlapping points in plane coordinates.
    bias_sum: Vec4<L>,
    /// See [`Softness::mass_scale`].
    mass_scale: L,
    /// See [`Softness::impulse_scale`].
    impulse_scale: L,
    /// Fraction of the impulses before that is kept.
    keep: L,
}

impl<L: Lanes, const P: usize> NormalRows<L, P> {
    #[inline(always)]
    fn load<const BIASED: bool>(rows: &SolverRows, moved: Vec4<L>, soft: &Softening) -> Self {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let slop = L::load(&rows.slop);
        let count = L::load(&rows.count);
        let mut bias = [zero; P];
        let mut impulse = [zero; P];
        let (mut open, mut deepest) = (zero, zero);
        let mut bias_sum = Vec4::<L>::splat(0.0);
        for j in 0..P {
            let point = &rows.points[j];
            let in_use = count.gt(L::splat(j as f64));
            let gap = L::load(&point.gap) + moved.dot(point_row(point));
            bias[j] = L::select(in_use, (gap - slop).max(zero) * L::splat(soft.rate), zero);
            impulse[j] = L::load(&point.impulse);
            open = open.max(bias[j]);
            if BIASED {
                let deep = ((gap + slop).min(zero) * L::splat(soft.soft.bias_rate))
                    .max(L::splat(-soft.max_speed));
                let deep = L::select(in_use, deep, zero);
                bias[j] = bias[j] + deep;
                bias_sum = bias_sum + point_row(point).scale(deep);
                deepest = deepest.min(deep);
            }
        }
        let (mut mass_scale, mut impulse_scale) = (one, zero);
        if BIASED {
            // A manifold is soft as a whole if one of its points overlaps beyond the slop.
            let softened = zero.gt(deepest);
            mass_scale = L::select(softened, L::splat(soft.soft.mass_scale), one);
            impulse_scale = L::select(softened, L::splat(soft.soft.impulse_scale), zero);
        }
        let keep = one - impulse_scale;
        let (new, least) = ([zero; P], zero);
        Self { count, bias, impulse, new, open, least, bias_sum, mass_scale, impulse_scale, keep }
    }

    /// Solves all points together, as if all of them touched and kept pushing, so that no point is favored. Returns the
    /// change of impulse in plane coordinates.
    #[inline(always)]
    fn solve_together<const BIASED: bool>(&mut self, rows: &SolverRows, u: Vec4<L>) -> Vec4<L> {
        let zero = L::splat(0.0);
        let [xx, xy, yy] = load3::<L>(&rows.spread);
        let share = L::load(&rows.share);
        let mut target = u;
        if BIASED {
            target.x = target.x + self.bias_sum.x * share;
            target.y = target.y + xx * self.bias_sum.y + xy * self.bias_sum.z;
            target.z = target.z + xy * self.bias_sum.y + yy * self.bias_sum.z;
        }
        let mut wanted = Symmetric::<L>::load(&rows.inverse).times(target);
        if BIASED {
            wanted = wanted.scale(self.mass_scale);
        }
        let (along_x, along_y) = (xx * wanted.y + xy * wanted.z, xy * wanted.y + yy * wanted.z);
        let at_centroid = wanted.x * share;
        let mut applied = Vec4::<L>::splat(0.0);
        for j in 0..P {
            let point = &rows.points[j];
            let in_use = self.count.gt(L::splat(j as f64));
            let row = point_row::<L>(point);
            let change = at_centroid + along_x * row.y + along_y * row.z;
            let old = if BIASED { self.impulse[j] * self.keep } else { self.impulse[j] };
            self.new[j] = L::select(in_use, old - change, zero);
            self.least = self.least.min(self.new[j]);
            applied = applied + row.scale(self.new[j] - self.impulse[j]);
        }
        applied
    }

    /// Solves the points of the manifolds in a mask one after another, forward and backward.
    #[inline(always)]
    fn solve_in_turn(
        &mut self,
        rows: &SolverRows,
        mut u: Vec4<L>,
        split: L,
        applied: &mut Vec4<L>,
    ) {
        let zero = L::splat(0.0);
        let delassus = Symmetric::<L>::load(&rows.delassus);
        let mut mass = [zero; P];
        for j in 0..P {
            self.new[j] = L::select(split, self.impulse[j], self.new[j]);
            let row = point_row::<L>(&rows.points[j]);
            let in_use = self.count.gt(L::splat(j as f64));
            let counts = L::select(in_use, split, zero);
            mass[j] = L::select(counts, self.mass_scale / delassus.times(row).dot(row), zero);
        }
        // A macro keeps the array indices compile-time constants; otherwise the arrays would not stay in registers.
        macro_rules! visit {
            ($j:expr, $among:expr) => {{
                let j = $j;
                let row = point_row::<L>(&rows.points[j]);
                // Softness acts once, on the impulse before the sweep, however often the point is visited.
                let softening = self.impulse_scale * (self.new[j] - self.impulse[j] * self.keep);
                let speed = u.dot(row) + self.bias[j];
                let new = (self.new[j] - mass[j] * speed - softening).max(zero);
                let new = L::select($among, new, self.new[j]);
                let change = row.scale(new - self.new[j]);
                self.new[j] = new;
                *applied = *applied + change;
                u = u + delassus.times(change);
            }};
        }
        // A single point is solved by one visit. More would change it by rounding, and only where other lanes have more.
        let mut among = split;
        for pass in 0..POINT_PASSES {
            for j in 0..P {
                visit!(j, among);
            }
            if P == 1 {
                break;
            }
            if pass == 0 {
                among = L::select(self.count.gt(L::splat(1.0)), split, zero);
            }
            for i in 0..P {
                visit!(P - 1 - i, among);
            }
        }
    }

    /// Stores the impulses. Returns, for friction, their sum and the sum of their products with the lever arms.
    #[inline(always)]
    fn store<const BIASED: bool>(&self, rows: &mut SolverRows) -> [L; 2] {
        let (mut load, mut torque) = (L::splat(0.0), L::splat(0.0));
        for j in 0..P {
            let point = &mut rows.points[j];
            self.new[j].store(&mut point.impulse);
            if !BIASED {
                load = load + self.new[j];
                if P > 1 {
                    torque = torque + self.new[j] * L::load(&point.lever);
                }
                (L::load(&point.total) + self.new[j]).store(&mut point.total);
            }
        }
        [load, torque]
    }
}

/// Solves the friction of four manifolds; `load` and `torque` are the sums of their normal impulses and of these times
/// their lever arms.
#[inline(always)]
fn solve_friction<L: Lanes, const KINEMATIC: bool, const P: usize>(
    rows: &mut SolverRows,
    frame: &ContactFrame<L>,
    [load, torque]: [L; 2],
    [a, b]: [&mut Velocities<L>; 2],
) {
    let friction = L::load(&rows.friction);
    let ContactFrame { t, s, axes_a, axes_b, .. } = frame;
    let ([xa, ya, za], [xb, yb, zb]) = friction_centers::<L>(rows);
    let [u, w, spin] = frame.slip(rows, a, b);
    let [xx, xy, yy, about] = &rows.friction_mass;
    let [xx, xy, yy, about] = [L::load(xx), L::load(xy), L::load(yy), L::load(about)];
    let [old_p, old_q, old_r] = load3::<L>(&rows.friction_impulse);
    let mut new = Vec4::new(old_p - (xx * u + xy * w), old_q - (xy * u + yy * w), old_r);
    let limit = friction * load;
    // The impulse along the tangents, and about the normal over the mean lever arm, is limited as a whole.
    let mut inverse_lever = L::splat(0.0);
    if P > 1 {
        let zero = inverse_lever;
        let turns = torque.gt(zero);
        inverse_lever = L::select(turns, load / torque, zero);
        new.z = L::select(turns, old_r - about * spin, zero);
    }
    let squared = |impulse: Vec4<L>| {
        let r = impulse.z * inverse_lever;
        impulse.x * impulse.x + impulse.y * impulse.y + r * r
    };
    let slides = squared(new).gt(limit * limit);
    if slides.any() {
        let one = L::splat(1.0);
        let mut shrink = L::select(slides, limit / squared(new).sqrt(), one);
        if P > 1 {
            let slid = sliding_friction::<L, P>(rows, new, shrink, [xx, xy, yy, about], limit);
            // One point has no lever arm, and its friction is that of the disk, whatever lanes it shares a block with.
            let turns = L::select(slides, torque.gt(L::splat(0.0)), L::splat(0.0));
            new = Vec4::select(turns, slid, new);
            let slides = squared(slid).gt(limit * limit);
            let again = L::select(slides, limit / squared(slid).sqrt(), one);
            shrink = L::select(turns, again, shrink);
        }
        new = new.scale(shrink);
    }
    let [new_p, new_q, new_r] = [new.x, new.y, new.z];
    let change = Vec4::new(new_p - old_p, new_q - old_q, new_r - old_r);
    let push = t.scale(change.x) + s.scale(change.y);
    a.v = a.v - push.scale(a.inverse_mass);
    b.v = b.v + push.scale(b.inverse_mass);
    // Along the axes: r x t = z s - y n, r x s = x n - z t.
    let c = a.angular_part::<KINEMATIC>(change);
    let zero = L::splat(0.0);
    let turn = Vec4::new(zero - za * c.x, zero - za * c.y, xa * c.y - ya * c.x + c.z);
    a.w = a.w - combine(axes_a, turn);
    let c = b.angular_part::<KINEMATIC>(change);
    let turn = Vec4::new(zero - zb * c.x, zero - zb * c.y, xb * c.y - yb * c.x + c.z);
    b.w = b.w + combine(axes_b, turn);
    new_p.store(&mut rows.friction_impulse[0]);
    new_q.store(&mut rows.friction_impulse[1]);
    new_r.store(&mut rows.friction_impulse[2]);
    (L::load(&rows.friction_total[0]) + new_p).store(&mut rows.friction_total[0]);
    (L::load(&rows.friction_total[1]) + new_q).store(&mut rows.friction_total[1]);
    (L::load(&rows.friction_total[2]) + new_r).store(&mut rows.friction_total[2]);
}

/// Returns the friction impulse of manifolds that slide, given the impulse `wanted` to stop them and the factor that
/// reduces it to their limit.
///
/// Each point resists its own slip `s` with `mu N`, hence like a damper of `mu N / |s|`. With the matrix `W` of all these
/// dampers and the effective mass `M`, the slip afterwards is `u = -(M + W)^-1 wanted`, and the impulse `-W u`, which
/// dissipates for any `W`. The slip after the reduced impulse serves for `|s|`; without rotation it is exact.
#[inline(always)]
fn sliding_friction<L: Lanes, const P: usize>(
    rows: &SolverRows,
    wanted: Vec4<L>,
    shrink: L,
    [xx, xy, yy, about]: [L; 4],
    limit: L,
) -> Vec4<L> {
    let (zero, friction) = (L::splat(0.0), L::load(&rows.friction));
    let left = shrink - L::splat(1.0);
    let across = left / (xx * yy - xy * xy);
    let u = (yy * wanted.x - xy * wanted.y) * across;
    let w = (xx * wanted.y - xy * wanted.x) * across;
    let spin = L::select(about.gt(zero), wanted.z * left / about, zero);
    let least = limit / ((xx + yy) * L::splat(MAX_DAMPING));
    let off_x = L::load(&rows.centroid[0]) - L::load(&rows.friction_center[0]);
    let off_y = L::load(&rows.centroid[1]) - L::load(&rows.friction_center[1]);
    let (mut sum, mut sum_x, mut sum_y, mut sum_rr) = (zero, zero, zero, zero);
    for j in 0..P {
        let point = &rows.points[j];
        let (x, y) = (L::load(&point.x) + off_x, L::load(&point.y) + off_y);
        let (slip_x, slip_y) = (u - spin * y, w + spin * x);
        let speed = (slip_x * slip_x + slip_y * slip_y).sqrt();
        let damping = friction * L::load(&point.impulse) / speed.max(least);
        let (damping_x, damping_y) = (damping * x, damping * y);
        sum = sum + damping;
        (sum_x, sum_y) = (sum_x + damping_x, sum_y + damping_y);
        sum_rr = sum_rr + damping_x * x + damping_y * y;
    }
    // Without inertia about the normal, nothing rotates.
    let turns = about.gt(zero);
    sum_x = L::select(turns, sum_x, zero);
    sum_y = L::select(turns, zero - sum_y, zero);
    let total = Symmetric {
        entries: [xx + sum, xy, sum_y, yy + sum, sum_x, L::select(turns, about + sum_rr, xx + yy)],
    };
    let v = total.inverse().times(wanted);
    let slid = Vec4::new(
        sum * v.x + sum_y * v.z,
        sum * v.y + sum_x * v.z,
        L::select(turns, sum_y * v.x + sum_x * v.y + sum_rr * v.z, zero),
    );
    Vec4::select(limit.gt(zero), slid, Vec4::splat(0.0))
}

/// Stores the energy that points which approached faster than `speed` may return.
///
/// Impulses `P` that change normal velocities from `u` to `u'` have done the work `P (u + u') / 2`. A point returns up to
/// `e^2` of what it took, as a lone bounce does at `e` times its approach speed.
///
/// # Safety
/// See [`SharedBodies`].
#[inline(always)]
unsafe fn measure_restitution<L: Lanes>(
    block: &ContactBlock,
    rows: &mut SolverRows,
    bodies: &SharedBodies<'_>,
    speed: f64,
) {
    let [ia, ib] = block.bodies;
    // SAFETY: the caller's contract.
    let (a, b) = unsafe { (Velocities::<L>::load(bodies, ia), Velocities::<L>::load(bodies, ib)) };
    let u = ContactFrame::<L>::load(rows).plane_motion(b.v - a.v, a.w, b.w);
    let (zero, restitution) = (L::splat(0.0), L::load(&block.cache.restitution));
    for j in 0..block.max_points as usize {
        let point = &mut rows.points[j];
        let (approach, total) = (L::load(&rows.approach[j]), L::load(&point.total));
        let work = L::splat(-0.5) * total * (approach + u.dot(point_row(point)));
        let energy = restitution * restitution * work.max(zero);
        L::select(L::splat(-speed).gt(approach), energy, zero).store(&mut point.lever);
    }
}

/// Makes points that approached faster than `speed` separate at the speed of their restitution, if that takes no more
/// energy than they may return.
///
/// # Safety
/// See [`SharedBodies`].
#[inline(always)]
unsafe fn apply_restitution<L: Lanes, const KINEMATIC: bool>(
    block: &ContactBlock,
    rows: &mut SolverRows,
    bodies: &SharedBodies<'_>,
    speed: f64,
) {
    let [ia, ib] = block.bodies;
    // SAFETY: the caller's contract.
    let (mut a, mut b) =
        unsafe { (Velocities::<L>::load(bodies, ia), Velocities::<L>::load(bodies, ib)) };
    let points = block.max_points as usize;
    let frame = ContactFrame::<L>::load(rows);
    let zero = L::splat(0.0);
    let count = L::load(&rows.count);
    let restitution = L::load(&block.cache.restitution);
    let delassus = Symmetric::<L>::load(&rows.delassus);
    let mut u = frame.plane_motion(b.v - a.v, a.w, b.w);
    let mut applied = Vec4::<L>::splat(0.0);
    for turn in 0..2 * POINT_PASSES * points {
        let cycle = turn % (2 * points);
        let j = if cycle < points { cycle } else { 2 * points - 1 - cycle };
        let point = &mut rows.points[j];
        let in_use = count.gt(L::splat(j as f64));
        let approach = L::load(&rows.approach[j]);
        let total = L::load(&point.total);
        let bounces = L::select(total.gt(zero), L::splat(-speed).gt(approach), zero);
        let row = point_row::<L>(point);
        let mass = L::select(in_use, L::splat(1.0) / delassus.times(row).dot(row), zero);
        let old = L::load(&point.impulse);
        let speed = u.dot(row);
        let new = (old - mass * (speed + restitution * approach)).max(zero);
        // An impulse p takes the energy p u + p^2 / 2 m.
        let energy = L::load(&point.lever);
        let root = (speed * speed + L::splat(2.0) * energy.max(zero) / mass).sqrt();
        let most = mass * (root - speed);
        let change = L::select(bounces, (new - old).min(most), zero);
        let taken = change * (speed + L::splat(0.5) * change / mass);
        L::select(bounces, energy - taken, energy).store(&mut point.lever);
        (old + change).store(&mut point.impulse);
        (total + change).store(&mut point.total);
        applied = applied + row.scale(change);
        u = u + delassus.times(row.scale(change));
    }
    frame.apply_impulse::<KINEMATIC>(applied, &mut a, &mut b);
    // SAFETY: the caller's contract.
    unsafe {
        a.store(bodies, ia);
        b.store(bodies, ib);
    }
}
