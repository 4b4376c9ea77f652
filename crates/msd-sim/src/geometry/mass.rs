//! Volume, surface area, center of mass and inertia: closed forms, and surface integrals for hulls.

use std::f64::consts::PI;

use super::hull::ConvexHull;
use super::shape::{Capsule, Cone, Cuboid, Cylinder, Shape, Sphere};
use crate::error::MassError;
use crate::math::{Mat3, Pose, Quat, Vec3};

/// The mass properties of a solid of uniform density, in the shape's frame.
///
/// ```
/// use msd_sim::geometry::Shape;
/// use msd_sim::math::Vec3;
/// // A cube of edge 2 m and 1 kg: m/12 (2^2 + 2^2) about each axis through its middle.
/// let cube = Shape::cuboid(Vec3::ONE)?.mass_properties(1.0)?.with_mass(1.0)?;
/// assert_eq!(cube.volume, 8.0);
/// assert!((cube.inertia.x_axis.x - 2.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[doc(alias = "inertia tensor")]
pub struct MassProperties {
    /// Mass, in kilograms.
    pub mass: f64,
    /// Volume, in cubic meters.
    pub volume: f64,
    /// Surface area, in square meters.
    pub area: f64,
    /// Center of mass, in meters.
    pub center_of_mass: Vec3,
    /// Inertia tensor about the center of mass, in the shape's axes, in kg m^2.
    pub inertia: Mat3,
}

/// The principal moments and axes of inertia.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrincipalAxes {
    /// Moments of inertia about the principal axes, ascending, in kg m^2.
    pub moments: Vec3,
    /// The rotation from x, y and z to the principal axes: `I = R diag(moments) R^T`.
    pub rotation: Quat,
}

/// The volume integrals of a solid, from which mass properties follow at any density.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct SolidIntegrals {
    /// Volume, in m^3.
    pub volume: f64,
    /// Surface area, in m^2.
    pub area: f64,
    /// Centroid, in m.
    pub centroid: Vec3,
    /// The integral of `x x^T` over the solid, `x` from the centroid, in m^5.
    pub second_moment: Mat3,
}

impl Shape {
    /// Returns the mass properties at a uniform `density` in kg/m^3.
    ///
    /// # Errors
    ///
    /// If the density is not finite and positive, if mass or inertia would overflow or underflow,
    /// or if the shape is a half-space, which is unbounded.
    pub fn mass_properties(&self, density: f64) -> Result<MassProperties, MassError> {
        if !(density > 0.0 && density.is_finite()) {
            return Err(MassError::NotPositive { field: "density", value: density });
        }
        let solid = match self {
            Self::Sphere(s) => sphere(s),
            Self::Capsule(s) => capsule(s),
            Self::Cylinder(s) => cylinder(s),
            Self::Cone(s) => cone(s),
            Self::Cuboid(s) => cuboid(s),
            Self::Hull(hull) => *hull.integrals(),
            Self::HalfSpace(_) => return Err(MassError::Unbounded),
        };
        // I = trace(C) 1 - C, from |x|^2 1 - x x^T.
        let c = solid.second_moment;
        let diagonal =
            Vec3::new(c.y_axis.y + c.z_axis.z, c.x_axis.x + c.z_axis.z, c.x_axis.x + c.y_axis.y);
        let [xy, xz, yz] = [c.x_axis.y, c.x_axis.z, c.y_axis.z];
        MassProperties {
            mass: solid.volume,
            volume: solid.volume,
            area: solid.area,
            center_of_mass: solid.centroid,
            inertia: symmetric(diagonal, -xy, -xz, -yz),
        }
        .times(density)
        .ok_or(MassError::OutOfRange { field: "density", value: density })
    }
}

impl MassProperties {
    /// Returns the mass properties of the same solid with its density changed so that its mass is
    /// `mass` kilograms.
    ///
    /// # Errors
    ///
    /// If the mass is not finite and positive, or the inertia would overflow or underflow.
    pub fn with_mass(self, mass: f64) -> Result<Self, MassError> {
        if !(mass > 0.0 && mass.is_finite()) {
            return Err(MassError::NotPositive { field: "mass", value: mass });
        }
        self.times(mass / self.mass)
            .map(|scaled| Self { mass, ..scaled })
            .ok_or(MassError::OutOfRange { field: "mass", value: mass })
    }

