/** GET /v1/stats, /v1/learning, /v1/tradeoff, /v1/map and the sandbox's; docs/http.md says what they mean. */

/** An estimate with its 95% band. */
export interface Band {
  readonly mean: number;
  readonly lo: number;
  readonly hi: number;
}

/** A model's quality relative to the pool's mean; no interval where the policy has none. */
export interface Standing {
  readonly model: string;
  readonly value: number;
  readonly sd: number | null;
  readonly lo: number | null;
  readonly hi: number | null;
  readonly best: number | null;
}

interface CategoryStandings {
  readonly category: string;
  /** Of the recent queries. */
  readonly share: number;
  readonly models: readonly Standing[];
}

export interface ModelCounts {
  readonly model: string;
  readonly shown: number;
  readonly duels: number;
  readonly answers: number;
  readonly failures: number;
  readonly votes: number;
  readonly wins: number;
  readonly ties: number;
  readonly cost: number;
  readonly mean_latency_ms: number | null;
  readonly breaker: "closed" | "open" | "half-open" | null;
}

export interface SeriesPoint {
  readonly at: string;
  readonly requests: number;
  readonly duels: number;
  readonly votes: number;
  readonly cost: number;
  readonly shown: Readonly<Record<string, number>>;
}

interface Alternative {
  readonly model: string;
  readonly cost: number;
  readonly savings: number;
}

/** Which model is the best is not certain: one of `among`, and savings against these lie between `lo` and `hi`. */
interface AlwaysBest extends Alternative {
  readonly among: readonly string[];
  readonly lo: number;
  readonly hi: number;
}

export interface Stats {
  readonly router: string;
  readonly mode: "apply" | "observe" | "bypass";
  readonly at: string;
  readonly window: { readonly from: string; readonly hours: number; readonly step_seconds: number };
  readonly posterior_version: number;
  readonly guard: string | null;
  /** Sentences for the operator. */
  readonly warnings: readonly string[];
  readonly tradeoff: number;
  readonly recent_queries: number;
  readonly leaderboard: {
    readonly overall: readonly Standing[];
    readonly categories: readonly CategoryStandings[];
  };
  readonly counts: {
    readonly requests: number;
    readonly duels: number;
    readonly duel_rate: number;
    readonly answers: number;
    readonly failures: number;
    readonly votes: number;
    readonly ties: number;
    readonly both_bad: number;
    readonly ratings: number;
  };
  readonly models: readonly ModelCounts[];
  readonly series: readonly SeriesPoint[];
  readonly spend: {
    readonly total: number;
    readonly requests: number;
    readonly cost_per_request: number;
    readonly always_best: AlwaysBest | null;
    readonly always_cheapest: Alternative | null;
  };
  readonly regret: Band | null;
  readonly win_rate: Band | null;
}

export interface Learning {
  readonly stretches: readonly {
    readonly from: string;
    readonly to: string;
    readonly requests: number;
    /** Who answered. */
    readonly shares: Readonly<Record<string, number>>;
    readonly regret: Band;
    /** By how much less than in the first stretch, and how likely it is less at all. */
    readonly fallen: Band & { readonly sure: number };
    readonly win_rate: Band;
  }[];
}

export interface TradeoffPoint {
  readonly tradeoff: number;
  readonly shares: Readonly<Record<string, number>>;
  readonly quality: { readonly mean: number; readonly lo?: number; readonly hi?: number };
  /** US dollars a request; null where prices are not known. */
  readonly cost: number | null;
}

export interface Tradeoff {
  readonly current: number;
  readonly recent_queries: number;
  /** What routing is worth beside always `over`, and how likely it is no less. */
  readonly advantage: (Band & { readonly over: string; readonly sure: number }) | null;
  readonly points: readonly TradeoffPoint[];
}

export interface MapPoint {
  readonly id: string;
  readonly at: string;
  readonly x: number;
  readonly y: number;
  readonly category: string;
  readonly duel: boolean;
  readonly models?: readonly string[];
}

export interface PromptMap {
  readonly categories: readonly {
    readonly category: string;
    readonly x: number;
    readonly y: number;
  }[];
  readonly points: readonly MapPoint[];
}

export interface Truth {
  readonly kinds: readonly string[];
  readonly models: readonly {
    readonly model: string;
    readonly quality: readonly number[];
    readonly cost: readonly number[];
  }[];
}

export interface Voters {
  readonly on: boolean;
  readonly votes_per_minute: number;
  readonly voters: number;
  readonly cast: number;
  readonly failed: number;
}
