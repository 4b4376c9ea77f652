// The files that the frames of a span become: a WebM video, or pictures in an archive where the browser has no encoder.

import { type EncodedFrame, type Video, webm } from "./webm";
import { zip, type ZipEntry } from "./zip";

/** Takes frames, each drawn on the canvas of the writer. */
export interface FrameWriter {
  /** The end of the name of its files. */
  readonly extension: "webm" | "zip";
  /** Adds what the canvas shows, for this many milliseconds. */
  add(milliseconds: number): Promise<void>;
  /** Returns the file. */
  finish(): Promise<Blob>;
}

const BITS_PER_SECOND = 12_000_000;
/** Time from one key frame to the next, ms: players jump from key to key. */
const KEY_INTERVAL_MS = 1000;
/** Number of frames that may wait for the encoder. */
const MAX_WAITING = 4;

/** The codecs, the one with the smaller files first. */
const CODECS: readonly [name: Video["codec"], type: string][] = [
  ["V_VP9", "vp09.00.50.08"],
  ["V_VP8", "vp8"],
];

/** Returns a writer for frames of a canvas of this size: of a video, or of pictures if the browser cannot encode videos. */
export async function newWriter(canvas: HTMLCanvasElement, width: number, height: number): Promise<FrameWriter> {
  if (typeof VideoEncoder !== "undefined") {
    for (const [name, codec] of CODECS) {
      const config = { codec, width, height, bitrate: BITS_PER_SECOND, framerate: 30 };
      const { supported } = await VideoEncoder.isConfigSupported(config).catch(() => ({ supported: false }));
      if (supported) return new VideoWriter(canvas, name, config);
    }
  }
  return new PicturesWriter(canvas);
}

/** Encodes a video. Every frame lasts as long as it is told to, however long it took to draw. */
class VideoWriter implements FrameWriter {
  readonly extension = "webm";
  private readonly encoder: VideoEncoder;
  private readonly frames: EncodedFrame[] = [];
  private failure: Error | null = null;
  /** Length so far, and time of the last key frame, ms. */
  private duration = 0;
  private lastKey = -Infinity;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly codec: Video["codec"],
    private readonly config: VideoEncoderConfig,
  ) {
    this.encoder = new VideoEncoder({
      output: (chunk) => {
        const bytes = new Uint8Array(chunk.byteLength);
        chunk.copyTo(bytes);
        this.frames.push({ time: chunk.timestamp / 1000, key: chunk.type === "key", bytes });
      },
      error: (error) => (this.failure = error),
    });
    this.encoder.configure(config);
  }

  async add(milliseconds: number): Promise<void> {
    const frame = new VideoFrame(this.canvas, { timestamp: Math.round(1000 * this.duration) });
    const keyFrame = this.duration - this.lastKey >= KEY_INTERVAL_MS;
    if (keyFrame) this.lastKey = this.duration;
    this.encoder.encode(frame, { keyFrame });
    frame.close();
    this.duration += milliseconds;
    while (this.encoder.encodeQueueSize > MAX_WAITING && !this.failure) await new Promise((done) => setTimeout(done, 5));
    if (this.failure) throw this.failure;
  }

  async finish(): Promise<Blob> {
    await this.encoder.flush();
    this.encoder.close();
    const { codec, config, duration, frames } = this;
    return webm({ codec, width: config.width, height: config.height, duration, frames });
  }
}

/** Collects the frames as pictures. */
class PicturesWriter implements FrameWriter {
  readonly extension = "zip";
  private readonly entries: ZipEntry[] = [];

  constructor(private readonly canvas: HTMLCanvasElement) {}

  async add(): Promise<void> {
    const picture = await toPng(this.canvas);
    const name = `frame-${String(this.entries.length + 1).padStart(5, "0")}.png`;
    this.entries.push({ name, bytes: new Uint8Array(await picture.arrayBuffer()) });
  }

  async finish(): Promise<Blob> {
    return zip(this.entries);
  }
}

/** Returns the content of a canvas as a PNG. */
export function toPng(canvas: HTMLCanvasElement): Promise<Blob> {
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture could not be encoded"))), "image/png");
  });
}

/** Downloads a file. */
export function download(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser reads the file after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
