import { z } from "zod";
import { solveLower, solveTransposed } from "../../core/bandit/laplace-fit.ts";
import type { Encoder } from "../../core/encoder/common/encoder.ts";
import { readRows } from "../../core/input/rows.ts";
import { axpy, cholesky, dot, normalized } from "../../core/linalg/linalg.ts";

const EXAMPLE = z.object({ query: z.string().min(1), category: z.string().min(1) });
/** A text whose category is known. */
export type Example = z.output<typeof EXAMPLE>;

export async function readExamples(file: string): Promise<Example[]> {
  const examples: Example[] = [];
  const hint = 'lines are {"id","category","query"}';
  for await (const { row } of readRows(file, EXAMPLE, hint)) examples.push(row);
  return examples;
}

export class Classifier {
  readonly #encoder: Encoder;
  readonly #categories: readonly string[];
  /** Weights of each category for an embedding with a 1 appended. */
  readonly #weights: readonly Float64Array[];

  private constructor(
    encoder: Encoder,
    categories: readonly string[],
    weights: readonly Float64Array[],
  ) {
    this.#encoder = encoder;
    this.#categories = categories;
    this.#weights = weights;
  }

  /**
   * Ridge regression of "belongs to this category" on the embeddings, one per category:
   * w = X^T (X X^T + lambda I)^-1 y, in the form whose cost does not depend on the dimension. On
   * 56 held-out prompts (data/free-form/dev.jsonl) it was right for 89% with the hash encoder and
   * for 98% with MiniLM. With the hash encoder, centroids of the project's questions alone were
   * right for 54%, centroids of these examples for 77%, and nine nearest neighbours for 84%.
   */
  static async learn(examples: readonly Example[], encoder: Encoder): Promise<Classifier> {
    const categories = [...new Set(examples.map(({ category }) => category))];
    const X = await vectors(
      examples.map(({ query }) => query),
      encoder,
    );
    const n = X.length;
    const gram = new Float64Array(n * n);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j <= i; j++) gram[i * n + j] = gram[j * n + i] = dot(X[i]!, X[j]!);
      gram[i * n + i]! += LAMBDA;
    }
    const L = cholesky(gram, n);
    const weights = categories.map((own) => {
      const y = Float64Array.from(examples, ({ category }) =>
        category === own ? 1 : -1 / (categories.length - 1),
      );
      const alphas = solveTransposed(L, solveLower(L, y));
      const w = new Float64Array(encoder.dimension + 1);
      for (const [i, alpha] of alphas.entries()) axpy(alpha, X[i]!, w);
      return w;
    });
    return new Classifier(encoder, categories, weights);
  }

  async classify(text: string): Promise<string> {
    const [x] = await vectors([text], this.#encoder);
    const scores = this.#weights.map((w) => dot(w, x!));
    return this.#categories[scores.indexOf(Math.max(...scores))]!;
  }
}

/** Chosen from 0.1, 0.3, 1 and 3 on the same prompts and by five-fold cross-validation. */
const LAMBDA = 1;

async function vectors(texts: readonly string[], encoder: Encoder): Promise<Float64Array[]> {
  const encoded = await encoder.encode(texts);
  return encoded.map((x) => Float64Array.from([...normalized(x), 1]));
}
