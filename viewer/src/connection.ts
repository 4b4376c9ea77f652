// The connection to the server: stores its messages in the model and fetches the frames the cursor needs.

import type { Model } from "./model";
import { Series } from "./model";
import { type Command, decode, Frame, type Message, type Rows } from "./protocol";

/** Maximum size of the frame cache, bytes. */
const MAX_BYTES = 192 * 1024 * 1024;
/** Approximate size of one batch of requested frames, bytes. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** Maximum number of frames in one batch. */
const MAX_FRAMES = 120;
/** Time after which an unanswered request is repeated. */
const REQUEST_TIMEOUT_MS = 5000;
const RETRY_MS = 1000;
const MAX_RETRIES = 5;

export class Connection {
  private socket: WebSocket | null = null;
  private retries = 0;
  private epoch = 0;
  private frames = new Map<number, Frame>();
  private bytes = 0;
  private newest: Frame | null = null;
  /** The outstanding request for frames. */
  private pending: { from: number; last: number; since: number } | null = null;
  /** A step the server rejected; not requested again until the cursor moves. */
  private rejected: number | null = null;
  private columns: number[][] = [];
  /** Whether this page has requested another scene. */
  private opening = false;
  /** Step at which a replay resumes after a reconnection. */
  private resume: number | null = null;

  constructor(
    private readonly model: Model,
    private readonly address: string,
  ) {
    model.send = (command) => this.send(command);
    model.cursor.watch(() => this.update());
    model.atEnd.watch(() => this.update());
  }

  connect(): void {
    const socket = new WebSocket(this.address);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.retries = 0;
      this.pending = null;
      this.model.connection.value = "open";
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === "string") this.handleMessage(JSON.parse(event.data) as Message);
      else this.handleBinary(decode(event.data));
    };
    socket.onclose = () => {
      this.socket = null;
      if (this.retries++ < MAX_RETRIES) {
        this.model.connection.value = "connecting";
        setTimeout(() => this.connect(), RETRY_MS);
      } else {
        this.model.connection.value = "lost";
      }
    };
  }

  private send(command: Command): void {
    if (command.do === "open") this.opening = true;
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
  }

  private handleMessage(message: Message): void {
    const { model } = this;
    if ("epoch" in message && message.type !== "hello" && message.epoch !== this.epoch) return;
    switch (message.type) {
      case "hello":
        if (model.hello.value && model.hello.value.name !== message.name && !this.opening) {
          model.notice.value = `Another page opened ${message.name}. All pages of one msd view show the same scene.`;
        }
        this.opening = false;
        this.epoch = message.epoch;
        this.frames.clear();
        this.bytes = 0;
        this.newest = null;
        this.pending = null;
        this.rejected = null;
        // The same recording again: this is a reconnection.
        this.resume = message.mode === "replay" && model.hello.value?.name === message.name ? model.cursor.value : null;
        this.columns = message.columns.map(() => []);
        model.status.value = null;
        model.selection.value = null;
        model.motion.value = null;
        model.marks.value = [];
        model.series.value = new Series(message.columns, this.columns);
        model.frame.value = null;
        model.playing.value = false;
        model.atEnd.value = message.mode === "live";
        model.bodies.value = message.bodies;
        model.hello.value = message;
        break;
      case "bodies":
        model.bodies.value = [...model.bodies.value, ...message.bodies];
        break;
      case "status": {
        const first = model.status.value === null;
        model.status.value = message;
        // The step on display may have been dropped from the buffer.
        if (!model.atEnd.value && model.cursor.value < message.first_step) model.cursor.value = message.first_step;
        if (message.problem) model.notice.value = message.problem;
        if (first && model.hello.value?.mode === "replay") {
          model.cursor.value = this.resume ?? message.first_step;
          this.update();
        }
        break;
      }
      case "marks":
        model.marks.value = message.marks;
        break;
      case "motion":
        model.motion.value = message;
        break;
      case "rejected":
        model.notice.value = message.reason;
        if (this.pending) {
          // Stop playback at a frame that is unavailable.
          model.playing.value = false;
          this.rejected = model.cursor.value;
          this.pending = null;
        }
        break;
    }
  }

  private handleBinary(message: Frame | Rows): void {
    if (message.epoch !== this.epoch) return;
    if (message instanceof Frame) {
      this.cache(message);
      // The newest step is sent again when a body is added to it.
      if (!this.newest || message.step >= this.newest.step) this.newest = message;
      // Frames arrive more often than the status: extend the range to the newest.
      const status = this.model.status.value;
      if (status && message.step > status.last_step) {
        this.model.status.value = { ...status, last_step: message.step };
      }
      if (this.pending?.last === message.step) this.pending = null;
      this.update();
      return;
    }
    const { from, rows, columns, values } = message;
    for (let column = 0; column < columns; column++) {
      const list = this.columns[column];
      list.length = from;
      for (let row = 0; row < rows; row++) list.push(values[row * columns + column]);
    }
    this.model.series.value = new Series(this.model.hello.value?.columns ?? [], this.columns);
  }

  private cache(frame: Frame): void {
    const cached = this.frames.get(frame.step);
    if (cached) this.bytes -= cached.bytes;
    this.frames.delete(frame.step);
    this.frames.set(frame.step, frame);
    this.bytes += frame.bytes;
    for (const [step, old] of this.frames) {
      if (this.bytes <= MAX_BYTES) break;
      this.frames.delete(step);
      this.bytes -= old.bytes;
    }
  }

  /** Shows the cursor's frame if it is cached, and requests missing ones. */
  private update(): void {
    const { model } = this;
    if (model.atEnd.value) {
      if (this.newest) {
        model.frame.value = this.newest;
        model.cursor.value = this.newest.step;
      }
      return;
    }
    const frame = this.frames.get(model.cursor.value);
    if (frame) model.frame.value = frame;
    this.fetch();
  }

  /** Repeats requests that were lost. Call once per animation frame. */
  tick(): void {
    const { atEnd, cursor, frame } = this.model;
    if (!atEnd.value && frame.value?.step !== cursor.value) this.update();
  }

  /** Requests the cursor's frame and, during playback, those ahead of it. */
  private fetch(): void {
    const { cursor, playing, status } = this.model;
    const range = status.value;
    const now = performance.now();
    if (!range || (this.pending && now - this.pending.since < REQUEST_TIMEOUT_MS)) return;
    if (cursor.value === this.rejected) return;
    if (!playing.value && this.model.frame.value?.step === cursor.value) return;
    this.rejected = null;
    const stride = this.model.stride();
    const size = this.frames.values().next().value?.bytes ?? 0;
    const max = size > 0 ? Math.min(Math.max(Math.floor(BATCH_BYTES / size), 1), MAX_FRAMES) : 1;
    const batch = playing.value ? max : 1;
    let from = cursor.value;
    let count = 0; // Frames ahead that are cached already.
    while (count < batch && this.frames.has(from)) {
      from += stride;
      count++;
    }
    // Half a batch ahead is enough.
    if (count > batch / 2 || from > range.last_step) return;
    count = Math.min(batch, Math.floor((range.last_step - from) / stride) + 1);
    this.pending = { from, last: from + (count - 1) * stride, since: now };
    this.send({ do: "frames", from, count, stride });
  }
}
