//! The scene format, version 1. SI units throughout.

use std::collections::BTreeMap;
use std::fmt;

use msd_sim::Material;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize};

mod accuracy;
mod collider;
mod combine;
mod solver;

pub use accuracy::AccuracyLevel;
pub use collider::ColliderTable;
pub use combine::{CombineRef, CombineRuleName, CombineTable};
pub use solver::Solver;

/// The version of the format that this crate reads and writes.
pub const VERSION: u32 = 1;

/// A scene: bodies, joints, forces and settings. SI units throughout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Version of this format: 1.
    pub version: u32,
    /// Short title for lists and reports.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// What the scene demonstrates, and the expected result.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Gravity, time step, duration and every setting of the engine.
    #[serde(default)]
    pub world: WorldTable,
    /// Surface materials by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub materials: BTreeMap<String, MaterialTable>,
    /// How two of these materials combine. Default: by the geometric mean.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub combine: Vec<CombineTable>,
    /// Bodies and grids of identical bodies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<BodyTable>,
    /// Joints between two bodies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joint: Vec<JointTable>,
    /// Forces and torques that act for a limited time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub force: Vec<ForceTable>,
    /// Force fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub potential: Vec<PotentialTable>,
}

/// Settings of a scene. Omitted ones have the engine's defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorldTable {
    /// Uniform gravity, m/s^2. Default [0, 0, -9.81].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gravity: Option<[f64; 3]>,
    /// Time step, s. Default 1/60.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dt: Option<f64>,
    /// Simulated time, s; rounded to whole steps. Default 10. Not together with `steps`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    /// Number of steps. Not together with `duration`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// How exact steps are, and what they may cost: `fast`, `balanced` or `exact`. Default `balanced`. The settings
    /// behind it are advanced: `solver`, `max_exact_bodies`, `max_exact_cost`, `newton_steps` and others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<AccuracyLevel>,
    /// Solver for the contact and joint impulses. Default `soft-step`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solver: Option<Solver>,
    /// Substeps per step, 1 to 64. Default 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub substeps: Option<u32>,
    /// Approach speed above which restitution acts, m/s. Default 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest_speed: Option<f64>,
    /// Fraction of an overlap or joint gap that each substep removes, above 0 and at most 1. Default 0.2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position_correction: Option<f64>,
    /// Maximum speed of that correction, m/s. Default 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position_correction_speed: Option<f64>,
    /// Distance below which contacts enter the solver, as a fraction of the smaller body's size. Default 0.02.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// Relative motion up to which contact points are reused, as a fraction of the smaller body's size. Default 1e-5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reuse: Option<f64>,
    /// Solver sweeps over each island, 1 or more. Default 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sweeps: Option<u32>,
    /// Relative residual at which a solve has converged, at most 0.01. Default 1e-10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Maximum iterations of solvers that iterate to the tolerance. Default 200.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
    /// Maximum Newton steps per island and substep. Default as the accuracy says: 40, or 2000 with `exact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newton_steps: Option<u32>,
    /// Maximum 6x6 block products of Newton steps per island and substep. Default as the accuracy says: 30000, no limit
    /// with `exact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newton_work: Option<u32>,
    /// Bodies that get continuous collision detection. Default auto.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continuous: Option<ContinuousMode>,
    /// Budget for resolving impacts in sequence, 1 or more: maximum impact times of an island per substep, multiplied
    /// by the square of its number of bodies. The maximum is always between 1 and 256. Default 16384.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impact_work: Option<u32>,
    /// Whether to keep the energy and momentum ledger. Default true: without it, runs cannot check energy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit: Option<bool>,
    /// Whether islands at rest are put to sleep. Default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleeping: Option<bool>,
    /// A body is at rest while its fastest point is slower than this, m/s, 0 or more. Default 0.05.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep_speed: Option<f64>,
    /// Time at rest before a body may sleep, s, 0 or more. Default 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep_time: Option<f64>,
    /// Maximum inertial bodies of an island that is stepped exactly; larger islands are swept, which is faster and less
    /// exact. 0 sweeps everything, 4294967295 nothing. Default as the accuracy says: 128, no limit with `exact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_exact_bodies: Option<u32>,
    /// Maximum cost of exact steps of islands that slide, tumble or collide, per body and step, in visits of a contact point
    /// by a sweep; costlier islands of five and more bodies without joints are swept. 1 or more; 300 makes heaps in motion
    /// 1.1 to 16 times as fast, but approximate. Default 4294967295, no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_exact_cost: Option<u32>,
    /// Maximum threads, 1 or more. Default all cores. Fewer are used where more would not help; results do not depend
    /// on the number, bit for bit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
}