    /// Multiplies mass and inertia by `factor`, if they stay finite and positive.
    fn times(self, factor: f64) -> Option<Self> {
        let scaled = Self { mass: self.mass * factor, inertia: self.inertia * factor, ..self };
        let [x, y, z] = scaled.inertia.to_cols_array_2d();
        let is_usable = |v: f64| v >= f64::MIN_POSITIVE && v.is_finite();
        [scaled.mass, x[0], y[1], z[2]].into_iter().all(is_usable).then_some(scaled)
    }

    /// The mass properties of a point without mass.
    pub(crate) const POINT: Self =
        Self { mass: 0.0, volume: 0.0, area: 0.0, center_of_mass: Vec3::ZERO, inertia: Mat3::ZERO };

    /// Returns the mass properties in a frame in which the shape's frame is at `place`.
    ///
    /// ```
    /// use msd_sim::geometry::Shape;
    /// use msd_sim::math::{Pose, Vec3};
    /// let ball = Shape::sphere(1.0)?.mass_properties(1.0)?.with_mass(2.0)?;
    /// let pair = ball.at(&Pose::at(Vec3::X)).combined(&ball.at(&Pose::at(-Vec3::X)));
    /// // Twice 2/5 m r^2 + m d^2 across, and twice 2/5 m r^2 along.
    /// assert_eq!((pair.mass, pair.center_of_mass), (4.0, Vec3::ZERO));
    /// assert!((pair.inertia.y_axis.y - 2.0 * (0.8 + 2.0)).abs() < 1e-14);
    /// assert!((pair.inertia.x_axis.x - 2.0 * 0.8).abs() < 1e-14);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn at(&self, place: &Pose) -> Self {
        if *place == Pose::IDENTITY {
            return *self;
        }
        let center_of_mass = place.transform_point(self.center_of_mass);
        if place.rotation == Quat::IDENTITY {
            return Self { center_of_mass, ..*self };
        }
        let turn = Mat3::from_quat(place.rotation);
        let turned = turn * self.inertia * turn.transpose();
        // Rounding must not make the tensor asymmetric.
        let inertia = (turned + turned.transpose()) * 0.5;
        Self { center_of_mass, inertia, ..*self }
    }

    /// Returns the mass properties of two solids, in one frame, that are rigidly connected.
    pub fn combined(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        let way = other.center_of_mass - self.center_of_mass;
        let center_of_mass = self.center_of_mass + way * (other.mass / mass);
        Self {
            mass,
            volume: self.volume + other.volume,
            area: self.area + other.area,
            center_of_mass,
            inertia: self.inertia_about(center_of_mass) + other.inertia_about(center_of_mass),
        }
    }

    /// Returns the inertia tensor about `point` (in the shape's frame), in kg m^2.
    ///
    /// Parallel-axis theorem: with d from the center of mass to the point, m (|d|^2 1 - d d^T) is
    /// added.
    pub fn inertia_about(&self, point: Vec3) -> Mat3 {
        let d = point - self.center_of_mass;
        let square = d * d;
        let diagonal = Vec3::new(square.y + square.z, square.x + square.z, square.x + square.y);
        self.inertia + symmetric(diagonal, -d.x * d.y, -d.x * d.z, -d.y * d.z) * self.mass
    }

    /// Returns the principal moments and axes.
    pub fn principal(&self) -> PrincipalAxes {
        let (moments, axes) = eigen_symmetric(self.inertia);
        let mut order = [0, 1, 2];
        order.sort_by(|&i, &j| moments[i].total_cmp(&moments[j]));
        let [x, y, z] = order.map(|i| axes[i]);
        // An odd permutation mirrors the frame; flipping one axis mirrors it back.
        let z = if x.cross(y).dot(z) < 0.0 { -z } else { z };
        PrincipalAxes {
            moments: Vec3::from_array(order.map(|i| moments[i])),
            rotation: Quat::from_mat3(&Mat3::from_cols(x, y, z)).normalize(),
        }
    }
}

fn symmetric(diagonal: Vec3, xy: f64, xz: f64, yz: f64) -> Mat3 {
    Mat3::from_cols(
        Vec3::new(diagonal.x, xy, xz),
        Vec3::new(xy, diagonal.y, yz),
        Vec3::new(xz, yz, diagonal.z),
    )
}

/// Off-diagonal entries this small relative to the geometric mean of their diagonal entries have
/// converged.
///
/// Then every eigenvalue, even the smallest, has that relative accuracy, and a cube keeps its axes
/// although rounding leaves its products of inertia non-zero.
const JACOBI_TOLERANCE: f64 = 8.0 * f64::EPSILON;

