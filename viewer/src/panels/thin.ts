// Long courses have more rows than a chart has pixels. Of each stretch the rows with a largest or a smallest
// value stay, so that no peak is lost.

export type Column = (number | null)[];

/** The rows to keep so that there are about `stretches` stretches. */
export function rowsToKeep(columns: readonly (readonly number[])[], length: number, stretches: number): number[] | null {
  if (length <= 3 * stretches) return null;
  const kept: number[] = [];
  const size = length / stretches;
  for (let stretch = 0; stretch < stretches; stretch++) {
    const start = Math.floor(stretch * size);
    const end = Math.min(length, Math.floor((stretch + 1) * size));
    const rows = new Set<number>([start]);
    for (const column of columns) {
      let [low, high] = [start, start];
      for (let row = start; row < end; row++) {
        if (column[row] < column[low]) low = row;
        if (column[row] > column[high]) high = row;
      }
      rows.add(low);
      rows.add(high);
    }
    kept.push(...[...rows].sort((a, b) => a - b));
  }
  if (kept[kept.length - 1] !== length - 1) kept.push(length - 1);
  return kept;
}

/** A column as the chart wants it: what cannot be drawn is null. */
export function drawable(column: readonly number[], rows: number[] | null, length: number, log: boolean): Column {
  const fit = (value: number | undefined): number | null => {
    if (value === undefined || !Number.isFinite(value)) return null;
    if (!log) return value;
    return value === 0 ? null : Math.abs(value);
  };
  if (rows) return rows.map((row) => fit(column[row]));
  return Array.from({ length }, (_, row) => fit(column[row]));
}
