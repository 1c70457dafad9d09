import { JsonError, type Members, scanObject } from "../../wire/json-scan.ts";
import { UpstreamError } from "./error.ts";
import { readUsage, type Usage } from "./usage.ts";

/**
 * Converts the chunks of an upstream's response to the bytes for the client. It uses no network,
 * so that each format can be tested without one. Throws UpstreamError if the response is not a
 * valid answer.
 */
export interface Translation {
  push(chunk: Buffer, pass: Pass): void;
  /** Called after the last chunk. */
  end(pass: Pass): void;
  readonly usage: Usage | undefined;
  /** Events that were passed on; 0 for a complete answer. */
  readonly events: number;
  /** Whether the answer is complete, so that errors of the connection no longer matter. */
  readonly isDone: boolean;
  /** Members of a complete answer, if it was scanned. */
  readonly members?: Members | undefined;
}

export type Pass = (bytes: Uint8Array) => void;

/** A complete answer in OpenAI's format. It is passed on when all of it has arrived. */
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
      throw new UpstreamError(
        "broken",
        this.#upstream,
        `sent an incomplete answer: ${error.message}`,
      );
    }
    pass(body);
  }
}
