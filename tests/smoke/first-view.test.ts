// How much script a page begins with: less than 100 KB as it is sent, so that the first view is soon there on a phone.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';

const dist = path.join(import.meta.dirname, '../../web/dist');
const MAX_BYTES = 100_000;

/** A part of Vite's `manifest.json`: a file of the build, what it cannot do without, and what it may ask for later. */
interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
}

function manifest(): Readonly<Record<string, Chunk>> {
  const file = path.join(dist, '.vite/manifest.json');
  assert.ok(existsSync(file), 'the pages are not built: run `npm run build`');
  return JSON.parse(readFileSync(file, 'utf8')) as Record<string, Chunk>;
}

/** Every script that is loaded with these, as file names of the build. */
function scriptsOf(entries: readonly string[], chunks = manifest()): ReadonlySet<string> {
  const files = new Set<string>();
  const visit = (name: string) => {
    const chunk = chunks[name];
    assert.ok(chunk, `${name} is not in the build`);
    if (files.has(chunk.file)) return;
    files.add(chunk.file);
    for (const next of chunk.imports ?? []) visit(next);
  };
  for (const entry of entries) visit(entry);
  return files;
}

const sizeOf = (file: string) => statSync(path.join(dist, `${file}.gz`)).size;

const pages = { explorer: ['explorer.html', 'src/explorer/home/home-page.tsx'], chat: ['chat.html'] };
for (const [page, entries] of Object.entries(pages)) {
  it(`the first view of the ${page} takes less than 100 KB of script`, (t) => {
    const sizes = [...scriptsOf(entries), 'theme.js'].map((file) => [file, sizeOf(file)] as const);
    const total = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
    t.diagnostic(`${page}: ${total} bytes in ${sizes.length} files`);
    assert.ok(total < MAX_BYTES, `${total} bytes: ${sizes.map(([file, bytes]) => `${file} ${bytes}`).join(', ')}`);
  });
}

it('the first view loads no check of receipts, no chart and no table before they are wanted', () => {
  const chunks = manifest();
  const loaded = scriptsOf(['explorer.html', 'src/explorer/home/home-page.tsx'], chunks);
  const files = Object.values(chunks).map(({ file }) => file);
  for (const name of ['verify-answer', 'chart-canvas', 'data-table']) {
    const file = files.find((each) => each.startsWith(`assets/${name}-`) && each.endsWith('.js'));
    assert.ok(file, `${name} is no file of its own`);
    assert.equal(loaded.has(file), false, `${file} is loaded at once`);
  }
});