/// The bodies that get continuous collision detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContinuousMode {
    /// Bodies that could pass through each other or may bounce.
    Auto,
    /// All moving bodies.
    Always,
    /// Only pairs that are already close: a fast body may tunnel through a thin one.
    Never,
}

/// A surface material.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaterialTable {
    /// Coefficient of restitution, speed after an impact over speed before, 0 to 1. Default 0.5.
    #[serde(default = "restitution")]
    pub restitution: f64,
    /// Coefficient of friction, maximum tangential over normal force, 0 or more. Default 0.5.
    #[serde(default = "friction")]
    pub friction: f64,
}

impl Default for MaterialTable {
    fn default() -> Self {
        let material = Material::default();
        Self { restitution: material.restitution(), friction: material.friction() }
    }
}

fn restitution() -> f64 {
    MaterialTable::default().restitution
}

fn friction() -> f64 {
    MaterialTable::default().friction
}

/// A material by its name in `materials`, or inline.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MaterialRef {
    /// A name in `materials`.
    Name(String),
    /// Restitution and friction, inline.
    Inline(MaterialTable),
}

impl<'de> Deserialize<'de> for MaterialRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = MaterialRef;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a material's name or { restitution = .., friction = .. }")
            }
            fn visit_str<E>(self, name: &str) -> Result<MaterialRef, E> {
                Ok(MaterialRef::Name(name.to_owned()))
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                map: A,
            ) -> Result<MaterialRef, A::Error> {
                MaterialTable::deserialize(MapAccessDeserializer::new(map)).map(MaterialRef::Inline)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// A body, or a grid of copies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BodyTable {
    /// Unique name for references and reports. A copy in an array is `name[i,j,k]`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Whether forces move the body.
    pub kind: Kind,
    /// Collision shape. Not together with `collider`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<ShapeTable>,
    /// Mass, kg, of all colliders together. Not together with `density`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Density of the shape, and of colliders without one, kg/m^3. Default 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Inertia about the center of mass in the body's axes, kg m^2: [xx, yy, zz] or
    /// [xx, yy, zz, xy, xz, yz]. Default: that of the filled shape or colliders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inertia: Option<Vec<f64>>,
    /// Center of mass in the frame of the shape or colliders, m. Default: that of the filled shape or colliders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub center_of_mass: Option<[f64; 3]>,
    /// Reference point of `position` and anchors. Default: the center of mass of a body of one `shape`; of any other body,
    /// the origin of the frame in which its colliders are placed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Position, m. Default [0, 0, 0].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub position: [f64; 3],
    /// Orientation. Default unrotated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<OrientationTable>,
    /// Velocity of the center of mass, m/s. Makes an environment body kinematic.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub velocity: [f64; 3],
    /// Angular velocity in world axes, rad/s. Makes an environment body kinematic.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub angular_velocity: [f64; 3],
    /// Surface material, and that of colliders without one. Default restitution 0.5, friction 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<MaterialRef>,
    /// Decay rates of the velocities, 1/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<DampingTable>,
    /// Factor on gravity. Default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gravity_scale: Option<f64>,
    /// Collision filter, and that of colliders without one. Default: collides with all bodies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<FilterTable>,
    /// Grid of copies. Default: a single body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayTable>,
    /// Colliders of a body of several shapes. Not together with `shape`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collider: Vec<ColliderTable>,
}

