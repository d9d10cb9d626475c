// docs/dependencies.md lists each direct dependency once, and source files use each of them.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { sourcesOf } from './imports.ts';

const root = path.join(import.meta.dirname, '../..');
/** Used by a command, an alias of the build, or another package; no source file names them. */
const NOT_IMPORTED = /^(?:@types\/.+|@biomejs\/biome|node|preact|typescript)$/;

const manifests = globSync('{.,catalog,packages/*,services/*,web}/package.json', { cwd: root }).map((file) => {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(path.join(root, file), 'utf8'));
  const names = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => !name.startsWith('@strata/'));
  return { folder: path.dirname(file), names };
});
const installed = new Set(manifests.flatMap(({ names }) => names));

it('every dependency is in docs/dependencies.md, and nothing else', () => {
  const rows = readFileSync(path.join(root, 'docs/dependencies.md'), 'utf8').matchAll(/^\| (`.+?) \|/gm);
  const listed = [...rows].flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
  assert.deepEqual(listed.sort(), [...installed].sort());
});

it('every dependency of a workspace is used there', () => {
  const unused = manifests.flatMap(({ folder, names }) => {
    const folders = folder === '.' ? ['bench', 'catalog', 'packages', 'services', 'tests', 'web'] : [folder];
    const code = sourcesOf(root, ...folders)
      .map((file) => readFileSync(path.join(root, file), 'utf8'))
      .join('\n');
    const isUsed = (name: string) => ["'", '/'].some((end) => code.includes(`'${name}${end}`));
    return names.filter((name) => !NOT_IMPORTED.test(name) && !isUsed(name)).map((name) => `${folder}: ${name}`);
  });
  assert.deepEqual(unused, []);
});
