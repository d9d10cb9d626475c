import assert from 'node:assert/strict';
import { it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { codePoint, fc, holds } from '../../../../tests/support/property.ts';
import { route } from '../index.ts';
import { plain, serverOf } from '../test/test-server.ts';
import { csvBytes } from './csv.ts';
import { contentDisposition } from './table.ts';

const columns = ['domain', 'value'].map((name) => ({ name, description: 'Anything.' }));
const text = (rows: (string | number | boolean | null)[][]) => csvBytes(['domain', 'value'], { rows }).toString('utf8');

/** Reads RFC 4180 strictly: quotes only around complete cells, CRLF between rows. */
function parse(csv: string): string[][] {
  const rows: string[][] = [[]];
  let readTo = 0;
  for (const [cell, quoted, plain = '', end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n"]*))(,|\r\n)/gy)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '\r\n') rows.push([]);
    readTo += cell.length;
  }
  assert.equal(readTo, csv.length);
  return rows.slice(0, -1);
}

it('a table as CSV has a header row, CRLF everywhere, and empty cells for null', () => {
  const rows = ['a.com', 'b.com'].map((name, i) => [name, [null, 5][i] ?? null]);
  assert.deepEqual([text(rows), text([])], ['domain,value\r\na.com,\r\nb.com,5\r\n', 'domain,value\r\n']);
});

it('a table as CSV defuses what a spreadsheet would run, and leaves numbers alone', () => {
  const fullWidth = ['＝1+1', '＋1', '－1', '＠SUM(A1)', '＝HYPERLINK("http://x")'];
  for (const evil of ['=1+1', '+1', '-1+1', '@SUM(A1)', '\t=1', '\r=1', '=HYPERLINK("http://x")', ...fullWidth]) {
    const [, row] = parse(text([['a.com', evil]]));
    assert.equal(row?.[1], `'${evil}`);
  }
  for (const number of [-5, '-5']) assert.deepEqual(parse(text([['a.com', number]]))[1], ['a.com', '-5']);
});

it('a table as CSV gives back whatever text was put in', () => {
  const harmless = fc.string({ unit: codePoint }).filter((cell) => !/^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/.test(cell));
  holds(100, [fc.array(fc.tuple(harmless, harmless))], (rows) => assert.deepEqual(parse(text(rows)).slice(1), rows));
});

it('a table as CSV names a file that every system can keep', () =>
  assert.equal(contentDisposition('a b"\r\n/..\\x.csv'), 'attachment; filename="a-b-..-x.csv"'));

const rows = Array.from({ length: 200 }, (_, i) => [`company-${i}.com`, i]);
const output = { kind: 'csv', columns, description: 'Rows.' } as const;
const cache = () => ({ key: 'table', tags: [] });
const answer = { filename: 'table.csv', rows, isTruncated: true };
const table = route({ ...plain, path: '/table.csv', output, cache }, (_app: object) => answer);
let signed = 0;
const signBytes = async (content: Uint8Array, contentType: string) => {
  signed += 1;
  return { length: content.length, contentType };
};
const server = () => serverOf([table], { notary: { sign: async () => '', signOnce: async () => '', signBytes } });

it('a CSV route carries its receipt in a header, says that it is cut, and is signed once', async () => {
  await using http = server();
  signed = 0;
  const [first, again] = [await http.fastify.inject('/table.csv'), await http.fastify.inject('/table.csv')];
  for (const reply of [first, again]) {
    assert.equal(reply.headers['content-type'], 'text/csv; charset=utf-8; header=present');
    assert.equal(reply.headers['content-disposition'], 'attachment; filename="table.csv"');
    assert.equal(reply.headers['stack-truncated'], 'true');
    assert.equal(reply.headers['cache-control'], 'private, no-cache');
    const receipt = { length: reply.rawPayload.length, contentType: reply.headers['content-type'] };
    assert.deepEqual(JSON.parse(String(reply.headers['stack-provenance'])), receipt);
  }
  assert.equal(signed, 1);
});

it('a CSV route answers 304 to a client that already has it, on every response path', async () => {
  await using http = server();
  const { headers } = await http.fastify.inject('/table.csv');
  // The second URL is another text for the same answer: it takes the long way once.
  for (const url of ['/table.csv', '/table.csv?']) {
    const known = await http.fastify.inject({ url, headers: { 'if-none-match': String(headers.etag) } });
    assert.deepEqual([known.statusCode, known.body, known.headers.etag], [304, '', headers.etag], url);
    assert.equal(known.headers['cache-control'], 'private, no-cache');
    for (const name of ['content-type', 'content-disposition', 'stack-provenance', 'stack-truncated'])
      assert.equal(known.headers[name], undefined, `${name} of ${url}`);
  }
});

it('a CSV route is compressed once asked for so, each encoding with a validator of its own', async () => {
  await using http = server();
  const plain = await http.fastify.inject('/table.csv');
  const ask = (acceptEncoding: string, more = {}) =>
    http.fastify.inject({ url: '/table.csv', headers: { 'accept-encoding': acceptEncoding, ...more } });
  for (let round = 0; round < 2; round += 1) {
    const br = await ask('gzip, deflate, br');
    assert.equal(br.headers['content-encoding'], 'br');
    assert.deepEqual(brotliDecompressSync(br.rawPayload), plain.rawPayload);
    assert.equal(Number(br.headers['content-length']), br.rawPayload.length);
    const gz = await ask('br;q=0.1, gzip');
    assert.equal(gz.headers['content-encoding'], 'gzip');
    assert.deepEqual(gunzipSync(gz.rawPayload), plain.rawPayload);
    assert.equal(new Set([plain, br, gz].map(({ headers }) => headers.etag)).size, 3);
    for (const { headers } of [plain, br, gz]) {
      assert.equal(headers.vary, 'accept-encoding, x-stack-key');
      assert.equal((await ask('br', { 'if-none-match': headers.etag })).statusCode, 304);
    }
  }
  for (const none of ['', 'identity', 'br;q=0', 'deflate', '*;q=0', 'nonsense;;q=x']) {
    const reply = await ask(none);
    assert.equal(reply.headers['content-encoding'], undefined, none);
    assert.equal(reply.rawPayload.length, plain.rawPayload.length, none);
  }
});
