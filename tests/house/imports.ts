// Who imports whom: the sources of a checkout as a graph, types included.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const IMPORT = /(?:from\s+|import\s*\(\s*|import\s+)['"]([^'"]+)['"]/g;

/** What a file names in its imports, dynamic and type-only ones included. */
export function importsOf(root: string, file: string): string[] {
  return [...readFileSync(path.join(root, file), 'utf8').matchAll(IMPORT)].map((match) => match[1] ?? '');
}

/** TypeScript files below these folders, relative to `root`. */
export function sourcesOf(root: string, ...folders: readonly string[]): string[] {
  const exclude = (name: string) => name === 'node_modules' || name === 'dist';
  return folders.flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root, exclude }));
}

/**
 * Groups of files that import each other in a circle, largest first. Imports of another package by its name are not followed: the table of
 * packages has no circle.
 */
export function importCycles(root: string, files: readonly string[]): string[][] {
  const known = new Set(files);
  const edges = new Map(
    files.map((file) => {
      const targets = importsOf(root, file).map((name) => path.join(path.dirname(file), name));
      return [file, targets.filter((target) => known.has(target))];
    }),
  );
  return stronglyConnected(edges)
    .filter((group) => group.length > 1)
    .sort((a, b) => b.length - a.length);
}

/** Tarjan, "Depth-first search and linear graph algorithms" (1972). */
function stronglyConnected(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const stack: string[] = [];
  const open = new Set<string>();
  const groups: string[][] = [];
  const visit = (node: string): number => {
    const number = order.size;
    order.set(node, number);
    stack.push(node);
    open.add(node);
    let lowest = number;
    for (const next of edges.get(node) ?? []) {
      if (!order.has(next)) lowest = Math.min(lowest, visit(next));
      else if (open.has(next)) lowest = Math.min(lowest, order.get(next) ?? lowest);
    }
    if (lowest === number) {
      const group = stack.splice(stack.lastIndexOf(node));
      for (const member of group) open.delete(member);
      groups.push(group.sort());
    }
    return lowest;
  };
  for (const node of edges.keys()) if (!order.has(node)) visit(node);
  return groups;
}
