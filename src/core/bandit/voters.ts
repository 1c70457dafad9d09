/**
 * How much each voter counts. A voter's agreement is the share of votes given
 * to the answer that the router itself thought better; honest voters agree at
 * about the crowd's rate, one who clicks at random at 1/2, one who lies below.
 *
 *   weight = clip((r_voter + e - 1/2) / (r_crowd - 1/2), 0, 1)
 *
 * with r_voter shrunk towards r_crowd by `PATIENCE` votes and e 1.5 of its
 * standard errors, so that a newcomer counts fully and nobody is silenced by bad luck.
 */
export class Voters {
  readonly #records: Map<string, Agreement>;
  #crowd: Agreement;

  constructor(state: VotersState = { records: [], crowd: [0, 0] }) {
    this.#records = new Map(state.records);
    this.#crowd = state.crowd;
  }

  weight(voter: string): number {
    const crowd = rate(this.#crowd, 0.5, CROWD_PATIENCE);
    if (crowd <= 0.5) return 1;
    const record = this.#records.get(voter) ?? [0, 0];
    const own = rate(record, crowd, PATIENCE);
    const doubt = 1.5 * Math.sqrt((own * (1 - own)) / (record[0] + PATIENCE));
    return Math.min(1, Math.max(0, (own + doubt - 0.5) / (crowd - 0.5)));
  }

  /** `agreed`: 1 if the vote went to the answer the router preferred, 0 if to the other, 1/2 for a tie. */
  record(voter: string, agreed: number): void {
    const [count, sum] = this.#records.get(voter) ?? [0, 0];
    this.#records.set(voter, [count + 1, sum + agreed]);
    this.#crowd = [this.#crowd[0] + 1, this.#crowd[1] + agreed];
  }

  snapshot(): VotersState {
    return { records: [...this.#records], crowd: this.#crowd };
  }
}

/** Votes and the sum of their agreements. */
type Agreement = readonly [count: number, sum: number];

export interface VotersState {
  readonly records: readonly (readonly [string, Agreement])[];
  readonly crowd: Agreement;
}

const PATIENCE = 20;
const CROWD_PATIENCE = 50;

function rate([count, sum]: Agreement, prior: number, patience: number): number {
  return (sum + patience * prior) / (count + patience);
}
