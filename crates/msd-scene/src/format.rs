//! The scene format, version 1: what a file can say. SI units throughout.

use std::collections::BTreeMap;
use std::fmt;

use msd_sim::Material;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize};

mod solver;

pub use solver::Solver;

/// The version of the format that this crate reads and writes.
pub const VERSION: u32 = 1;

/// A scene: bodies, joints, forces, and how they are stepped. SI units throughout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Version of this format: 1.
    pub version: u32,
    /// A few words for lists and reports.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// What the scene shows and what to expect.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Gravity, time step, how long, and every setting of the engine.
    #[serde(default)]
    pub world: WorldTable,
    /// Surfaces by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub materials: BTreeMap<String, MaterialTable>,
    /// Bodies, or grids of equal bodies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<BodyTable>,
    /// What holds two bodies together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joint: Vec<JointTable>,
    /// Forces and torques that act for a time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub force: Vec<ForceTable>,
    /// Force fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub potential: Vec<PotentialTable>,
}

/// How a scene is stepped. What is not said has the engine's default.
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
    /// How impulses are found. Default `soft-step`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solver: Option<Solver>,
    /// Pieces into which a step is cut, 1 to 64. Default 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub substeps: Option<u32>,
    /// Restitution acts above this approach speed, m/s. Default 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest_speed: Option<f64>,
    /// Fraction of an overlap that is taken back in a substep, above 0 to 1. Default 0.2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position_correction: Option<f64>,
    /// Fastest such displacement, m/s. Default 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position_correction_speed: Option<f64>,
    /// Contacts are solved for when closer than this fraction of the smaller body's size. Default
    /// 0.02.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
    /// Contact points are kept while bodies moved against each other by less than this fraction of
    /// the smaller size. Default 1e-5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reuse: Option<f64>,
    /// Sweeps over every island, 1 or more. Default 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sweeps: Option<u32>,
    /// Relative residual at which a solve is done, at most 0.01. Default 1e-10.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Most iterations of the solvers that iterate to the tolerance. Default 200.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
    /// Most Newton steps on one island in one substep. Default 40.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newton_steps: Option<u32>,
    /// Most block products of Newton steps on one island in one substep. Default 3000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newton_work: Option<u32>,
    /// Which bodies are kept from passing through each other. Default auto.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continuous: Option<ContinuousMode>,
    /// Most instants of a substep at which an island has its impacts one after another, times the square of
    /// its bodies' number, 1 or more; they are 1 to 256 in any case. Default 16384.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impact_work: Option<u32>,
    /// Keeps the books of energy and momentum. Default true: without them a run has no verdict on
    /// energy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit: Option<bool>,
    /// Whether swept islands that rest are put to sleep. Default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleeping: Option<bool>,
    /// A body of which no point is faster rests, m/s, 0 or more. Default 0.05.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep_speed: Option<f64>,
    /// How long a body has to rest before it may sleep, s, 0 or more. Default 0.5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleep_time: Option<f64>,
    /// Worlds with more inertial bodies than this are swept: fast, and less exact. Default 128.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_exact_bodies: Option<u32>,
    /// Most threads to step on, 1 or more; default all cores. Fewer are used where more do not pay; the result is
    /// the same bits for any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
}

/// Whether the ways of bodies are looked at, or only the places they come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContinuousMode {
    /// Where bodies could pass each other, and where they may bounce.
    Auto,
    /// Of all bodies that move.
    Always,
    /// Only of bodies that are near each other already.
    Never,
}

/// A surface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaterialTable {
    /// Speed after an impact over speed before, 0 to 1. Default 0.5.
    #[serde(default = "restitution")]
    pub restitution: f64,
    /// Largest tangential over normal force, 0 or more. Default 0.5.
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

/// A surface by its name in `materials`, or in place.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum MaterialRef {
    /// A name in `materials`.
    Name(String),
    /// Restitution and friction in place.
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

/// A body, or a grid of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BodyTable {
    /// Unique name, to be referred to and reported. A copy in an array is `name[i,j,k]`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Whether forces move it.
    pub kind: Kind,
    /// What it looks like.
    pub shape: ShapeTable,
    /// Mass, kg. Not together with `density`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Density, kg/m^3. Default 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Inertia about the centre of mass in the shape's axes, kg m^2: [xx, yy, zz] or
    /// [xx, yy, zz, xy, xz, yz]. Default: that of the shape filled evenly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inertia: Option<Vec<f64>>,
    /// Centre of mass in the shape's frame, m. Default: that of the shape filled evenly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub center_of_mass: Option<[f64; 3]>,
    /// What `position` and anchors refer to. Default the centre of mass.
    #[serde(default, skip_serializing_if = "Origin::is_default")]
    pub origin: Origin,
    /// Where it is, m. Default [0, 0, 0].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub position: [f64; 3],
    /// How it is turned. Default not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orientation: Option<OrientationTable>,
    /// Velocity of the centre of mass, m/s. Makes an environment body kinematic.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub velocity: [f64; 3],
    /// Angular velocity in world axes, rad/s. Makes an environment body kinematic.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub angular_velocity: [f64; 3],
    /// Its surface. Default restitution 0.5, friction 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<MaterialRef>,
    /// Rates at which velocity dies away, 1/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<DampingTable>,
    /// Factor on gravity. Default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gravity_scale: Option<f64>,
    /// Which bodies it collides with. Default all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<FilterTable>,
    /// Makes a grid of copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayTable>,
}

impl BodyTable {
    /// Its name, or its place in the list.
    pub(crate) fn name_or(&self, index: usize) -> String {
        if self.name.is_empty() { format!("body[{index}]") } else { self.name.clone() }
    }
}

