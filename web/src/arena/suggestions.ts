import { useEffect, useState } from "preact/hooks";

export interface Suggestion {
  readonly category: string;
  readonly query: string;
}

/** Questions in an order by chance; none until they are there. */
export function useSuggestions(): readonly Suggestion[] {
  const [questions, setQuestions] = useState<readonly Suggestion[]>([]);
  useEffect(() => {
    let isGone = false;
    import("virtual:suggestions").then(
      ({ default: all }) => !isGone && setQuestions(shuffled(all)),
      () => {}, // people have questions of their own
    );
    return () => {
      isGone = true;
    };
  }, []);
  return questions;
}

/** At most one of each category, from a place on. */
export function oneOfEach(all: readonly Suggestion[], from: number, count: number): Suggestion[] {
  const found = new Map<string, Suggestion>();
  for (let i = 0; i < all.length && found.size < count; i++) {
    const one = all[(from + i) % all.length]!;
    if (!found.has(one.category)) found.set(one.category, one);
  }
  return [...found.values()];
}

function shuffled<T>(list: readonly T[]): T[] {
  const all = [...list];
  for (let i = all.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [all[i], all[j]] = [all[j]!, all[i]!];
  }
  return all;
}
