// A page that runs a script against the repository's own sources, types stripped as they are served and nothing bundled.
import { existsSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { fakeService } from './fake-service.ts';

const root = path.join(import.meta.dirname, '../..');
const imports = {
  '@strata/client': '/packages/client/src/index.ts',
  '@strata/receipts': '/packages/receipts/src/index.ts',
  '@noble/hashes/': '/node_modules/@noble/hashes/',
  'eventsource-parser': '/node_modules/eventsource-parser/dist/index.js',
};
/** What a script of Node prints to is one text here; the title says when it is over. */
const page = `<!doctype html><head><script type="importmap">${JSON.stringify({ imports })}</script>
<script>
  window.output = '';
  console.log = (...words) => { window.output += words.join(' ') + '\\n'; };
  window.process = { stdout: { write: (text) => { window.output += text; } } };
</script>
<script type="module">await import('/script.ts'); document.title = 'done';</script></head><body></body>`;

/** Serves a page that runs `code`, and sources; `url` is its address. */
export async function serveModules(code: string) {
  const { base, ...service } = await fakeService((request, response) => {
    const name = new URL(request.url ?? '/', 'http://localhost').pathname;
    if (name === '/') return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
    const file = path.join(root, name);
    const isSource = /\.(?:ts|js)$/.test(name) && file.startsWith(root) && existsSync(file);
    if (name !== '/script.ts' && !isSource) return response.writeHead(404).end();
    const source = name === '/script.ts' ? code : readFileSync(file, 'utf8');
    response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8' });
    return response.end(name.endsWith('.ts') ? stripTypeScriptTypes(source) : source);
  });
  return { ...service, url: `${base}/` };
}
