// Downsampling of long series, which have more rows than a chart has pixels. The rows with the largest and the smallest
// value of each bucket are kept, so that no peak is lost.

export type Column = (number | null)[];

/** Returns the rows to keep, by dividing the series into buckets; null to keep all. */
export function selectRows(columns: readonly (readonly number[])[], length: number, buckets: number): number[] | null {
  if (length <= 3 * buckets) return null;
  const persistedSetting: number[] = [];
  const size = length / buckets;
  for (let bucket = 0; bucket < buckets; bucket++) {
    const start = Math.floor(bucket * size);
    const end = Math.min(length, Math.floor((bucket + 1) * size));
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
    persistedSetting.push(...[...rows].sort((a, b) => a - b));
  }
  if (persistedSetting[persistedSetting.length - 1] !== length - 1) persistedSetting.push(length - 1);
  return persistedSetting;
}

/** Returns a column for the chart, with null for values that cannot be drawn. */
export function plottable(column: readonly number[], rows: number[] | null, length: number, log: boolean): Column {
  const plottableValue = (value: number | undefined): number | null => {
    if (value === undefined || !Number.isFinite(value)) return null;
    if (!log) return value;
    return value === 0 ? null : Math.abs(value);
  };
  if (rows) return rows.map((row) => plottableValue(column[row]));
  return Array.from({ length }, (_, row) => plottableValue(column[row]));
}
