//! Pairs of shapes to test with: random ones, and ones that are known to break collision
//! algorithms.

use std::f64::consts::TAU;

use msd_sim::geometry::Shape;
use msd_sim::math::{Pose, Quat, Vec3, rotation};

/// A pseudorandom generator, the same in every run (SplitMix64).
pub struct Rng(u64);

impl Rng {
    /// Starts a sequence from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number uniform between `low` and `high`.
    pub fn range(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / (1_u64 << 53) as f64)
    }

    /// Returns a number whose logarithm is uniform.
    pub fn log_range(&mut self, low: f64, high: f64) -> f64 {
        self.range(low.ln(), high.ln()).exp()
    }

    /// Returns one of `0..count`.
    pub fn index(&mut self, count: usize) -> usize {
        (self.bits() % count as u64) as usize
    }

    /// Returns a point of the cube from -1 to 1.
    pub fn in_cube(&mut self) -> Vec3 {
        Vec3::new(self.range(-1.0, 1.0), self.range(-1.0, 1.0), self.range(-1.0, 1.0))
    }

    /// Returns a unit vector, uniform over the sphere.
    pub fn direction(&mut self) -> Vec3 {
        let z = self.range(-1.0, 1.0);
        let (sin, cos) = self.range(0.0, TAU).sin_cos();
        let r = (1.0 - z * z).sqrt();
        Vec3::new(r * cos, r * sin, z)
    }

    /// Returns a rotation about any axis by any angle.
    pub fn rotation(&mut self) -> Quat {
        rotation(self.direction(), self.range(0.0, TAU)).normalize()
    }

    /// Returns a multiple of 1/64 m between 1/64 and 2: sums of such numbers are exact.
    pub fn dyadic(&mut self) -> f64 {
        (1 + self.index(128)) as f64 / 64.0
    }
}

/// Two shapes and their poses.
#[derive(Clone, Debug)]
pub struct Pair {
    pub a: Shape,
    pub pose_a: Pose,
    pub b: Shape,
    pub pose_b: Pose,
}

impl Pair {
    fn new(a: Shape, pose_a: Pose, b: Shape, pose_b: Pose) -> Self {
        Self { a, pose_a, b, pose_b }
    }

    /// Returns the pair with A and B swapped.
    pub fn swapped(&self) -> Self {
        Self::new(self.b.clone(), self.pose_b, self.a.clone(), self.pose_a)
    }

    /// Returns the same pair in another frame.
    pub fn moved(&self, frame: Pose) -> Self {
        let place = |pose: Pose| {
            let moved = frame * pose;
            Pose::new(moved.position, moved.rotation.normalize())
        };
        Self::new(self.a.clone(), place(self.pose_a), self.b.clone(), place(self.pose_b))
    }

    /// Returns the larger of the two sizes in meters, ignoring half-spaces.
    pub fn size(&self) -> f64 {
        let finite = |s: &Shape| Some(s.bounding_radius()).filter(|r| r.is_finite()).unwrap_or(0.0);
        finite(&self.a).max(finite(&self.b))
    }
}

/// A kind of difficult pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difficulty {
    /// A small shape deep inside a large one.
    Nested,
    /// Centers coincide; often two copies of one shape, in the same or another orientation.
    Coincident,
    /// Faces, edges, corners, caps, rims or apexes that exactly touch.
    Touching,
    /// One is a millionth as thick as it is wide.
    Sliver,
    /// Both are 1e5 m from the origin.
    FarAway,
    /// One is a million times the other's size.
    ScaleRatio,
    /// Faces 1e-7 rad from parallel, about to touch.
    NearlyParallel,
    /// Cylinders and cones on one axis.
    Coaxial,
}

impl Difficulty {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Nested,
        Self::Coincident,
        Self::Touching,
        Self::Sliver,
        Self::FarAway,
        Self::ScaleRatio,
        Self::NearlyParallel,
        Self::Coaxial,
    ];
}

/// Number of kinds of bounded shape that [`random_shape`] makes.
pub const KINDS: usize = 6;

/// Returns a shape of about `size` meters: sphere, capsule, cylinder, cone, box or hull by `kind`.
pub fn random_shape(rng: &mut Rng, kind: usize, size: f64) -> Shape {
    let mut length = || size * rng.log_range(0.1, 1.0);
    match kind % KINDS {
        0 => Shape::sphere(length()),
        1 => Shape::capsule(length(), length()),
        2 => Shape::cylinder(length(), length()),
        3 => Shape::cone(length(), length()),
        4 => Shape::cuboid(Vec3::new(length(), length(), length())),
        _ => {
            let scale = Vec3::new(length(), length(), length());
            return random_hull(rng, scale);
        }
    }
    .expect("the sizes are positive")
}

