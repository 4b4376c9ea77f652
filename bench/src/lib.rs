//! The same queries on the same pairs of shapes at the same poses, for msd and its peers.

pub mod rapier;

use std::hint::black_box;

use msd_sim::geometry::{
    PairMemory, Shape, Simplex, Workspace, contact_manifold, distance, separation,
};
use msd_sim::math::{Pose, Quat, Vec3};
use parry3d_f64::math::{Pose as PeerPose, Rotation, Vector};
use parry3d_f64::query::{
    self, ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher,
};
use parry3d_f64::shape::{
    Ball, Capsule, Cone, ConvexPolyhedron, Cuboid, Cylinder, HalfSpace, Shape as PeerShape,
};

/// A shape in both engines. Axes of revolution are y in parry and z in msd: `turn` takes y to z.
pub struct EngineShape {
    pub name: &'static str,
    pub ours: Shape,
    pub theirs: Box<dyn PeerShape>,
    turn: Rotation,
}

impl EngineShape {
    fn new(name: &'static str, ours: Shape, theirs: impl PeerShape) -> Self {
        Self { name, ours, theirs: Box::new(theirs), turn: Rotation::IDENTITY }
    }

    fn turned(mut self) -> Self {
        self.turn = Rotation::from_rotation_x(std::f64::consts::FRAC_PI_2);
        self
    }

    /// Converts a pose of msd to one of parry.
    pub fn peer_pose(&self, pose: &Pose) -> PeerPose {
        let (p, q) = (pose.position, pose.rotation);
        let rotation = Rotation::from_xyzw(q.x, q.y, q.z, q.w) * self.turn;
        PeerPose::from_parts(Vector::new(p.x, p.y, p.z), rotation)
    }
}

/// Returns the shapes, about one meter in size.
pub fn shapes() -> Vec<EngineShape> {
    let mut random = Random(7);
    let cloud: Vec<Vec3> = (0..32).map(|_| random.direction() * Vec3::new(0.6, 0.5, 0.4)).collect();
    let peer_cloud: Vec<Vector> = cloud.iter().map(|p| Vector::new(p.x, p.y, p.z)).collect();
    let ours = |shape: Result<Shape, _>| shape.expect("valid sizes");
    vec![
        EngineShape::new("sphere", ours(Shape::sphere(0.5)), Ball::new(0.5)),
        EngineShape::new("capsule", ours(Shape::capsule(0.3, 0.4)), Capsule::new_y(0.4, 0.3))
            .turned(),
        EngineShape::new("cylinder", ours(Shape::cylinder(0.4, 0.5)), Cylinder::new(0.5, 0.4))
            .turned(),
        EngineShape::new("cone", ours(Shape::cone(0.5, 0.5)), Cone::new(0.5, 0.5)).turned(),
        EngineShape::new(
            "cuboid",
            ours(Shape::cuboid(Vec3::new(0.5, 0.4, 0.3))),
            Cuboid::new(Vector::new(0.5, 0.4, 0.3)),
        ),
        EngineShape::new(
            "hull32",
            ours(Shape::hull(&cloud)),
            ConvexPolyhedron::from_convex_hull(&peer_cloud).expect("a hull"),
        ),
        EngineShape::new(
            "half-space",
            ours(Shape::half_space(Vec3::Z, 0.0)),
            HalfSpace::new(Vector::new(0.0, 0.0, 1.0)),
        ),
    ]
}

/// A pseudo-random generator: the same poses on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn direction(&mut self) -> Vec3 {
        loop {
            let v = Vec3::new(self.unit(), self.unit(), self.unit()) * 2.0 - Vec3::ONE;
            if (0.01..1.0).contains(&v.length_squared()) {
                return v.normalize();
            }
        }
    }

    pub fn rotation(&mut self) -> Quat {
        let (a, b) = (self.direction(), self.unit() * std::f64::consts::TAU);
        msd_sim::math::rotation(a, b)
    }
}

/// A kind of geometric query on a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    /// The distance alone, 5 to 100 cm apart.
    Distance,
    /// Depth, direction and witness points, overlapping by 5 to 20 cm.
    Depth,
    /// Contact points, from 5 mm apart to 10 mm deep, as in a running simulation.
    Manifold,
}

impl Query {
    pub const ALL: [Self; 3] = [Self::Distance, Self::Depth, Self::Manifold];

