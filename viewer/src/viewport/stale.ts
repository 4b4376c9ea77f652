// What of the viewport has to be updated before the next frame.

/** The parts that are out of date with the model. */
export interface Stale {
  bodies: boolean;
  moved: boolean;
  colors: boolean;
  overlays: boolean;
  palette: boolean;
  view: boolean;
}

export const allStale = (): Stale => ({
  bodies: true,
  moved: true,
  colors: true,
  overlays: true,
  palette: true,
  view: true,
});