/// Returns the hull of 4 to 40 points within a box of half extents `scale`, on an ellipsoid or
/// anywhere.
pub fn random_hull(rng: &mut Rng, scale: Vec3) -> Shape {
    let round = rng.index(2) == 0;
    let count = 4 + rng.index(37);
    let points: Vec<Vec3> =
        (0..count).map(|_| scale * if round { rng.direction() } else { rng.in_cube() }).collect();
    Shape::hull(&points).expect("random points span a volume")
}

/// Returns a shape of any kind with a size between a decimetre and ten meters.
fn any_shape(rng: &mut Rng) -> Shape {
    let (kind, size) = (rng.index(KINDS), rng.log_range(0.1, 10.0));
    random_shape(rng, kind, size)
}

/// Returns two shapes of any kind and orientation, from deeply overlapping to well apart.
pub fn random_pair(rng: &mut Rng) -> Pair {
    let a = any_shape(rng);
    if rng.index(12) == 0 {
        return against_half_space(rng, a);
    }
    let b = any_shape(rng);
    random_poses(rng, a, b)
}

fn random_poses(rng: &mut Rng, a: Shape, b: Shape) -> Pair {
    let reach = a.bounding_radius() + b.bounding_radius();
    let pose_a = Pose::new(rng.in_cube() * reach, rng.rotation());
    let apart = rng.direction() * (reach * rng.range(0.0, 1.2));
    let pose_b = Pose::new(pose_a.position + apart, rng.rotation());
    Pair::new(a, pose_a, b, pose_b)
}

fn against_half_space(rng: &mut Rng, a: Shape) -> Pair {
    let size = a.bounding_radius();
    let half = Shape::half_space(rng.direction(), rng.range(-size, size)).expect("finite");
    let pose = Pose::new(rng.in_cube() * size, rng.rotation());
    let pair = Pair::new(a, Pose::new(rng.in_cube() * size, rng.rotation()), half, pose);
    if rng.index(2) == 0 { pair.swapped() } else { pair }
}

/// Returns a pair with a given difficulty.
pub fn adversarial_pair(rng: &mut Rng, difficulty: Difficulty) -> Pair {
    match difficulty {
        Difficulty::Nested => {
            let large = any_shape(rng);
            let (kind, ratio) = (rng.index(KINDS), rng.log_range(1e-3, 0.1));
            let small = random_shape(rng, kind, large.bounding_radius() * ratio);
            let mut pair = random_poses(rng, large, small);
            let inside = rng.in_cube() * (0.05 * pair.a.bounding_radius());
            pair.pose_b.position = pair.pose_a.position + inside;
            pair
        }
        Difficulty::Coincident => {
            let a = any_shape(rng);
            let b = if rng.index(2) == 0 { a.clone() } else { any_shape(rng) };
            let mut pair = random_poses(rng, a, b);
            pair.pose_b.position = pair.pose_a.position;
            if rng.index(2) == 0 {
                pair.pose_b.rotation = pair.pose_a.rotation;
            }
            pair
        }
        Difficulty::Touching => touching(rng),
        Difficulty::Sliver => {
            let (a, b) = (sliver(rng), any_shape(rng));
            if rng.index(3) == 0 {
                let other = sliver(rng);
                random_poses(rng, a, other)
            } else {
                random_poses(rng, a, b)
            }
        }
        Difficulty::FarAway => {
            let pair = random_pair(rng);
            let far = Pose::at(rng.direction() * 1e5);
            pair.moved(far)
        }
        Difficulty::ScaleRatio => {
            let (kind, other) = (rng.index(KINDS), rng.index(KINDS));
            let (large, small) = (random_shape(rng, kind, 1e3), random_shape(rng, other, 1e-3));
            let mut pair = random_poses(rng, large, small);
            // Near the large one's surface, or anywhere inside.
            let n = rng.direction();
            let surface = super::support(&pair.a, n);
            let depth =
                if rng.index(2) == 0 { rng.range(-2e-3, 2e-3) } else { 1e3 * rng.range(0.0, 1.0) };
            pair.pose_b.position = pair.pose_a.transform_point(surface - n * depth);
            if rng.index(2) == 0 { pair.swapped() } else { pair }
        }
        Difficulty::NearlyParallel => nearly_parallel(rng),
        Difficulty::Coaxial => {
            let mut round = || {
                let kind = 1 + rng.index(3);
                random_shape(rng, kind, 1.0)
            };
            let (a, b) = (round(), round());
            let mut pair = random_poses(rng, a, b);
            let along = pair.pose_a.transform_vector(Vec3::Z) * rng.range(-2.0, 2.0);
            pair.pose_b = Pose::new(pair.pose_a.position + along, pair.pose_a.rotation);
            pair
        }
    }
}