impl BodyTable {
    /// Returns the name, or `body[index]` for a body without one.
    pub(crate) fn name_or(&self, index: usize) -> String {
        if self.name.is_empty() { format!("body[{index}]") } else { self.name.clone() }
    }
}

/// Returns whether a vector may be omitted without changing a bit; -0.0 may not.
fn is_zero(vector: &[f64; 3]) -> bool {
    vector.iter().all(|value| value.to_bits() == 0)
}

/// The kind of a body: whether forces move it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Has mass and moves under forces.
    Inertial,
    /// Does not react to forces: static, or kinematic with a given velocity.
    Environment,
}

/// The reference point of a body's position and anchors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The center of mass.
    CenterOfMass,
    /// The origin of the shape, such as that of a mesh file, or of the frame in which the colliders are placed.
    Shape,
}

impl From<Origin> for msd_sim::Origin {
    fn from(origin: Origin) -> Self {
        match origin {
            Origin::CenterOfMass => Self::CenterOfMass,
            Origin::Shape => Self::Frame,
        }
    }
}

/// A shape in its own frame. Capsules, cylinders and cones have their axis along z, centered at half height.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ShapeTable {
    /// A ball.
    Sphere {
        /// Radius, m.
        radius: f64,
    },
    /// A cylinder with hemispherical ends.
    Capsule {
        /// Radius, m.
        radius: f64,
        /// Half the distance between the hemispheres' centers, m.
        half_height: f64,
    },
    /// A round rod or disc.
    Cylinder {
        /// Radius, m.
        radius: f64,
        /// Half the height, m.
        half_height: f64,
    },
    /// A cone, tip up.
    Cone {
        /// Radius of the base, m.
        radius: f64,
        /// Half the height, m.
        half_height: f64,
    },
    /// A box.
    Cuboid {
        /// Half the edge lengths, m.
        half_extents: [f64; 3],
    },
    /// All points with `normal . x <= offset`; environment only.
    HalfSpace {
        /// Outward normal of the surface; need not have unit length.
        normal: [f64; 3],
        /// Height of the surface along the normal, m. Default 0.
        #[serde(default)]
        offset: f64,
    },
    /// The convex hull of points or of a mesh.
    Hull {
        /// Points, m. Not together with `mesh`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        points: Option<Vec<[f64; 3]>>,
        /// Path of an OBJ, STL, PLY or glTF file in the scene's folder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mesh: Option<String>,
        /// Scale factor of the mesh or points, m per unit. Default 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scale: Option<f64>,
    },
    /// Several shapes: short for a body with `collider` tables. Only as the shape of a body.
    Compound(Vec<ColliderTable>),
}

impl ShapeTable {
    pub(crate) fn is_compound(&self) -> bool {
        matches!(self, Self::Compound(_))
    }
}

/// A rotation in one of three forms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OrientationTable {
    /// Rotation axis, of any length; with `angle_deg`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axis: Option<[f64; 3]>,
    /// Rotation angle, degrees; with `axis`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub angle_deg: Option<f64>,
    /// Quaternion [x, y, z, w], of unit length to within 0.01.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quaternion: Option<[f64; 4]>,
    /// Rotations about the fixed x, then y, then z axis (roll, pitch, yaw), degrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub euler_deg: Option<[f64; 3]>,
}

/// Decay rates of the velocities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DampingTable {
    /// Decay rate of the linear velocity, 1/s. Default 0.
    #[serde(default)]
    pub linear: f64,
    /// Decay rate of the angular velocity, 1/s. Default 0.
    #[serde(default)]
    pub angular: f64,
}

