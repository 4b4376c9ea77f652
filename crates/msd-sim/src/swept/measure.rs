//! What workers measure while they solve a swept step: the work of each pass, and residuals after the last one.
#![allow(unsafe_code)]

use super::residual::{self, ContactLaw, Ends};
use super::substeps::Solve;
use super::work::{End, PassKind};
use crate::constraints::lanes::SharedBodies;
use crate::constraints::solver_rows::SweptContact;
use crate::threads::Worker;

impl Solve<'_> {
    /// Saves the velocities of this worker's bodies before a pass, if the ledger was asked for.
    ///
    /// # Safety
    /// See [`Solve`].
    pub(super) unsafe fn begin_pass(&self, worker: &Worker<'_>) {
        if !self.settings.audit {
            return;
        }
        for &body in &self.awake[worker.range(self.awake.len())] {
            let at = body as usize + 1;
            // SAFETY: this body is in this worker's range; other workers access it only after a barrier.
            unsafe { *self.work.before.get_mut(at) = *self.bodies.velocities.get(at) };
        }
        worker.barrier();
    }

    /// Measures the work of a pass, if the ledger was asked for, and waits for it.
    ///
    /// # Safety
    /// See [`Solve`].
    pub(super) unsafe fn measure_pass(&self, worker: &Worker<'_>, kind: PassKind) {
        if !self.settings.audit {
            return;
        }
        let work = &self.work;
        for &body in &self.awake[worker.range(self.awake.len())] {
            // SAFETY: no worker writes bodies before the barrier, and each body is in one worker's range.
            unsafe {
                work.bodies.get_mut(body as usize).add(kind, self.passed(body as usize + 1));
            }
        }
        // SAFETY: as above; every pair and every joint is in one block.
        unsafe {
            self.each_contact(worker, |contact| {
                let SweptContact { block, lane, .. } = contact;
                let known = work.contacts.get_mut(block.pairs[lane] as usize);
                known.add(kind, &contact, self.ends_of_pass(block.bodies, lane));
            });
        }
        for (balls, distances, _) in self.joints.iter().flatten() {
            // SAFETY: as above; ranges are disjoint.
            unsafe {
                for block in balls.range_mut(worker.range(balls.len())) {
                    for lane in (0..4).filter(|&lane| block.joints[lane] != u32::MAX) {
                        let known = work.joints.get_mut(block.joints[lane] as usize);
                        known.add(kind, &(&*block, lane), self.ends_of_pass(block.bodies, lane));
                    }
                }
                for block in distances.range_mut(worker.range(distances.len())) {
                    for lane in (0..4).filter(|&lane| block.joints[lane] != u32::MAX) {
                        let known = work.joints.get_mut(block.joints[lane] as usize);
                        known.add(kind, &(&*block, lane), self.ends_of_pass(block.bodies, lane));
                    }
                }
            }
        }
        worker.barrier();
    }

    /// Returns the two bodies of a lane in a pass.
    ///
    /// # Safety
    /// See [`passed`](Self::passed).
    unsafe fn ends_of_pass(&self, block: [[u32; 4]; 2], lane: usize) -> [End<'_>; 2] {
        // SAFETY: the caller's contract.
        block.map(|side| unsafe { self.passed(side[lane] as usize) })
    }

    /// Returns a body, by body + 1, before and after a pass.
    ///
    /// # Safety
    /// No worker writes the body before the next barrier.
    unsafe fn passed(&self, at: usize) -> End<'_> {
        let SharedBodies { velocities, frames, delta_poses, .. } = &self.bodies;
        // SAFETY: the caller's contract.
        unsafe {
            End {
                before: self.work.before.get(at),
                after: velocities.get(at),
                frame: frames.get(at),
                delta_pose: delta_poses.get(at),
                forces: self.work.forces.get(at),
            }
        }
    }

    /// Returns the velocities and displacements of the two bodies of a lane.
    ///
    /// # Safety
    /// No worker writes these bodies before the next barrier.
    unsafe fn ends(&self, block: [[u32; 4]; 2], lane: usize) -> Ends<'_> {
        let [a, b] = block.map(|side| side[lane] as usize);
        let SharedBodies { velocities, delta_poses, .. } = &self.bodies;
        // SAFETY: the caller's contract.
        unsafe {
            Ends {
                sweep_bodies: [velocities.get(a), velocities.get(b)],
                delta_poses: [delta_poses.get(a), delta_poses.get(b)],
            }
        }
    }

    /// Measures the residual of friction, before restitution changes velocities.
    ///
    /// # Safety
    /// See [`Solve`].
    pub(super) unsafe fn measure_friction(&self, worker: &Worker<'_>) {
        // SAFETY: the caller's contract. No body is written between two barriers, and a pair is in one block.
        unsafe {
            self.each_contact(worker, |contact| {
                let SweptContact { block, lane, .. } = contact;
                let found = residual::friction(contact, &self.ends(block.bodies, lane));
                *self.contact_residuals.get_mut(block.pairs[lane] as usize) = Some(found);
            });
        }
    }

    /// Measures the residuals of joints.
    ///
    /// # Safety
    /// See [`Solve`].
    pub(super) unsafe fn measure_joints(&self, worker: &Worker<'_>, rate: f64) {
        for (balls, distances, _) in self.joints.iter().flatten() {
            // SAFETY: ranges are disjoint, no body is written before the next barrier, and a joint is in one block.
            unsafe {
                for block in balls.range_mut(worker.range(balls.len())) {
                    for lane in (0..4).filter(|&lane| block.joints[lane] != u32::MAX) {
                        let found = residual::ball(block, lane, &self.ends(block.bodies, lane));
                        *self.joint_residuals.get_mut(block.joints[lane] as usize) = Some(found);
                    }
                }
                for block in distances.range_mut(worker.range(distances.len())) {
                    for lane in (0..4).filter(|&lane| block.joints[lane] != u32::MAX) {
                        let ends = self.ends(block.bodies, lane);
                        let found = residual::distance(block, lane, &ends, rate);
                        *self.joint_residuals.get_mut(block.joints[lane] as usize) = Some(found);
                    }
                }
            }
        }
    }

    /// Measures the residuals of normal impulses.
    ///
    /// # Safety
    /// See [`Solve`].
    pub(super) unsafe fn measure_normals(&self, worker: &Worker<'_>, rate: f64) {
        let law = ContactLaw { rate, rest_speed: self.settings.rest_speed };
        // SAFETY: the caller's contract. No body is written before the next barrier, and a pair is in one block.
        unsafe {
            self.each_contact(worker, |contact| {
                let SweptContact { block, lane, .. } = contact;
                let ends = self.ends(block.bodies, lane);
                let found = self.contact_residuals.get_mut(block.pairs[lane] as usize);
                if let Some(found) = found {
                    residual::normal(contact, &ends, &law, found);
                }
            });
        }
    }
}
