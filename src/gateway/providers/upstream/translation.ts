import { JsonError, type Members, scanObject } from "../../wire/json-scan.ts";
import { UpstreamError } from "./error.ts";
import { readUsage, type Usage } from "./usage.ts";

/**
 * What an upstream sends, made into what the client gets, as it comes: pure, so
 * that every dialect is tested without a network. Throws an UpstreamError where
 * it is no answer.
 */
export interface Translation {
  push(chunk: Buffer, pass: Pass): void;
  /** Nothing more comes. */
  end(pass: Pass): void;
  readonly usage: Usage | undefined;
  /** Events of a stream passed on; 0 for an answer in one piece. */
  readonly events: number;
  /** All has been said: what happens to the connection now is no fault. */
  readonly isDone: boolean;
  /** Of an answer in one piece that was looked through. */
  readonly members?: Members | undefined;
}

export type Pass = (bytes: Uint8Array) => void;

/** An answer in one piece: kept until it is whole, since half of it is of no use to anyone. */
export class WholeAnswer implements Translation {
  readonly events = 0;
  readonly isDone = false;
  usage: Usage | undefined;
  members: Members | undefined;
  readonly #upstream: string;
  readonly #chunks: Buffer[] = [];

  constructor(upstream: string) {
    this.#upstream = upstream;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  end(pass: Pass): void {
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    try {
      this.members = scanObject(body);
      this.usage = readUsage(this.members.value("usage"));
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      throw new UpstreamError("broken", this.#upstream, `sent no whole answer: ${error.message}`);
    }
    pass(body);
  }
}