/// Returns a plate or needle a millionth as thick as it is wide.
fn sliver(rng: &mut Rng) -> Shape {
    let size = rng.log_range(0.3, 3.0);
    let thin = 1e-6 * size;
    match rng.index(6) {
        0 => Shape::cuboid(Vec3::new(size, size, thin)),
        1 => Shape::cuboid(Vec3::new(size, thin, thin)),
        2 => Shape::cylinder(size, thin),
        3 => Shape::cylinder(thin, size),
        4 => Shape::cone(size, thin),
        _ => return random_hull(rng, Vec3::new(size, size, thin)),
    }
    .expect("the sizes are positive")
}

/// Returns shapes that exactly touch, by sums of exact numbers; half of the pairs are rotated.
fn touching(rng: &mut Rng) -> Pair {
    let mut d = || rng.dyadic();
    let (h, k) = (Vec3::new(d(), d(), d()), Vec3::new(d(), d(), d()));
    let (r, s, l) = (d(), d(), d());
    let cuboid = |h: Vec3| Shape::cuboid(h).expect("positive");
    let at = |p: Vec3| Pose::at(p);
    let box_below = |shape: Shape, lowest: f64, x: f64| {
        Pair::new(cuboid(h), Pose::IDENTITY, shape, at(Vec3::new(x, 0.0, h.z + lowest)))
    };
    let pair = match rng.index(9) {
        // Face on face, edge on edge, corner on corner.
        0 => box_below(cuboid(k), k.z, 0.0),
        1 => Pair::new(
            cuboid(h),
            Pose::IDENTITY,
            cuboid(k),
            at(Vec3::new(h.x + k.x, 0.0, h.z + k.z)),
        ),
        2 => Pair::new(cuboid(h), Pose::IDENTITY, cuboid(k), at(h + k)),
        // A ball on a face; a capsule and a cylinder on an edge; a cone on a face.
        3 => box_below(Shape::sphere(r).expect("positive"), r, 0.0),
        4 => box_below(Shape::capsule(r, l).expect("positive"), r + l, h.x),
        5 => box_below(Shape::cylinder(r, l).expect("positive"), l, h.x),
        6 => box_below(Shape::cone(r, l).expect("positive"), l, 0.0),
        // Apex down: exactly half a turn about x.
        7 => {
            let mut pair = box_below(Shape::cone(r, l).expect("positive"), l, 0.0);
            pair.pose_b.rotation = Quat::from_xyzw(1.0, 0.0, 0.0, 0.0);
            pair
        }
        _ => Pair::new(
            Shape::sphere(r).expect("positive"),
            Pose::IDENTITY,
            Shape::cylinder(s, l).expect("positive"),
            at(Vec3::new(r + s, 0.0, 0.0)),
        ),
    };
    let frame = Pose::new(rng.in_cube(), rng.rotation());
    if rng.index(2) == 0 { pair } else { pair.moved(frame) }
}

/// Returns two shapes on top of each other, tilted by about 1e-7 rad, overlapping or apart by up to
/// a centimeter.
fn nearly_parallel(rng: &mut Rng) -> Pair {
    let mut flat = || match rng.index(3) {
        0 => {
            let size = rng.log_range(0.2, 2.0);
            (random_shape(rng, 4, size), 4)
        }
        1 => (random_shape(rng, 2, 1.0), 2),
        _ => {
            let h = Vec3::new(rng.dyadic(), rng.dyadic(), rng.dyadic());
            let corners: Vec<Vec3> = (0..8)
                .map(|i| {
                    h * Vec3::new(
                        1.0 - (i & 2) as f64,
                        1.0 - (i >> 1 & 2) as f64,
                        1.0 - (i << 1 & 2) as f64,
                    )
                })
                .collect();
            (Shape::hull(&corners).expect("a box"), 5)
        }
    };
    let ((a, _), (b, _)) = (flat(), flat());
    let top = super::support(&a, Vec3::Z).z + super::support(&b, Vec3::Z).z;
    let gap = [0.0, 1e-9, 1e-2][rng.index(3)] * rng.range(-1.0, 1.0);
    let tilt = rotation(rng.direction(), 1e-7 * rng.range(0.1, 10.0));
    let place = Vec3::new(rng.range(-0.3, 0.3), rng.range(-0.3, 0.3), top + gap);
    let pair = Pair::new(a, Pose::IDENTITY, b, Pose::new(place, tilt.normalize()));
    pair.moved(Pose::new(rng.in_cube(), rng.rotation()))
}
