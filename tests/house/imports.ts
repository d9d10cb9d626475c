// Who imports whom: the sources of a checkout as a graph, types included.
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const IMPORT = /(?:from\s+|import\s*\(\s*|import\s+)['"]([^'"]+)['"]/g;

/** What a file names in its imports, dynamic and type-only ones included. */
export function importsOf(root: string, file: string): string[] {
  return [...readFileSync(path.join(root, file), 'utf8').matchAll(IMPORT)].map((match) => match[1] ?? '');
}

/** Tests and their helpers; the checks of the code itself, in tests/house, and the runner of the tests are code. */
export const isTestCode = (file: string) =>
  /\.test\.tsx?$|\/test\/|^tests\/(?!house\/|(?:run|run-group|name-file)\.ts$)/.test(file);

/** TypeScript files below these folders, relative to `root`. */
export function sourcesOf(root: string, ...folders: readonly string[]): string[] {
  const exclude = (name: string) => name === 'node_modules' || name === 'dist';
  return folders.flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root, exclude }));
}

/**
 * Files that import each other in a circle, and those between two circles: what is left when files that import none of the rest, and files
 * that none of the rest imports, are taken away again and again. Imports of another package by its name are not followed.
 */
export function filesInCircles(root: string, files: readonly string[]): string[] {
  const left = new Set(files);
  const targetsOf = new Map(
    files.map((file) => [file, importsOf(root, file).map((name) => path.join(path.dirname(file), name))]),
  );
  for (let before = Number.POSITIVE_INFINITY; left.size < before; ) {
    before = left.size;
    const imported = new Set([...left].flatMap((file) => targetsOf.get(file) ?? []));
    for (const file of left)
      if (!imported.has(file) || !targetsOf.get(file)?.some((target) => left.has(target))) left.delete(file);
  }
  return [...left].sort();
}