/// Maximum number of Jacobi sweeps; convergence is quadratic, so five or six suffice.
const MAX_JACOBI_SWEEPS: usize = 32;

/// Returns eigenvalues and unit eigenvectors of a symmetric positive matrix, by Jacobi rotations.
///
/// Each rotation in the plane of axes p, q makes a_pq zero: with theta = (a_qq - a_pp) / (2 a_pq),
/// t = tan of the angle solves t^2 + 2 theta t - 1 = 0, and the smaller root is taken.
fn eigen_symmetric(matrix: Mat3) -> ([f64; 3], [Vec3; 3]) {
    let mut a = matrix.to_cols_array_2d();
    let mut axes = [Vec3::X, Vec3::Y, Vec3::Z];
    for _ in 0..MAX_JACOBI_SWEEPS {
        let mut is_done = true;
        for (p, q, r) in [(0, 1, 2), (0, 2, 1), (1, 2, 0)] {
            // A product of ratios, which neither overflow nor depend on the unit.
            let off = a[p][q];
            if off == 0.0
                || ((off / a[p][p]) * (off / a[q][q])).abs() <= JACOBI_TOLERANCE * JACOBI_TOLERANCE
            {
                continue;
            }
            is_done = false;
            let theta = (a[q][q] - a[p][p]) / (2.0 * off);
            let t = 1.0_f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
            let cos = 1.0 / (t * t + 1.0).sqrt();
            let sin = t * cos;
            a[p][p] -= t * off;
            a[q][q] += t * off;
            (a[p][q], a[q][p]) = (0.0, 0.0);
            let (rp, rq) = (a[r][p], a[r][q]);
            let (rp, rq) = (cos * rp - sin * rq, sin * rp + cos * rq);
            (a[r][p], a[p][r], a[r][q], a[q][r]) = (rp, rp, rq, rq);
            let (x, y) = (axes[p], axes[q]);
            (axes[p], axes[q]) = (x * cos - y * sin, x * sin + y * cos);
        }
        if is_done {
            break;
        }
    }
    ([a[0][0], a[1][1], a[2][2]], axes)
}

impl SolidIntegrals {
    /// The integrals of the empty set.
    pub(super) const EMPTY: Self =
        Self { volume: 0.0, area: 0.0, centroid: Vec3::ZERO, second_moment: Mat3::ZERO };

    fn about_axes(volume: f64, area: f64, centroid: Vec3, second: Vec3) -> Self {
        Self { volume, area, centroid, second_moment: Mat3::from_diagonal(second) }
    }

    /// Returns the integrals of a hull; see [`volume_moments`].
    pub(super) fn of_hull(hull: &ConvexHull) -> Self {
        let vertices = hull.vertices();
        let mean = vertices.iter().sum::<Vec3>() / vertices.len() as f64;
        // Two passes: about the centroid, the second moments need no subtraction.
        let (volume, first, _) = volume_moments(hull, mean);
        let centroid = mean + if volume > 0.0 { first / volume } else { Vec3::ZERO };
        let (volume, first, second) = volume_moments(hull, centroid);
        let rest = if volume > 0.0 { first / volume } else { Vec3::ZERO };
        let area = fan_triangles(hull, centroid).map(|[a, b, c]| (b - a).cross(c - a).length());
        Self {
            volume,
            area: 0.5 * area.sum::<f64>(),
            centroid: centroid + rest,
            second_moment: second,
        }
    }
}

/// Returns the faces as counter-clockwise triangles, with corners relative to `origin`.
fn fan_triangles(hull: &ConvexHull, origin: Vec3) -> impl Iterator<Item = [Vec3; 3]> + '_ {
    let at = move |h: &super::hull::HalfEdge| hull.vertices()[h.origin as usize] - origin;
    (0..hull.face_count() as u32).flat_map(move |f| {
        let sides = hull.face(f);
        let first = at(&sides[0]);
        sides[1..].windows(2).map(move |pair| [first, at(&pair[0]), at(&pair[1])])
    })
}

