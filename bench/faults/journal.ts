import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** A vote that a client wants to cast on an answer. */
export interface Intent {
  /** Id of the decision. */
  readonly id: string;
  readonly token: string;
  readonly winner: 0 | 1 | "tie";
}

type Line =
  | ({ readonly kind: "answer" } & Intent)
  | { readonly kind: "acknowledged"; readonly id: string }
  | { readonly kind: "fault"; readonly fault: string; readonly ms: number };

/**
 * All that the clients of a run know: which answers carried a token, which votes they cast and
 * which were acknowledged. It is a file, so that a run that was interrupted can be continued.
 */
export class Journal {
  readonly #file: string;
  readonly #intents = new Map<string, Intent>();
  readonly #acknowledged = new Set<string>();
  /** Answers that nobody has voted on yet, or whose vote was not acknowledged. */
  readonly #open = new Map<string, Intent>();
  readonly #faults = new Map<string, number[]>();

  constructor(file: string) {
    this.#file = file;
    if (!existsSync(file)) return;
    const lines = readFileSync(file, "utf8").split("\n");
    // A line without a line end was interrupted.
    for (const line of lines.slice(0, -1)) this.#read(JSON.parse(line) as Line);
  }

  answered(intent: Intent): void {
    this.#write({ kind: "answer", ...intent });
  }

  acknowledged(id: string): void {
    this.#write({ kind: "acknowledged", id });
  }

  fault(fault: string, ms: number): void {
    this.#write({ kind: "fault", fault, ms });
  }

  /** Durations in milliseconds of the faults of a kind, recovery included. */
  faults(kind: string): readonly number[] {
    return this.#faults.get(kind) ?? [];
  }

  intentOf(id: string): Intent | undefined {
    return this.#intents.get(id);
  }

  get acknowledgedIds(): ReadonlySet<string> {
    return this.#acknowledged;
  }

  get openIntents(): readonly Intent[] {
    return [...this.#open.values()];
  }

  get answers(): number {
    return this.#intents.size;
  }

  #write(line: Line): void {
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`);
    this.#read(line);
  }

  #read(line: Line): void {
    if (line.kind === "answer") {
      const { kind: _, ...intent } = line;
      this.#intents.set(intent.id, intent);
      this.#open.set(intent.id, intent);
    } else if (line.kind === "acknowledged") {
      this.#acknowledged.add(line.id);
      this.#open.delete(line.id);
    } else this.#faults.set(line.fault, [...(this.#faults.get(line.fault) ?? []), line.ms]);
  }
}
