// The available charts.

import type { Series } from "../model";
import type { Motion } from "../protocol";

export interface Line {
  label: string;
  /** Name of the color, a custom property of the style sheet. */
  color: string;
  dash?: number[];
  /** Whether the line is listed only where it was measured, because other lines say the same in more detail. */
  whereMeasured?: boolean;
  /** Whether the line uses the right axis, because its unit differs from the chart's. */
  right?: boolean;
}

interface Common {
  id: string;
  title: string;
  unit: string;
  rightUnit?: string;
  lines: readonly Line[];
  scale: "linear" | "log" | "linear or log";
  description: string;
}

export interface SeriesChart extends Common {
  source: "series";
  values: (series: Series) => (readonly number[])[];
}

export interface MotionChart extends Common {
  source: "motion";
  values: (motion: Motion) => (readonly number[])[];
}

export type ChartSpec = SeriesChart | MotionChart;

const lines = (...labels: string[]): Line[] => labels.map((label, index) => ({ label, color: `--line-${index + 1}` }));

const columns = (...names: string[]) => (series: Series) => names.map((name) => series.column(name));

function withTotal(series: Series): (readonly number[])[] {
  const [kinetic, potential] = [series.column("kinetic"), series.column("potential")];
  return [kinetic, potential, kinetic.map((value, row) => value + potential[row])];
}

const LEDGER = ["normal_impulses", "friction", "joints", "position_correction", "damping", "applied_forces", "moving_environment", "integration"];
/** The sum of four of them, in steps of earlier versions that measured no more. */
const UNSPLIT = "unsplit";

export const CHARTS: readonly ChartSpec[] = [
  {
    id: "energy", title: "Energy", unit: "J", source: "series", scale: "linear",
    lines: lines("kinetic", "potential", "total"), values: withTotal,
    description: "Kinetic and potential energy of all bodies, and their sum.",
  },
  {
    id: "ledger", title: "Energy ledger", unit: "J", source: "series", scale: "linear",
    lines: [...lines(...LEDGER.map((name) => name.replace("_", " "))), { label: "contacts, joints and errors", color: "--line-9", whereMeasured: true }],
    values: columns(...LEDGER, UNSPLIT),
    description: "Work done on the bodies since the start: energy gained (above 0) or lost (below 0), by cause. Thrown boxes, pulls and changes of gravity count as work of applied forces.",
  },
  {
    id: "energy-error", title: "Energy error", unit: "J", source: "series", scale: "linear or log",
    lines: lines("energy error"), values: columns("energy_error"),
    description: "The change of energy in each step that the ledger does not account for.",
  },
  {
    id: "momentum", title: "Momentum", unit: "kg m/s", source: "series", scale: "linear",
    lines: lines("x", "y", "z"), values: columns("momentum_x", "momentum_y", "momentum_z"),
    description: "Total linear momentum of all bodies.",
  },
  {
    id: "momentum-error", title: "Momentum error", unit: "N s", source: "series", scale: "linear or log",
    lines: lines("momentum error"), values: columns("momentum_error"),
    description: "The change of momentum in each step that the impulses do not account for.",
  },
  {
    id: "angular", title: "Angular momentum", unit: "kg m²/s", source: "series", scale: "linear",
    lines: lines("x", "y", "z"), values: columns("angular_x", "angular_y", "angular_z"),
    description: "Total angular momentum of all bodies about the origin.",
  },
  {
    id: "penetration", title: "Penetration", unit: "m", source: "series", scale: "linear or log",
    lines: lines("deepest overlap"), values: columns("penetration"),
    description: "The deepest overlap of any two bodies.",
  },
  {
    id: "joint-error", title: "Joint error", unit: "m", source: "series", scale: "linear or log",
    lines: lines("joint error"), values: columns("joint_error"),
    description: "The largest position error of any joint.",
  },
  {
    id: "residual", title: "Residual", unit: "relative", source: "series", scale: "log",
    lines: lines("residual"), values: columns("residual"),
    description: "The error the solver left in the contact and joint laws.",
  },
  {
    id: "counts", title: "Counts", unit: "", source: "series", scale: "linear",
    lines: lines("contacts", "islands", "iterations"), values: columns("contacts", "islands", "iterations"),
    description: "Number of contacts, islands and solver iterations.",
  },
  {
    id: "position", title: "Body: position", unit: "m", source: "motion", scale: "linear",
    lines: lines("x", "y", "z"), values: (motion) => motion.position,
    description: "Position of the selected body's center of mass.",
  },
  {
    id: "speed", title: "Body: speed", unit: "m/s", rightUnit: "rad/s", source: "motion", scale: "linear",
    lines: [
      { label: "speed", color: "--line-1" },
      { label: "spin", color: "--line-2", dash: [6, 3], right: true },
    ],
    values: (motion) => [motion.speed, motion.spin],
    description: "Linear and angular speed of the selected body.",
  },
];

/** The charts shown until the user selects others. */
export const DEFAULT_CHARTS = ["energy", "ledger", "penetration", "position"];
