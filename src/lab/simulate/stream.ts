import type { Random } from "../../core/random/random.ts";
import type { Dataset } from "../data/dataset.ts";
import { groupQueries, setAside } from "../data/groups.ts";
import type { Section, Settings } from "./settings.ts";

/** Indices of the queries of rounds 1 .. T. `random` is the generator of the environment. A shorter run has the same beginning. */
export function streamOf(dataset: Dataset, settings: Settings, random: Random): number[] {
  const groups = groupQueries(dataset);
  const { online } = setAside(dataset, groups, settings.offline, random.split("offline"));
  const names = groups.map(({ name }) => name);
  return streamOrder(online, names, settings, random.split("stream"));
}

function streamOrder(
  online: readonly (readonly number[])[],
  names: readonly string[],
  settings: Settings,
  random: Random,
): number[] {
  const order: number[] = [];
  if (typeof settings.stream !== "string") {
    return sectionOrder(online, names, settings.stream, random).slice(0, settings.rounds);
  }
  if (settings.stream === "uniform") {
    const filled = online.filter((members) => members.length > 0);
    while (order.length < settings.rounds) {
      const members = filled[random.integer(filled.length)]!;
      order.push(members[random.integer(members.length)]!);
    }
    return order;
  }
  const all = online.flat();
  while (order.length < settings.rounds) {
    // One by one: a push of very many arguments would overflow the stack.
    for (const i of random.shuffle([...all]).slice(0, settings.rounds - order.length)) {
      order.push(i);
    }
  }
  return order;
}

function sectionOrder(
  online: readonly (readonly number[])[],
  names: readonly string[],
  sections: readonly Section[],
  random: Random,
): number[] {
  const left = online.map((members) => random.shuffle([...members]));
  return sections.flatMap((section) => {
    const taken = Object.entries(section).flatMap(([name, count]) => {
      const members = left[names.indexOf(name)] ?? [];
      if (members.length >= count) return members.splice(0, count);
      throw new RangeError(
        `the stream asks for ${count} more queries of ${name}, which has ${members.length}`,
      );
    });
    return random.shuffle(taken);
  });
}
