import { DAY_MS } from "../../store/decision-id.ts";
import { DollarLimit, type Hold } from "../access/dollar-limit.ts";
import type { Clock } from "../clock/clock.ts";
import type { Peers } from "../peers/peers.ts";

/** Dollars that another process wants to set aside. */
interface Request {
  readonly process: string;
  readonly router: string;
  readonly budget: number;
  readonly most: number;
}

/** Dollars of a router that were spent or are set aside. */
interface Spending {
  readonly router: string;
  readonly day: number;
  readonly dollars: number;
}

/** Dollars that are set aside for another process. */
interface Lent {
  readonly process: string;
  readonly hold: Hold;
}

/**
 * The budgets of a day for comparisons in the mode observe, by router. The first process of the machine keeps them for
 * all; the others ask it. If it ends, the next one goes on with everything that was spent or set aside.
 */
export class JudgeBudgets {
  readonly #peers: Peers;
  readonly #clock: Clock;
  readonly #limits = new Map<string, { readonly day: number; readonly limit: DollarLimit }>();
  /** Spending that an earlier first process has told. */
  readonly #earlier = new Map<string, Spending>();
  /** Dollars that are set aside for other processes, by ids that no other process gives. */
  readonly #lent = new Map<string, Lent>();
  readonly #gone = new Set<string>();
  #count = 0;

  constructor(peers: Peers, clock: Clock) {
    this.#peers = peers;
    this.#clock = clock;
    peers.answer(RESERVE, (request: Request) => (peers.isFirst ? this.#lend(request) : undefined));
    peers.on(SETTLE, ([id, cost]: readonly [id: string, cost: number]) => {
      // Only the first process has lent something.
      this.#lent.get(id)?.hold.settle(cost);
      this.#lent.delete(id);
    });
    peers.on(SPENDING, (spending: Spending) => void this.#earlier.set(spending.router, spending));
    peers.onGone((process) => this.#settleAll(process));
  }

  /** Sets dollars aside. Waits while running comparisons may free enough; undefined if that is impossible. */
  async reserve(
    router: string,
    budget: number,
    most: number,
  ): Promise<Pick<Hold, "settle"> | undefined> {
    if (this.#peers.isFirst) return this.#reserve(router, budget, most);
    const request: Request = { process: this.#peers.id, router, budget, most };
    const [id] = await this.#peers.ask(RESERVE, request);
    if (id === undefined) return undefined;
    return { settle: (cost) => this.#peers.tell(SETTLE, [id, cost]) };
  }

  async #reserve(router: string, budget: number, most: number): Promise<Hold | undefined> {
    const limit = this.#limitOf(router, budget);
    const hold = await limit.reserve(most);
    if (!hold) return undefined;
    this.#tell(router);
    return {
      amount: hold.amount,
      settle: (cost) => {
        hold.settle(cost);
        this.#tell(router);
      },
    };
  }

  #limitOf(router: string, budget: number): DollarLimit {
    const day = Math.floor(this.#clock.date() / DAY_MS);
    const known = this.#limits.get(router);
    if (known?.day === day && known.limit.limit === budget) return known.limit;
    const earlier = this.#earlier.get(router);
    const told = earlier?.day === day ? earlier.dollars : 0;
    const used = known?.day === day ? known.limit.spent + known.limit.reserved : told;
    const limit = new DollarLimit(budget, used);
    this.#limits.set(router, { day, limit });
    return limit;
  }

  /** Tells the other processes, and later ones, what is used, in case one of them becomes the first. */
  #tell(router: string): void {
    const { day, limit } = this.#limits.get(router)!;
    const spending: Spending = { router, day, dollars: limit.spent + limit.reserved };
    this.#peers.keep(SPENDING, `${SPENDING} ${router}`, spending);
  }

  /** Returns the id of the dollars that are set aside for another process. */
  async #lend({ process, router, budget, most }: Request): Promise<string | undefined> {
    const hold = await this.#reserve(router, budget, most);
    if (!hold) return undefined;
    const id = `${this.#peers.id} ${++this.#count}`;
    this.#lent.set(id, { process, hold });
    // The process may have ended while it waited.
    if (this.#gone.has(process)) this.#settleAll(process);
    return id;
  }

  /** Counts everything that a process has set aside as spent, because it has ended. */
  #settleAll(process: string): void {
    this.#gone.add(process);
    for (const [id, { process: owner, hold }] of this.#lent) {
      if (owner !== process) continue;
      hold.settle(hold.amount);
      this.#lent.delete(id);
    }
  }
}

const RESERVE = "reserve for a comparison";
const SETTLE = "settle a comparison";
const SPENDING = "spending of comparisons";
