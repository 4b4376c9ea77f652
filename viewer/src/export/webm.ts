// WebM files: one video track whose frames have been encoded. The format is EBML: elements with an id, a size and content.

/** An encoded frame. */
export interface EncodedFrame {
  /** Start, ms. */
  time: number;
  key: boolean;
  bytes: Uint8Array<ArrayBuffer>;
}

export interface Video {
  codec: "V_VP8" | "V_VP9";
  width: number;
  height: number;
  /** Length, ms. */
  duration: number;
  /** In order; the first one is a key frame, and so is one at least every 30 s. */
  frames: readonly EncodedFrame[];
}

type Part = Uint8Array<ArrayBuffer>;

const sizeOf = (parts: readonly Part[]) => parts.reduce((sum, part) => sum + part.length, 0);

/** Returns an unsigned integer of this many bytes, the most significant one first. */
function unsigned(value: number, bytes = 8): Part {
  const out = new Uint8Array(bytes);
  for (let k = bytes - 1, rest = value; k >= 0; k--, rest = Math.floor(rest / 256)) out[k] = rest % 256;
  return out;
}

function float(value: number): Part {
  const out = new DataView(new ArrayBuffer(8));
  out.setFloat64(0, value);
  return new Uint8Array(out.buffer);
}

const text = (value: string): Part => new TextEncoder().encode(value);

/** Returns an element; its size takes eight bytes, of which the first marks the length. */
function element(id: number, ...content: Part[]): Part {
  const idBytes = Math.ceil(Math.log2(id + 1) / 8);
  const size = unsigned(sizeOf(content));
  size[0] |= 0x01;
  return join([unsigned(id, idBytes), size, ...content]);
}

function join(parts: readonly Part[]): Part {
  const out = new Uint8Array(sizeOf(parts));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Groups frames so that each group starts with a key frame. */
function groups(frames: readonly EncodedFrame[]): EncodedFrame[][] {
  const out: EncodedFrame[][] = [];
  for (const frame of frames) {
    if (frame.key || out.length === 0) out.push([frame]);
    else out[out.length - 1].push(frame);
  }
  return out;
}

/** Returns a cluster: frames with times relative to its own. */
function cluster(frames: readonly EncodedFrame[]): Part {
  const [{ time: start }] = frames;
  const blocks = frames.map(({ time, key, bytes }) => {
    const head = [0x81, ...unsigned(Math.round(time) - Math.round(start), 2), key ? 0x80 : 0];
    return element(0xa3, Uint8Array.from(head), bytes);
  });
  return element(0x1f43b675, element(0xe7, unsigned(Math.round(start))), ...blocks);
}

/** Returns a WebM file. */
export function webm({ codec, width, height, duration, frames }: Video): Blob {
  const header = element(
    0x1a45dfa3,
    element(0x4286, unsigned(1)), element(0x42f7, unsigned(1)), element(0x42f2, unsigned(4)), element(0x42f3, unsigned(8)),
    element(0x4282, text("webm")), element(0x4287, unsigned(4)), element(0x4285, unsigned(2)),
  );
  const info = element(
    0x1549a966,
    // Times are in units of this many nanoseconds.
    element(0x2ad7b1, unsigned(1e6)), element(0x4489, float(duration)), element(0x4d80, text("msd")), element(0x5741, text("msd")),
  );
  const size = element(0xe0, element(0xb0, unsigned(width)), element(0xba, unsigned(height)));
  const track = element(
    0xae,
    element(0xd7, unsigned(1)), element(0x73c5, unsigned(1)), element(0x83, unsigned(1)), element(0x86, text(codec)), size,
  );
  const tracks = element(0x1654ae6b, track);
  const grouped = groups(frames);
  const clusters = grouped.map(cluster);
  // Positions are counted from the start of the segment's content. All numbers of the cues have a fixed size, so they
  // can stand before the clusters, where players that stream look for them.
  const cuesAt = (positions: readonly number[]) =>
    element(
      0x1c53bb6b,
      ...grouped.map(([{ time }], k) => {
        const place = element(0xb7, element(0xf7, unsigned(1)), element(0xf1, unsigned(positions[k])));
        return element(0xbb, element(0xb3, unsigned(Math.round(time))), place);
      }),
    );
  let position = info.length + tracks.length + cuesAt(clusters.map(() => 0)).length;
  const positions = clusters.map((part) => (position += part.length) - part.length);
  const segment = element(0x18538067, info, tracks, cuesAt(positions), ...clusters);
  return new Blob([header, segment], { type: "video/webm" });
}
