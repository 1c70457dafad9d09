/**
 * Means of a quantity per model and category, for example the tokens of an answer, so that a model
 * that answers only some categories is compared within them.
 *
 * A request belongs to several categories with shares w. For each model, amount = base * (beta w)
 * is fitted by weighted least squares: (sum base w w^T + lambda I) beta = sum amount w + lambda
 * beta_0. The prior beta_0 is the pool's mean of each category times the model's factor.
 */
export class CategoryMeans {
  readonly #pool: Regression;
  readonly #models = new Map<string, Regression>();
  /** Value before the first answer. */
  readonly #first: number;
  #prior = new Float64Array(0);
  #last: { readonly w: Float64Array; readonly mean: number } | undefined;

  constructor(first: number) {
    this.#first = first;
    this.#pool = new Regression();
  }

  /** Learns from an answer to a request with these shares of the categories. */
  learn(model: string, w: Float64Array, amount: number, base = 1): void {
    const own = this.#models.get(model) ?? new Regression();
    this.#models.set(model, own);
    // The first answer to any request shows the level of all models, not the factor of its own.
    const expected = this.#pool.answers === 0 ? amount : base * this.#poolMean(w);
    this.#pool.learn(w, amount / own.factor, base, amount);
    own.learn(w, amount, base, expected);
    const prior = this.#priorFor(w.length);
    this.#pool.solve(prior.fill(this.#pool.mean));
    this.#last = undefined;
    const { factor } = own;
    const { beta, mean } = this.#pool;
    for (let m = 0; m < prior.length; m++) prior[m] = factor * (beta[m] ?? mean);
    own.solve(prior);
  }

  /** The mean of a model on a request with these shares of the categories. */
  of(model: string, w: Float64Array): number {
    const own = this.#models.get(model);
    const mean = own ? own.at(w) : this.#poolMean(w);
    // Extrapolation to rare categories may become negative or extreme.
    const pool = this.#poolMean(w);
    return Math.min(20 * pool, Math.max(pool / 20, mean));
  }

  /** Memory for the prior of one regression. */
  #priorFor(categories: number): Float64Array {
    if (this.#prior.length !== categories) this.#prior = new Float64Array(categories);
    return this.#prior;
  }

  answersOf(model: string): number {
    return this.#models.get(model)?.answers ?? 0;
  }

  /** Number of the model's answers to requests of the same categories. */
  answersLike(model: string, w: Float64Array): number {
    return this.#models.get(model)?.answersLike(w) ?? 0;
  }

  /** The mean of all models. A request needs it once for each model, so the last one is remembered. */
  #poolMean(w: Float64Array): number {
    if (this.#last?.w !== w) {
      const pool = this.#pool;
      const mean = pool.answers === 0 ? this.#first : Math.max(pool.at(w), 0.05 * pool.mean);
      this.#last = { w, mean };
    }
    return this.#last.mean;
  }
}

/** Sums of one regression and its solution. */
class Regression {
  answers = 0;
  beta = new Float64Array(0);
  #gram = new Float64Array(0);
  #moment = new Float64Array(0);
  #amount = 0;
  #base = 0;
  #expected = 0;

  /** `expected` is the amount without knowledge of the model. */
  learn(w: Float64Array, amount: number, base: number, expected: number): void {
    const M = w.length;
    if (this.beta.length !== M) this.#reset(M);
    if (this.answers >= MOST) this.#forgetHalf();
    this.answers++;
    this.#amount += amount;
    this.#base += base;
    this.#expected += expected;
    for (let i = 0; i < M; i++) {
      this.#moment[i]! += amount * w[i]!;
      for (let j = 0; j < M; j++) this.#gram[i * M + j]! += base * w[i]! * w[j]!;
    }
  }

  /** Improves the solution by sweeps of Gauss-Seidel, which start from the previous solution. */
  solve(prior: Float64Array): void {
    const beta = this.beta;
    const gram = this.#gram;
    const M = beta.length;
    const lambda = (PRIOR_ANSWERS * this.#base) / this.answers / M;
    if (this.answers === 1) beta.set(prior);
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
      for (let i = 0; i < M; i++) {
        let rest = this.#moment[i]! + lambda * prior[i]!;
        for (let j = 0; j < M; j++) if (j !== i) rest -= gram[i * M + j]! * beta[j]!;
        beta[i] = rest / (gram[i * M + i]! + lambda);
      }
    }
  }

  at(w: Float64Array): number {
    let sum = 0;
    for (let m = 0; m < w.length; m++) sum += w[m]! * (this.beta[m] ?? this.mean);
    return sum;
  }

  /** w^T (sum w w^T) w / |w|^4: n after n answers with the same w, 0 if all had other categories. */
  answersLike(w: Float64Array): number {
    const M = w.length;
    if (this.beta.length !== M) return 0;
    let like = 0;
    let square = 0;
    for (let i = 0; i < M; i++) {
      square += w[i]! ** 2;
      for (let j = 0; j < M; j++) like += w[i]! * w[j]! * this.#gram[i * M + j]!;
    }
    return like / square ** 2 / (this.#base / this.answers);
  }

  get mean(): number {
    return this.#amount / this.#base;
  }

  /** Amount per expected amount, close to 1 if there are few answers, and 1 if nothing was expected. */
  get factor(): number {
    if (this.#expected === 0) return 1;
    const weight = (PRIOR_ANSWERS * this.#expected) / this.answers;
    return (weight + this.#amount) / (weight + this.#expected);
  }

  #reset(M: number): void {
    this.answers = this.#amount = this.#base = this.#expected = 0;
    this.beta = new Float64Array(M);
    this.#gram = new Float64Array(M * M);
    this.#moment = new Float64Array(M);
  }

  /** Old answers lose weight, so that the means follow a change of the models. */
  #forgetHalf(): void {
    this.answers /= 2;
    this.#amount /= 2;
    this.#base /= 2;
    this.#expected /= 2;
    this.#gram = this.#gram.map((sum) => sum / 2);
    this.#moment = this.#moment.map((sum) => sum / 2);
  }
}

/** Number of answers that the prior counts as. */
const PRIOR_ANSWERS = 2;
const MOST = 4000;
const SWEEPS = 3;
