/**
 * The weights of voters. The agreement of a voter is the share of votes for the answer
 * that the router itself estimated to be better. Honest voters agree about as often as
 * all voters together (the crowd), a voter who clicks at random agrees in half of the
 * votes, and a malicious voter in fewer.
 *
 *   weight = clip((r_voter + e - 1/2) / (r_crowd - 1/2), 0, 1)
 *
 * r_voter is shrunk towards r_crowd by `PATIENCE` votes, and e is 1.5 times its
 * standard error, so that new voters count fully and bad luck silences nobody.
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

  /** The votes of a voter that were compared with the router, and the share of them that agreed; undefined without any. */
  agreement(voter: string): { readonly votes: number; readonly share: number } | undefined {
    const record = this.#records.get(voter);
    return record && { votes: record[0], share: record[1] / record[0] };
  }

  /** Records a vote. `agreed` is 1 if it was for the answer that the router preferred, 0 if for the other, 1/2 for a tie. */
  record(voter: string, agreed: number): void {
    const [count, sum] = this.#records.get(voter) ?? [0, 0];
    this.#records.set(voter, [count + 1, sum + agreed]);
    this.#crowd = [this.#crowd[0] + 1, this.#crowd[1] + agreed];
  }

  snapshot(): VotersState {
    return { records: [...this.#records], crowd: this.#crowd };
  }
}

/** Number of votes, and the sum of their agreements. */
type Agreement = readonly [count: number, sum: number];

export interface VotersState {
  readonly records: readonly (readonly [string, Agreement])[];
  readonly crowd: Agreement;
}

/** Votes by which the rates of a voter and of the crowd are shrunk. */
const PATIENCE = 20;
const CROWD_PATIENCE = 50;

function rate([count, sum]: Agreement, prior: number, patience: number): number {
  return (sum + patience * prior) / (count + patience);
}
