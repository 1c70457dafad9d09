import { z } from "zod";
import type { Encoder } from "../../encoder/encoder.ts";
import { readRows } from "../../input/rows.ts";
import { axpy, dot, inverse, normalized } from "../../linalg/linalg.ts";

/** A text of which the kind is known. */
export interface Example {
  readonly query: string;
  readonly category: string;
}

const EXAMPLE = z.object({
  query: z.string().min(1),
  category: z.string().min(1),
});

export async function readExamples(file: string): Promise<Example[]> {
  const examples: Example[] = [];
  const remedy = 'lines are {"id","category","query"}';
  for await (const { row } of readRows(file, EXAMPLE, remedy)) examples.push(row);
  return examples;
}

/** Which of the kinds a text is of. */
export class Classifier {
  readonly #encoder: Encoder;
  readonly #kinds: readonly string[];
  /** By kind, a direction in the space of the vectors with a 1 at their end. */
  readonly #weights: readonly Float64Array[];

  private constructor(
    encoder: Encoder,
    kinds: readonly string[],
    weights: readonly Float64Array[],
  ) {
    this.#encoder = encoder;
    this.#kinds = kinds;
    this.#weights = weights;
  }

  /**
   * Ridge regression of "is of this kind" on the vectors, one for each kind:
   * W = X^T (X X^T + lambda I)^-1 Y, in the form for fewer examples than numbers.
   */
  static async learn(examples: readonly Example[], encoder: Encoder): Promise<Classifier> {
    const kinds = [...new Set(examples.map(({ category }) => category))];
    const X = await vectors(
      examples.map(({ query }) => query),
      encoder,
    );
    const n = X.length;
    const gram = Float64Array.from({ length: n * n }, (_, at) => {
      const [i, j] = [Math.floor(at / n), at % n];
      return dot(X[i]!, X[j]!) + (i === j ? LAMBDA : 0);
    });
    const dual = inverse(gram, n);
    const weights = kinds.map((kind) => {
      const w = new Float64Array(X[0]?.length ?? 0);
      for (let i = 0; i < n; i++) {
        let alpha = 0;
        for (const [j, { category }] of examples.entries()) {
          alpha += dual[i * n + j]! * (category === kind ? 1 : -1 / (kinds.length - 1));
        }
        axpy(alpha, X[i]!, w);
      }
      return w;
    });
    return new Classifier(encoder, kinds, weights);
  }

  async classify(text: string): Promise<string> {
    const [x] = await vectors([text], this.#encoder);
    const scores = this.#weights.map((w) => dot(w, x!));
    return this.#kinds[scores.indexOf(Math.max(...scores))]!;
  }
}

const LAMBDA = 1;

async function vectors(texts: readonly string[], encoder: Encoder): Promise<Float64Array[]> {
  const encoded = await encoder.encode(texts);
  return encoded.map((x) => Float64Array.from([...normalized(x), 1]));
}
