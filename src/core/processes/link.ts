import type { Duplex } from "node:stream";
import { deserialize, serialize } from "node:v8";

/**
 * Messages between two processes over a stream. Each message belongs to a lane. The messages of
 * a lane that are sent in one round of the event loop share one frame:
 *
 *   length of the payload (4 bytes), lane (1 byte), payload: the messages as a serialized array
 *
 * A process that only passes the messages of a lane on handles their bytes and never reads them.
 */
export class Link {
  readonly #stream: Duplex;
  readonly #waiting = new Map<number, unknown[]>();
  readonly #listeners = new Map<number, (payload: Uint8Array) => void>();
  readonly #frames: Buffer[] = [];
  #isScheduled = false;
  #isEnded = false;
  /** Received bytes that are not a whole frame yet. */
  #received: Buffer[] = [];
  #size = 0;

  constructor(stream: Duplex) {
    this.#stream = stream;
    stream.on("data", (chunk: Buffer) => this.#read(chunk));
    // The other process is gone. Its end is noticed by `close`.
    stream.on("error", () => {});
    stream.on("close", () => {
      this.#isEnded = true;
    });
  }

  /** Sends a message at the end of this round of the event loop. */
  send(lane: number, message: unknown): void {
    const list = this.#waiting.get(lane);
    if (list) list.push(message);
    else this.#waiting.set(lane, [message]);
    this.#schedule();
  }

  /** Passes on a payload that another link has received. */
  forward(lane: number, payload: Uint8Array): void {
    this.#addFrame(lane, payload);
    this.#schedule();
  }

  /** Receives the messages of a lane. */
  receive(lane: number, listener: (message: unknown) => void): void {
    this.receiveBytes(lane, (payload) => messagesIn(payload).forEach(listener));
  }

  /** Receives the payloads of a lane without reading them. */
  receiveBytes(lane: number, listener: (payload: Uint8Array) => void): void {
    this.#listeners.set(lane, listener);
  }

  /** Calls back when the stream has ended, because the other process has closed it or is gone. */
  onEnd(listener: () => void): void {
    if (this.#isEnded) listener();
    else this.#stream.once("close", listener);
  }

  /** Sends what is waiting and ends the stream. */
  async close(): Promise<void> {
    this.#flush();
    if (this.#isEnded) return;
    await new Promise<void>((done) => {
      this.#stream.once("close", () => done());
      this.#stream.end(() => this.#stream.destroy());
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    for (const [lane, messages] of this.#waiting) this.#addFrame(lane, payloadOf(messages));
    this.#waiting.clear();
    const frames = this.#frames.splice(0);
    if (this.#isEnded || frames.length === 0) return;
    this.#stream.cork();
    for (const frame of frames) this.#stream.write(frame);
    this.#stream.uncork();
  }

  #addFrame(lane: number, payload: Uint8Array): void {
    const head = Buffer.alloc(HEAD);
    head.writeUInt32LE(payload.length, 0);
    head.writeUInt8(lane, 4);
    this.#frames.push(head, Buffer.from(payload.buffer, payload.byteOffset, payload.length));
  }

  #read(chunk: Buffer): void {
    this.#received.push(chunk);
    this.#size += chunk.length;
    while (this.#size >= HEAD) {
      const [first] = this.#received as [Buffer];
      // The head is rarely in two chunks; then they are joined.
      if (first.length < HEAD) this.#received = [Buffer.concat(this.#received)];
      const length = HEAD + this.#received[0]!.readUInt32LE(0);
      if (this.#size < length) return;
      const all = this.#received.length === 1 ? this.#received[0]! : Buffer.concat(this.#received);
      const rest = all.subarray(length);
      this.#received = rest.length > 0 ? [rest] : [];
      this.#size = rest.length;
      this.#listeners.get(all.readUInt8(4))?.(all.subarray(HEAD, length));
    }
  }
}

/** Bytes before a payload: its length and its lane. */
const HEAD = 5;

/** The bytes of messages, as a link sends them. */
export function payloadOf(messages: readonly unknown[]): Uint8Array {
  return serialize(messages);
}

/** The messages in a payload. */
export function messagesIn(payload: Uint8Array): unknown[] {
  return deserialize(payload) as unknown[];
}
