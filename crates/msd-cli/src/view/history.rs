//! The time series of a run, downsampled as it grows.

use msd_record::Frame;

use crate::totals::Energy;

/// Number of rows at which they are merged in pairs.
const MAX_ROWS: usize = 4096;

/// The rule by which two values of a column are merged.
#[derive(Clone, Copy)]
enum Merge {
    /// Keep the later value.
    Last,
    /// Keep the value of larger magnitude.
    Peak,
    /// Add the values.
    Sum,
}

/// The columns of a row: the name used by the page, and the merge rule.
const COLUMNS: [(&str, Merge); 28] = [
    ("step", Merge::Last),
    ("time", Merge::Last),
    ("kinetic", Merge::Last),
    ("potential", Merge::Last),
    ("normal_impulses", Merge::Last),
    ("friction", Merge::Last),
    ("joints", Merge::Last),
    ("position_correction", Merge::Last),
    ("damping", Merge::Last),
    ("applied_forces", Merge::Last),
    ("moving_environment", Merge::Last),
    ("integration", Merge::Last),
    ("unsplit", Merge::Last),
    ("energy_error", Merge::Peak),
    ("momentum_x", Merge::Last),
    ("momentum_y", Merge::Last),
    ("momentum_z", Merge::Last),
    ("angular_x", Merge::Last),
    ("angular_y", Merge::Last),
    ("angular_z", Merge::Last),
    ("momentum_error", Merge::Peak),
    ("penetration", Merge::Peak),
    ("joint_error", Merge::Peak),
    ("residual", Merge::Peak),
    ("contacts", Merge::Peak),
    ("islands", Merge::Peak),
    ("iterations", Merge::Peak),
    ("begun", Merge::Sum),
];

/// One row of the series.
pub type Row = [f64; COLUMNS.len()];

/// Returns the names of the columns.
pub fn columns() -> Vec<&'static str> {
    COLUMNS.iter().map(|(name, _)| *name).collect()
}

/// The time series of a run.
#[derive(Debug)]
pub struct History {
    rows: Vec<Row>,
    /// Steps per row.
    stride: u64,
    /// The steps since the last row, merged.
    pending: Option<Row>,
    /// Number of steps added.
    steps: u64,
    /// The last step added.
    last: u64,
    energy: Energy,
    /// Number of times the rows were merged; a client with rows of another generation starts over.
    generation: u32,
}

impl Default for History {
    fn default() -> Self {
        let (rows, energy) = (Vec::new(), Energy::default());
        Self { rows, stride: 1, pending: None, steps: 0, last: 0, energy, generation: 0 }
    }
}

impl History {
    /// Adds a step.
    pub fn push(&mut self, frame: &Frame) {
        let row = self.row(frame);
        self.steps += 1;
        let row = self.pending.take().map_or(row, |pending| merged(&pending, &row));
        if !self.steps.is_multiple_of(self.stride) {
            self.pending = Some(row);
            return;
        }
        self.rows.push(row);
        if self.rows.len() >= MAX_ROWS {
            self.rows = self.rows.chunks_exact(2).map(|two| merged(&two[0], &two[1])).collect();
            self.stride *= 2;
            self.generation += 1;
        }
    }

    /// Adds energy that the user brought into the simulation or took out of it, J, to the user's work.
    pub fn add_user_work(&mut self, energy: f64) {
        let user = &mut self.energy.terms.applied_forces;
        *user = Some(user.unwrap_or(0.0) + energy);
    }

    /// Appends the pending steps as a last row, even if they are fewer than a stride.
    pub fn finish(&mut self) {
        self.rows.extend(self.pending.take());
    }

    /// Returns all rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the number of times the rows were merged.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    fn row(&mut self, frame: &Frame) -> Row {
        let report = &frame.report;
        let mut row = [f64::NAN; COLUMNS.len()];
        row[0] = frame.step as f64;
        row[1] = frame.time;
        if frame.step > std::mem::replace(&mut self.last, frame.step) + 1 {
            self.energy.skip();
        }
        if let Some(ledger) = frame.ledger() {
            self.energy.add(ledger, self.steps == 0, report.swept > 0);
            for (value, sum) in row[2..13].iter_mut().zip(self.energy.terms.each_mut()) {
                *value = sum.unwrap_or(f64::NAN);
            }
            let (momentum, error) = (ledger.momentum, ledger.momentum_error());
            row[13] = ledger.energy_error().unwrap_or(f64::NAN);
            row[14..17].copy_from_slice(&momentum.linear.to_array());
            row[17..20].copy_from_slice(&momentum.angular.to_array());
            row[20] = error.linear.length();
        }
        let measured = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let counts = [
            measured(report.max_penetration),
            measured(report.max_joint_error),
            measured(report.residual()),
            report.contacts as f64,
            measured(report.islands.map(|islands| islands as f64)),
            measured(report.solve.map(|solve| solve.iterations as f64)),
            frame.events.begun.len() as f64,
        ];
        row[21..].copy_from_slice(&counts);
        row
    }
}

/// Merges two rows.
fn merged(a: &Row, b: &Row) -> Row {
    std::array::from_fn(|column| match COLUMNS[column].1 {
        Merge::Last => b[column],
        Merge::Peak if a[column].abs() > b[column].abs() || b[column].is_nan() => a[column],
        Merge::Peak => b[column],
        Merge::Sum => a[column] + b[column],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Downsampling 100,000 steps preserves last values, peaks and sums: the peak at step 33,333 and the total number
    /// of contacts begun, one per step, remain.
    #[test]
    fn downsampling_preserves_peaks_and_sums() {
        let mut history = History::default();
        let steps = 100_000;
        for step in 1..=steps {
            let mut frame = Frame { step, time: step as f64, ..Frame::default() };
            frame.report.max_penetration = Some(if step == 33_333 { 0.25 } else { 1e-6 });
            frame.events.begun.push(Default::default());
            history.push(&frame);
        }
        let rows = history.rows();
        assert!(rows.len() < MAX_ROWS && rows.len() >= MAX_ROWS / 2);
        let column =
            |name| columns().iter().position(|column| *column == name).expect("the column exists");
        let peak =
            rows.iter().find(|row| row[column("penetration")] == 0.25).expect("the peak is kept");
        assert!((peak[column("step")] - 33_333.0).abs() < history.stride as f64);
        let begun: f64 = rows.iter().map(|row| row[column("begun")]).sum();
        assert_eq!(begun, rows[rows.len() - 1][column("step")]);
        assert!(steps as f64 - begun < history.stride as f64);
        history.finish();
        assert_eq!(history.rows()[history.rows().len() - 1][column("step")], steps as f64);
    }
}
