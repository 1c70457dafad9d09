import { axpy, dot, norm } from "./linalg.ts";

/** A smooth function: writes the gradient at x into `gradient` and returns the value. */
export type Smooth = (x: Float64Array, gradient: Float64Array) => number;

/**
 * Minimizes a smooth function by L-BFGS (Nocedal and Wright, algorithm 7.4) with a
 * backtracking line search. Stops after `steps` steps, or earlier if the gradient is 0 or the
 * value decreases by less than the share `tolerance`. Changes x and returns the value there.
 */
export function minimize(f: Smooth, x: Float64Array, steps: number, tolerance = 1e-10): number {
  const n = x.length;
  const pairs: Pair[] = [];
  let gradient = new Float64Array(n);
  let value = f(x, gradient);
  for (let step = 0; step < steps; step++) {
    const direction = descent(gradient, pairs);
    let slope = dot(direction, gradient);
    if (slope >= 0) {
      // Rounding has spoiled the curvature; start again with the gradient.
      pairs.length = 0;
      direction.set(gradient.map((g) => -g));
      slope = -dot(gradient, gradient);
    }
    if (norm(gradient) < 1e-9 || slope === 0) break;
    let length = pairs.length > 0 ? 1 : 1 / norm(gradient);
    const next = new Float64Array(n);
    const nextGradient = new Float64Array(n);
    let nextValue = value;
    for (let tries = 0; tries < 40; tries++, length /= 2) {
      next.set(x);
      axpy(length, direction, next);
      nextValue = f(next, nextGradient);
      if (nextValue <= value + 1e-4 * length * slope) break;
    }
    if (!(nextValue < value)) break;
    const s = next.map((coordinate, i) => coordinate - x[i]!);
    const y = nextGradient.map((g, i) => g - gradient[i]!);
    const curvature = dot(s, y);
    if (curvature > 1e-12 * norm(s) * norm(y)) pairs.push({ s, y, rho: 1 / curvature });
    if (pairs.length > MEMORY) pairs.shift();
    const decrease = value - nextValue;
    x.set(next);
    gradient = nextGradient;
    value = nextValue;
    if (decrease < tolerance * Math.max(1, Math.abs(value))) break;
  }
  return value;
}

const MEMORY = 10;

/** A step, the change of the gradient along it, and 1 / <s, y>. */
interface Pair {
  readonly s: Float64Array;
  readonly y: Float64Array;
  readonly rho: number;
}

/** Returns -H gradient, with H the inverse Hessian that the pairs imply (the two-loop recursion). */
function descent(gradient: Float64Array, pairs: readonly Pair[]): Float64Array {
  const out = gradient.map((g) => -g);
  const alphas = pairs.map(() => 0);
  for (let i = pairs.length - 1; i >= 0; i--) {
    const { s, y, rho } = pairs[i]!;
    alphas[i] = rho * dot(s, out);
    axpy(-alphas[i]!, y, out);
  }
  const last = pairs.at(-1);
  if (last) {
    const scale = 1 / (last.rho * dot(last.y, last.y));
    for (let i = 0; i < out.length; i++) out[i]! *= scale;
  }
  for (const [i, { s, y, rho }] of pairs.entries()) axpy(alphas[i]! - rho * dot(y, out), s, out);
  return out;
}
