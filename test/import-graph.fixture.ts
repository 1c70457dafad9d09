/** Specifiers that a module imports: static, dynamic, type-only, and `new URL("./x.ts", ...)`. */
export function importsOf(text: string): string[] {
  const code = text.replaceAll(/^\s*\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const patterns = [
    /^\s*(?:import|export)\b(?:[^"';]*?\bfrom\b)?\s*["']([^"']+)["']/gm,
    /\bimport\s*\(\s*["']([^"']+)["']/g,
    /\bnew URL\(\s*["'](\.[^"']+\.[tj]s)["']/g,
  ];
  return patterns.flatMap((pattern) => [...code.matchAll(pattern)].map((match) => match[1]!));
}

/** Strongly connected components with more than one node (Tarjan), each sorted by name. */
export function cyclesOf(graph: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (node: string): void => {
    order.set(node, order.size);
    lowest.set(node, order.get(node)!);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) visit(next);
      const reached = stack.includes(next) ? lowest.get(next)! : Number.POSITIVE_INFINITY;
      lowest.set(node, Math.min(lowest.get(node)!, reached));
    }
    if (lowest.get(node) !== order.get(node)) return;
    const component = stack.splice(stack.indexOf(node));
    if (component.length > 1) cycles.push(component.toSorted());
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return cycles;
}