/// What may be left out without changing a bit: -0.0 may not.
fn is_zero(vector: &[f64; 3]) -> bool {
    vector.iter().all(|value| value.to_bits() == 0)
}

/// Whether forces move a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Has mass, moves under forces.
    Inertial,
    /// Stands still, or moves as told.
    Environment,
}

/// What a body's position and anchors refer to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The centre of mass.
    #[default]
    CenterOfMass,
    /// The origin of the shape, such as that of a mesh file.
    Shape,
}

impl Origin {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A shape in its own frame. Capsules, cylinders and cones stand along z, centred at half height.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ShapeTable {
    /// A ball.
    Sphere {
        /// m.
        radius: f64,
    },
    /// A cylinder with half balls at its ends.
    Capsule {
        /// m.
        radius: f64,
        /// Half the distance of the half balls' centres, m.
        half_height: f64,
    },
    /// A round rod or disc.
    Cylinder {
        /// m.
        radius: f64,
        /// m.
        half_height: f64,
    },
    /// A cone, its tip up.
    Cone {
        /// Of the base, m.
        radius: f64,
        /// m.
        half_height: f64,
    },
    /// A box.
    Cuboid {
        /// Half its edges, m.
        half_extents: [f64; 3],
    },
    /// All points with `normal . x <= offset`; environment only.
    HalfSpace {
        /// Out of the ground; need not be of unit length.
        normal: [f64; 3],
        /// Height of the surface along the normal, m. Default 0.
        #[serde(default)]
        offset: f64,
    },
    /// The convex hull of points, or of a mesh.
    Hull {
        /// Points, m. Not together with `mesh`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        points: Option<Vec<[f64; 3]>>,
        /// An OBJ, STL, PLY or glTF file in the scene's folder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mesh: Option<String>,
        /// Metres per unit of the mesh or of the points. Default 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scale: Option<f64>,
    },
}

/// A rotation, said in one of three ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OrientationTable {
    /// Axis to turn about, of any length; with `angle_deg`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axis: Option<[f64; 3]>,
    /// Angle in degrees; with `axis`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub angle_deg: Option<f64>,
    /// [x, y, z, w], of unit length to within a hundredth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quaternion: Option<[f64; 4]>,
    /// Degrees about the fixed x, then y, then z axis (roll, pitch, yaw).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub euler_deg: Option<[f64; 3]>,
}

/// Rates at which velocity dies away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DampingTable {
    /// 1/s.
    #[serde(default)]
    pub linear: f64,
    /// 1/s.
    #[serde(default)]
    pub angular: f64,
}

/// Two bodies collide if each is in a group of the other's mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FilterTable {
    /// Groups it is in, one per bit.
    #[serde(default = "all")]
    pub groups: u32,
    /// Groups it collides with, one per bit.
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
    /// How many along x, y and z.
    pub count: [u64; 3],
    /// From one to the next, m.
    pub spacing: [f64; 3],
    /// Each coordinate is off by at most this much at random, m. Default 0.
    #[serde(default)]
    pub jitter: f64,
    /// Turns each copy at random. Default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub random_orientation: bool,
    /// Which random numbers. Default 0.
    #[serde(default)]
    pub seed: u32,
}

/// What holds two bodies together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JointTable {
    /// What it allows.
    pub kind: JointName,
    /// Name of a body.
    pub a: String,
    /// Name of the other.
    pub b: String,
    /// Where it holds A, in its frame, m. Default its centre of mass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor_a: Option<[f64; 3]>,
    /// Where it holds B, in its frame, m. Default its centre of mass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor_b: Option<[f64; 3]>,
    /// Distance joints: the distance that is kept, or a spring's length at rest, m. Not together
    /// with `min` or `max`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// Distance joints: least distance, m. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Distance joints: greatest distance, m. Default none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Distance joints: makes it a spring, N/m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stiffness: Option<f64>,
    /// The spring's damper, N s/m. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damping: Option<f64>,
    /// Whether the two still collide. Default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub collide: bool,
}

/// Kinds of joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JointName {
    /// Keeps the distance of the anchors, or bounds it, or is a spring.
    Distance,
    /// Keeps the anchors together.
    Ball,
}

/// A force or torque on a body for a time. What acts for part of a step is scaled to that part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForceTable {
    /// Name of an inertial body.
    pub body: String,
    /// N, in world axes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub force: [f64; 3],
    /// N m, in world axes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub torque: [f64; 3],
    /// Where the force acts, in the body's frame, m. Default its centre of mass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<[f64; 3]>,
    /// From when, s. Default 0.
    #[serde(default)]
    pub from: f64,
    /// Until when, s. Default for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
}

/// A force field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PotentialTable {
    /// What it is.
    pub kind: PotentialName,
    /// `point_mass`: where it is, m. Default [0, 0, 0].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<[f64; 3]>,
    /// `point_mass`: gravitational constant times mass, m^3/s^2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// `point_mass`: radius within which the pull weakens, m. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<f64>,
    /// `spring`: name of the body it pulls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// `spring`: where it is fixed to the body, in its frame, m. Default its centre of mass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<[f64; 3]>,
    /// `spring`: where it is fixed to the world, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<[f64; 3]>,
    /// `spring`: N/m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stiffness: Option<f64>,
    /// `spring`: length at rest, m. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest_length: Option<f64>,
    /// `spring`: N s/m. Default 0.
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
    /// `uniform`: m/s^2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceleration: Option<[f64; 3]>,
}

/// Kinds of force fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PotentialName {
    /// The gravity of a mass, to second order in the body's size.
    PointMass,
    /// A spring between a body and a point of the world.
    Spring,
    /// The resistance of a medium.
    Drag,
    /// The same acceleration everywhere.
    Uniform,
}

/// The JSON Schema of the format.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Scene).to_value()
}
