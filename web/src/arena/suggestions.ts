import { useEffect, useState } from "preact/hooks";

export interface Suggestion {
  readonly category: string;
  readonly query: string;
}

/** The suggested questions in random order; empty until they are loaded. */
export function useSuggestions(): readonly Suggestion[] {
  const [questions, setQuestions] = useState<readonly Suggestion[]>([]);
  useEffect(() => {
    let isUnmounted = false;
    import("virtual:suggestions").then(
      ({ default: all }) => !isUnmounted && setQuestions(shuffled(all)),
      () => {}, // the page works without suggestions
    );
    return () => {
      isUnmounted = true;
    };
  }, []);
  return questions;
}

/** Up to `count` suggestions of different categories, starting at index `from`. */
export function onePerCategory(
  all: readonly Suggestion[],
  from: number,
  count: number,
): Suggestion[] {
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
