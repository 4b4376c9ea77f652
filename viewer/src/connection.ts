// The connection: puts what the server says into the model, and fetches the frames that the cursor wants.

import type { Model } from "./model";
import { Series } from "./model";
import { type Command, decode, Frame, type Message, type Rows } from "./protocol";

/** Frames kept, in bytes. */
const MAX_BYTES = 192 * 1024 * 1024;
/** Bytes asked for at once, about. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** Frames asked for at once, at most. */
const MAX_FRAMES = 120;
/** An answer that takes longer is asked for again. */
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
  private pending: { from: number; last: number; since: number } | null = null;
  /** A step that was refused is not asked for again until another is wanted. */
  private refused: number | null = null;
  private columns: number[][] = [];
  /** Whether this page asked for another scene. */
  private opening = false;
  /** Where a replay goes on after the connection broke. */
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
          model.notice.value = `Another page opened ${message.name}. All pages of one msd view update the same.`;
        }
        this.opening = false;
        this.epoch = message.epoch;
        this.frames.clear();
        this.bytes = 0;
        this.newest = null;
        this.pending = null;
        this.refused = null;
        // The same recording again: the connection had broken.
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
        // What is looked back at may be gone by now.
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
      case "refused":
        model.notice.value = message.reason;
        if (this.pending) {
          // A frame that cannot be had stops the film.
          model.playing.value = false;
          this.refused = model.cursor.value;
          this.pending = null;
        }
        break;
    }
  }

  private handleBinary(message: Frame | Rows): void {
    if (message.epoch !== this.epoch) return;
    if (message instanceof Frame) {
      this.cache(message);
      // The newest step comes again when something was added to it.
      if (!this.newest || message.step >= this.newest.step) this.newest = message;
      // Frames come more often than the status: the range ends with the newest.
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
    const known = this.frames.get(frame.step);
    if (known) this.bytes -= known.bytes;
    this.frames.delete(frame.step);
    this.frames.set(frame.step, frame);
    this.bytes += frame.bytes;
    for (const [step, old] of this.frames) {
      if (this.bytes <= MAX_BYTES) break;
      this.frames.delete(step);
      this.bytes -= old.bytes;
    }
  }

  /** Shows the cursor's frame if it is there, and asks for what is missing. */
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

  /** To be called before every picture: asks again for what did not come. */
  tick(): void {
    const { atEnd, cursor, frame } = this.model;
    if (!atEnd.value && frame.value?.step !== cursor.value) this.update();
  }

  /** Asks for the cursor's frame and, while it plays, for those it will come to. */
  private fetch(): void {
    const { cursor, playing, status } = this.model;
    const range = status.value;
    const now = performance.now();
    if (!range || (this.pending && now - this.pending.since < REQUEST_TIMEOUT_MS)) return;
    if (cursor.value === this.refused) return;
    if (!playing.value && this.model.frame.value?.step === cursor.value) return;
    this.refused = null;
    const stride = this.model.stride();
    const size = this.frames.values().next().value?.bytes ?? 0;
    const most = size > 0 ? Math.min(Math.max(Math.floor(BATCH_BYTES / size), 1), MAX_FRAMES) : 1;
    const batch = playing.value ? most : 1;
    let from = cursor.value;
    let count = 0; // Strides ahead that are there already.
    while (count < batch && this.frames.has(from)) {
      from += stride;
      count++;
    }
    // Half of a batch is ahead: time enough.
    if (count > batch / 2 || from > range.last_step) return;
    count = Math.min(batch, Math.floor((range.last_step - from) / stride) + 1);
    this.pending = { from, last: from + (count - 1) * stride, since: now };
    this.send({ do: "frames", from, count, stride });
  }
}