    pub fn name(self) -> &'static str {
        match self {
            Self::Distance => "distance",
            Self::Depth => "depth",
            Self::Manifold => "manifold",
        }
    }

    /// Returns the query of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|query| query.name() == name)
    }

    /// Returns a random gap between the shapes, m.
    fn gap(self, random: &mut Random) -> f64 {
        match self {
            Self::Distance => 0.05 + 0.95 * random.unit(),
            Self::Depth => -0.05 - 0.15 * random.unit(),
            Self::Manifold => 0.005 - 0.015 * random.unit(),
        }
    }
}

/// Largest gap of a contact point, m.
const MARGIN: f64 = 0.01;

/// Number of poses per query.
pub const POSES: usize = 256;

/// Returns the poses of B for `query`, with A at the origin.
fn poses(a: &Shape, b: &Shape, query: Query, seed: u64) -> Vec<Pose> {
    let mut random = Random(seed);
    let mut workspace = Workspace::default();
    let mut separation_at = |pose: &Pose| {
        let simplex = &mut Simplex::default();
        separation(a, &Pose::IDENTITY, b, pose, simplex, &mut workspace).expect("one is bounded")
    };
    let mut poses = Vec::new();
    while poses.len() < POSES {
        let wanted = query.gap(&mut random);
        let mut pose = Pose::new(random.direction() * 2.0, random.rotation());
        for _ in 0..8 {
            let found = separation_at(&pose);
            pose.position += found.normal * (wanted - found.distance);
        }
        if (separation_at(&pose).distance - wanted).abs() < 0.001 {
            poses.push(pose);
        }
    }
    poses
}

type PeerManifolds = Vec<ContactManifold<(), ()>>;

/// A query on one pair, with its poses and buffers.
///
/// Nothing is kept from one pose to the next: every query is cold.
pub struct Case<'a> {
    a: &'a EngineShape,
    b: &'a EngineShape,
    query: Query,
    poses: Vec<Pose>,
    workspace: Workspace,
    peer_a: PeerPose,
    peer_poses: Vec<PeerPose>,
    peer_manifolds: PeerManifolds,
}

impl<'a> Case<'a> {
    pub fn new(a: &'a EngineShape, b: &'a EngineShape, query: Query) -> Self {
        let poses = poses(&a.ours, &b.ours, query, 42);
        Self {
            peer_a: a.peer_pose(&Pose::IDENTITY),
            peer_poses: poses.iter().map(|pose| b.peer_pose(pose)).collect(),
            peer_manifolds: PeerManifolds::new(),
            workspace: Workspace::default(),
            a,
            b,
            query,
            poses,
        }
    }

    /// Queries msd at pose `i` modulo [`POSES`].
    #[inline]
    pub fn query_msd(&mut self, i: usize) {
        let (a, at, b, pose) =
            (&self.a.ours, &Pose::IDENTITY, &self.b.ours, &self.poses[i % POSES]);
        let workspace = &mut self.workspace;
        match self.query {
            Query::Distance => {
                black_box(distance(a, at, b, pose));
            }
            Query::Depth => {
                black_box(separation(a, at, b, pose, &mut Simplex::default(), workspace));
            }
            Query::Manifold => {
                let memory = &mut PairMemory::default();
                black_box(contact_manifold(a, at, b, pose, MARGIN, memory, workspace));
            }
        }
    }

    /// Queries parry at pose `i` modulo [`POSES`].
    #[inline]
    pub fn query_parry(&mut self, i: usize) {
        let (a, at, b, pose) =
            (&*self.a.theirs, &self.peer_a, &*self.b.theirs, &self.peer_poses[i % POSES]);
        match self.query {
            Query::Distance => {
                let _ = black_box(query::distance(at, a, pose, b));
            }
            Query::Depth => {
                let _ = black_box(query::contact(at, a, pose, b, 0.0));
            }
            Query::Manifold => {
                let (manifolds, relative) = (&mut self.peer_manifolds, at.inv_mul(pose));
                manifolds.clear();
                let _ = DefaultQueryDispatcher
                    .contact_manifolds(&relative, a, b, MARGIN, manifolds, &mut None);
                black_box(manifolds);
            }
        }
    }
}

/// Returns every pair of shapes with its name, including pairs of equal shapes, but not two half-spaces, whose overlap
/// is unbounded.
pub fn pairs(shapes: &[EngineShape]) -> impl Iterator<Item = (String, &EngineShape, &EngineShape)> {
    let bounded =
        |a: &EngineShape, b: &EngineShape| a.name != "half-space" || b.name != "half-space";
    shapes.iter().enumerate().flat_map(move |(i, a)| {
        let others = shapes[i..].iter().filter(move |b| bounded(a, b));
        others.map(move |b| (format!("{} - {}", a.name, b.name), a, b))
    })
}