/// A collision filter: two bodies collide if each is in a group of the other's mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FilterTable {
    /// Groups that the body belongs to, one per bit. Default all.
    #[serde(default = "all")]
    pub groups: u32,
    /// Groups that the body collides with, one per bit. Default all.
    #[serde(default = "all")]
    pub mask: u32,
}

fn all() -> u32 {
    u32::MAX
}

/// A grid of copies, the first at the body's position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrayTable {
    /// Number of copies along x, y and z.
    pub count: [u64; 3],
    /// Distance between neighbors along x, y and z, m.
    pub spacing: [f64; 3],
    /// Maximum random offset of each coordinate, m. Default 0.
    #[serde(default)]
    pub jitter: f64,
    /// Whether each copy gets a random orientation. Default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub random_orientation: bool,
    /// Seed of the random numbers. Default 0.
    #[serde(default)]
    pub seed: u32,
}

/// A joint between two bodies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JointTable {
    /// Kind of joint.
    pub kind: JointName,
    /// Name of body A.
    pub a: String,
    /// Name of body B.
    pub b: String,
    /// Anchor on A, in its frame, m. Default its center of mass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor_a: Option<[f64; 3]>,
    /// Anchor on B, in its frame, m. Default its center of mass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor_b: Option<[f64; 3]>,
    /// Distance joints: fixed distance, or rest length of a spring, m. Not together with `min` or `max`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// Distance joints: minimum distance, m. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Distance joints: maximum distance, m. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Distance joints: stiffness, which makes the joint a spring, N/m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stiffness: Option<f64>,
    /// Damping of the spring, N s/m. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<f64>,
    /// Whether the two bodies collide with each other. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collide: Option<bool>,
}

/// Kinds of joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JointName {
    /// Fixes or limits the distance between the anchors, or is a spring.
    Distance,
    /// Keeps the anchors at the same point.
    Ball,
}

/// A force or torque on a body for a limited time. In a step that it covers only partly, it is scaled by the covered
/// fraction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForceTable {
    /// Name of an inertial body.
    pub body: String,
    /// Force in world axes, N.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub force: [f64; 3],
    /// Torque in world axes, N m.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub torque: [f64; 3],
    /// Point where the force acts, in the body's frame, m. Default its center of mass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<[f64; 3]>,
    /// Start time, s. Default 0.
    #[serde(default)]
    pub from: f64,
    /// End time, s. Default never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
}

/// A force field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PotentialTable {
    /// Kind of field.
    pub kind: PotentialName,
    /// `point_mass`: position, m. Default [0, 0, 0].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<[f64; 3]>,
    /// `point_mass`: gravitational constant times mass, m^3/s^2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// `point_mass`: softening radius, m. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<f64>,
    /// `spring`: name of the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// `spring`: anchor on the body, in its frame, m. Default its center of mass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<[f64; 3]>,
    /// `spring`: anchor in the world, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<[f64; 3]>,
    /// `spring`: stiffness, N/m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stiffness: Option<f64>,
    /// `spring`: rest length, m. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest_length: Option<f64>,
    /// `spring`: damping, N s/m. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<f64>,
    /// `drag`: force per speed, N s/m. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linear: Option<f64>,
    /// `drag`: force per speed squared, N s^2/m^2. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quadratic: Option<f64>,
    /// `drag`: torque per angular speed, N m s. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angular: Option<f64>,
    /// `drag`: torque per angular speed squared, N m s^2. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub angular_quadratic: Option<f64>,
    /// `drag`: velocity of the medium, m/s. Default [0, 0, 0].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub medium: Option<[f64; 3]>,
    /// `uniform`: acceleration, m/s^2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceleration: Option<[f64; 3]>,
}

/// Kinds of force fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PotentialName {
    /// The gravity of a point mass, to second order in the body's size.
    PointMass,
    /// A spring between a body and a point of the world.
    Spring,
    /// Drag in a medium.
    Drag,
    /// A uniform acceleration.
    Uniform,
}

/// Returns the JSON Schema of the format.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Scene).to_value()
}
