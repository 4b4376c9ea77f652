// The colors of the scene, in the linear RGB of the renderer.

import { Color } from "three";
import type { Theme } from "../model";

export interface Palette {
  zenith: Color;
  horizon: Color;
  ground: Color;
  gridLine: Color;
  /** Opacity of the grid lines. */
  gridStrength: number;
  /** Colors of the hemisphere light and the sun. */
  skyLight: Color;
  groundLight: Color;
  sun: Color;
  ambient: number;
  sunlight: number;
  shadow: number;
  /** Environment bodies. */
  environment: Color;
  edge: Color;
  edgeOpacity: number;
  accent: Color;
  box: Color;
  label: string;
  labelBackground: string;
}

export const PALETTES: Record<Theme, Palette> = {
  dark: {
    zenith: new Color("#0b0f17"),
    horizon: new Color("#1b2331"),
    ground: new Color("#323c4d"),
    gridLine: new Color("#8fa3c4"),
    gridStrength: 0.2,
    skyLight: new Color("#dfe9ff"),
    groundLight: new Color("#59524c"),
    sun: new Color("#fff3df"),
    ambient: 1.5,
    sunlight: 2.7,
    shadow: 0.75,
    environment: new Color("#8791a1"),
    edge: new Color("#05070b"),
    edgeOpacity: 0.55,
    accent: new Color("#ffb23e"),
    box: new Color("#7f93b5"),
    label: "#e8eefb",
    labelBackground: "rgba(13, 18, 28, 0.72)",
  },
  light: {
    zenith: new Color("#c9d9ee"),
    horizon: new Color("#eef2f7"),
    ground: new Color("#dfe4ea"),
    gridLine: new Color("#51617d"),
    gridStrength: 0.22,
    skyLight: new Color("#ffffff"),
    groundLight: new Color("#b9b2a8"),
    sun: new Color("#fff4e2"),
    ambient: 1.75,
    sunlight: 2.1,
    shadow: 0.6,
    environment: new Color("#a3abb7"),
    edge: new Color("#1b2330"),
    edgeOpacity: 0.45,
    accent: new Color("#e8590c"),
    box: new Color("#5a6b88"),
    label: "#16202f",
    labelBackground: "rgba(255, 255, 255, 0.78)",
  },
};

/** The colors of the overlays, the same in both themes so that one legend serves both. */
export const OVERLAY_COLORS = {
  loaded: new Color("#ffb81f"),
  idle: new Color("#8fa0b8"),
  deep: new Color("#ff3b3b"),
  normal: new Color("#ffb81f"),
  impulse: new Color("#ff7ac6"),
  cone: new Color("#4dd4e6"),
  contactForce: new Color("#3ddc97"),
  weight: new Color("#b18cff"),
  velocity: new Color("#4da3ff"),
  joint: new Color("#ff9f6b"),
  jointForce: new Color("#ff5fa2"),
  pull: new Color("#ffffff"),
  /** The ring around the selected contact, a color that nothing else has. */
  selected: new Color("#ff2fe0"),
};

const BODIES = [
  "#4c8df0", "#f2994a", "#3fbf8f", "#e5636b", "#a984ee", "#f2c94c",
  "#3bb6d1", "#ee82b5", "#8cc152", "#d98b5f", "#6f86d6", "#5fc9b4",
].map((name) => new Color(name));

/** Returns a color for an index; adjacent indices are easy to distinguish. */
export function colorOf(index: number): Color {
  return BODIES[index % BODIES.length];
}

const SCALE = ["#4a63c8", "#2b8cc4", "#20a394", "#7fc75c", "#f7d33c", "#ff8f3a"].map(
  (name) => new Color(name),
);

/** Interpolates the color scale, from slow (0) to fast (1). */
export function scaleColor(fraction: number, out: Color): Color {
  const at = Math.min(Math.max(fraction, 0), 1) * (SCALE.length - 1);
  const low = Math.min(Math.floor(at), SCALE.length - 2);
  return out.copy(SCALE[low]).lerp(SCALE[low + 1], at - low);
}

export const AT_REST = new Color("#3d7fd6");
export const MOVING = new Color("#f2a65a");