/// Returns the integrals of 1, `x` and `x x^T` over a hull, with `x` relative to an `origin` inside
/// it.
///
/// For f homogeneous of degree k, div(x f) = (k + 3) f; so by the divergence theorem the integral
/// of f over the solid is 1/(k + 3) of that of f (x . n) over its surface. On a triangle a, b, c
/// with normal n, x . n is its height over the origin, and height times area is half of
/// d = a . (b x c). On the triangle with area A and s = a + b + c the integrals of 1, x and
/// x x^T are A, A s / 3 and A / 12 (s s^T + a a^T + b b^T + c c^T). Together:
///
/// - volume: the sum of d / 6
/// - first: the sum of d s / 24
/// - second: the sum of d (s s^T + a a^T + b b^T + c c^T) / 120
///
/// From inside, every d is positive, so nothing cancels.
fn volume_moments(hull: &ConvexHull, origin: Vec3) -> (f64, Vec3, Mat3) {
    let (mut volume, mut first) = (0.0, Vec3::ZERO);
    // The squares, and the products xy, xz, yz.
    let (mut squares, mut products) = (Vec3::ZERO, Vec3::ZERO);
    for [a, b, c] in fan_triangles(hull, origin) {
        // b x c and (b - a) x (c - a) differ by multiples of a; the second has shorter factors.
        let d = a.dot((b - a).cross(c - a));
        let s = a + b + c;
        volume += d;
        first += d * s;
        for x in [s, a, b, c] {
            squares += d * (x * x);
            products += d * Vec3::new(x.x * x.y, x.x * x.z, x.y * x.z);
        }
    }
    let second = symmetric(squares, products.x, products.y, products.z) / 120.0;
    (volume / 6.0, first / 24.0, second)
}

/// Returns the integrals of a sphere: the mean of x^2 is r^2 / 5.
fn sphere(s: &Sphere) -> SolidIntegrals {
    let r2 = s.radius * s.radius;
    let volume = 4.0 / 3.0 * PI * r2 * s.radius;
    SolidIntegrals::about_axes(volume, 4.0 * PI * r2, Vec3::ZERO, Vec3::splat(0.2 * r2 * volume))
}

/// Returns the integrals of a cylinder: over a disc the mean of x^2 is r^2 / 4, over the height that of z^2
/// is h^2 / 3.
fn cylinder(s: &Cylinder) -> SolidIntegrals {
    let (r, h) = (s.radius, s.half_height);
    let volume = 2.0 * PI * r * r * h;
    let across = 0.25 * r * r * volume;
    SolidIntegrals::about_axes(
        volume,
        2.0 * PI * r * (r + 2.0 * h),
        Vec3::ZERO,
        Vec3::new(across, across, h * h / 3.0 * volume),
    )
}

/// Returns the integrals of a capsule: a cylinder and two hemispheres.
///
/// The points of a hemisphere lie 3 r / 8 above its flat side on average, so for a hemisphere moved
/// up by h the mean of z^2 = (h + u)^2 is h^2 + 3 h r / 4 + r^2 / 5.
fn capsule(s: &Capsule) -> SolidIntegrals {
    let (r, h) = (s.radius, s.half_height);
    let middle = 2.0 * PI * r * r * h;
    let ends = 4.0 / 3.0 * PI * r * r * r;
    let across = (0.25 * middle + 0.2 * ends) * r * r;
    let along = middle * h * h / 3.0 + ends * (h * h + 0.75 * h * r + 0.2 * r * r);
    SolidIntegrals::about_axes(
        middle + ends,
        4.0 * PI * r * (r + h),
        Vec3::ZERO,
        Vec3::new(across, across, along),
    )
}

/// Returns the integrals of a cone: with t the distance from the apex over the height, a slice has t^2 of
/// the base's area and a mean x^2 of t^2 r^2 / 4; the mean of t is 3/4, that of t^2 is 3/5.
///
/// So the centroid is a quarter of the height 2 h above the base; the mean of x^2 is 3 r^2 / 20;
/// and the variance of z is (3/5 - 9/16) (2 h)^2 = 3 h^2 / 20.
fn cone(s: &Cone) -> SolidIntegrals {
    let (r, h) = (s.radius, s.half_height);
    let volume = 2.0 / 3.0 * PI * r * r * h;
    let slant = (r * r + 4.0 * h * h).sqrt();
    SolidIntegrals::about_axes(
        volume,
        PI * r * (r + slant),
        Vec3::new(0.0, 0.0, -0.5 * h),
        Vec3::new(r * r, r * r, h * h) * (0.15 * volume),
    )
}

/// Returns the integrals of a box: over a width 2 h the mean of x^2 is h^2 / 3.
fn cuboid(s: &Cuboid) -> SolidIntegrals {
    let h = s.half_extents;
    let volume = 8.0 * h.x * h.y * h.z;
    SolidIntegrals::about_axes(
        volume,
        8.0 * (h.x * h.y + h.y * h.z + h.z * h.x),
        Vec3::ZERO,
        h * h / 3.0 * volume,
    )
}
