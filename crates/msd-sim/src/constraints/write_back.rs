//! The impulses of a kick, written back to contacts and joints to warm start the next one.

use std::ops::Range;

use super::contact;
use super::problem::Problems;
use crate::bodies::BodySet;
use crate::collision::CollisionPipeline;
use crate::islands::Link;
use crate::joints::JointSet;
use crate::math::Vec3;
use crate::solver::Law;

impl Problems {
    /// Writes impulses back to contacts and joints, to warm start the next kick.
    pub(crate) fn write_back(
        &self,
        bodies: &BodySet,
        collision: &mut CollisionPipeline,
        joints: &mut JointSet,
    ) {
        for (number, outcome) in self.outcomes.iter().enumerate() {
            let range = self.block_starts[number] as usize..self.block_starts[number + 1] as usize;
            // Impulses that were not changed are kept as they are, not rounded once more.
            let same = outcome.report.iterations == 0 || self.is_shock(range.clone(), collision);
            self.write_back_island(range, same, bodies, collision, joints);
        }
    }

    /// Returns whether the impulses of landings exceed those that the other contacts of an island had before. Such a shock
    /// passes through the whole island and predicts nothing; the loads before it do.
    fn is_shock(&self, range: Range<usize>, collision: &CollisionPipeline) -> bool {
        let (mut landing, mut loads) = (0.0, 0.0);
        for (block, info) in self.blocks[range.clone()].iter().zip(&self.infos[range]) {
            if info.approach < 0.0 {
                landing += block.impulse.x;
            } else if let Link::Pair(position) = info.source {
                let contact = collision.near_pair(position as usize).contact;
                loads += contact.points[info.point as usize].impulse.dot(contact.normal);
            }
        }
        landing > loads
    }

    fn write_back_island(
        &self,
        range: Range<usize>,
        same: bool,
        bodies: &BodySet,
        collision: &mut CollisionPipeline,
        joints: &mut JointSet,
    ) {
        let infos = &self.infos[range.clone()];
        for info in infos.iter().filter(|_| !same) {
            if let Link::Joint(index) = info.source {
                joints.joints[index as usize].impulse = Vec3::ZERO;
            }
        }
        for (block, info) in self.blocks[range].iter().zip(infos) {
            let impulse = contact::world_impulse(block);
            match info.source {
                Link::Pair(position) => {
                    let hit = if block.impulse.x > 0.0 { info.approach } else { 0.0 };
                    let (position, point) = (position as usize, info.point as usize);
                    let point = collision.near_list().add_impulse(position, point, impulse, hit);
                    if info.approach < 0.0 {
                        // The impulse of a landing does not predict the next one.
                        point.impulse = Vec3::ZERO;
                    } else if !same {
                        point.impulse = impulse;
                    }
                    point.approach = point.approach.min(hit);
                    point.residual = info.residual;
                }
                Link::Joint(index) => {
                    let joint = &mut joints.joints[index as usize];
                    joint.total += impulse;
                    if same {
                        continue;
                    }
                    if let Law::Bilateral { rows: 3 } = block.law {
                        joint.impulse = block.impulse;
                    } else {
                        // Along the line from A to B, whichever way the row points.
                        let apart = |side: usize| {
                            let body = joint.bodies[side] as usize;
                            bodies.poses[body].transform_point(joint.def.anchors[side])
                        };
                        let forward = block.rows[0].linear.dot(apart(1) - apart(0)) >= 0.0;
                        joint.impulse.x += if forward { block.impulse.x } else { -block.impulse.x };
                    }
                }
            }
        }
    }
}
