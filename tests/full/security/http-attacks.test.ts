// Both services against a client that is not a client: requests hidden in requests, paths out of the folder, bodies that poison,
// pack or never end, and headers that would end up elsewhere.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { useBothServices } from '../../support/both-services.ts';
import { exchange, request, statuses, vectorsIn } from '../../support/index.ts';

describe('a client that attacks', () => {
  const settings = { STRATA_INFERENCE_FREE_KEYS_PER_DAY: '1000', STRATA_FREE_KEYS_PER_DAY: '1000' };
  const services = useBothServices(() => settings);

  const SERVICES = [
    ['stack', () => services().stackPort, () => `x-stack-key: ${services().stackKey}`],
    ['gateway', () => services().gatewayPort, () => `authorization: Bearer ${services().gatewayKey}`],
  ] as const;

  /** Each hides a request that is answered with 200 where it is taken for one of its own. */
  const { requests } = vectorsIn<{ requests: { what: string; bytes: string }[] }>('smuggled-requests.json');

  for (const [name, port, key] of SERVICES) {
    const ask = (line: string, fields: readonly string[] = [], body = '') =>
      request(port(), line, ['host: localhost', key(), ...fields], body);
    const [asking, asked, metadata] =
      name === 'stack'
        ? ['POST /stack/v1/query', '"query":"tld:com"', '']
        : [
            'POST /v1/chat/completions',
            '"model":"model","messages":[{"role":"user","content":"x"}]',
            ',"metadata":{"a":"b"}',
          ];

    describe(`the ${name} service takes one request for one, and refuses`, () => {
      for (const { what, bytes } of requests)
        it(what, async () => assert.match(String(statuses(await exchange(port(), bytes))), /^4\d\d$/));
    });

    describe(`the ${name} service`, () => {
      it('lets no path lead out of a folder', async () => {
        const out = '.. %2e%2e ..%2f %2e%2e%2f ..\\ ..%5c %252e%252e%252f ....// .%00./ ..;/'.split(' ');
        const starts = ['/', '/assets/', '/ledger/tile/', '/ledger/tile/entries/', '/.well-known/', '/reference/'];
        for (const start of starts)
          for (const up of out)
            for (const file of ['etc/passwd', 'package.json', 'keys/current.json', 'strata.db', 'inference.db']) {
              const target = `${start}${`${up}${up.endsWith('/') ? '' : '/'}`.repeat(6)}${file}`;
              const answer = await ask(`GET ${target}`);
              assert.match(answer, /^HTTP\/1\.1 4\d\d /, target);
              assert.doesNotMatch(answer, /root:|"workspaces"|SQLite format|PRIVATE KEY/, target);
            }
      });

      it('serves no file for an absolute path, and only valid tiles', async () => {
        for (const target of ['//etc/passwd', '/%2fetc%2fpasswd', '/0/../../checkpoint'])
          assert.match(await ask(`GET /ledger/tile${target}`), /^HTTP\/1\.1 4\d\d /, target);
        for (const tile of '0/-1 0/000.p 0/000.p/0 0/000.p/257 0/x001 -1/000 64/000 0/0000 data/000'.split(' '))
          assert.match(await ask(`GET /ledger/tile/${tile}`), /^HTTP\/1\.1 4\d\d /, tile);
      });

      it('takes no method from a header or a parameter', async () => {
        for (const field of ['x-http-method-override: DELETE', 'x-method-override: POST', 'x-http-method: POST'])
          assert.deepEqual(statuses(await ask('GET /health', [field])), [200], field);
        assert.deepEqual(statuses(await ask('GET /keys?_method=POST')), [405]);
      });

      it('answers nothing to a tunnel or another protocol', async () => {
        const to = '169.254.169.254:80';
        const tunnel = await exchange(port(), `CONNECT ${to} HTTP/1.1\r\nhost: ${to}\r\n\r\n`);
        assert.doesNotMatch(tunnel, /HTTP\/1\.1 [123]\d\d /);
        const upgrade = await ask('GET /health', ['upgrade: h2c', 'http2-settings: AAMAAABkAAQAAP__']);
        assert.doesNotMatch(upgrade, /HTTP\/1\.1 101 /);
        const complete = await request(port(), 'GET http://169.254.169.254/', ['host: localhost']);
        assert.doesNotMatch(complete, /HTTP\/1\.1 [35]\d\d /);
      });

      it('repeats nothing in a header that a client could end it with', async () => {
        const fields = ['x-request-id: abc\tdef set-cookie', 'origin: http://localhost'];
        const [head = ''] = (await ask('GET /%0d%0aset-cookie:%20a=b', fields)).split('\r\n\r\n');
        assert.doesNotMatch(head, /set-cookie/i);
      });

      it('reads no more of a body than it takes, however it is packed', async () => {
        const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024));
        for (const encoding of ['gzip', 'br', 'deflate', 'zstd', 'gzip, gzip']) {
          // In one piece: what came after a refusal would reset the connection, and the refusal could be lost with it.
          const fields = ['content-type: application/json', `content-encoding: ${encoding}`];
          const answer = await ask(asking, [...fields, `content-length: ${bomb.length}`], bomb.toString('latin1'));
          assert.match(answer, /^HTTP\/1\.1 4\d\d /, encoding);
        }
      });

      it('gives a file once, however many ranges of it are asked for', async () => {
        const complete = await ask('GET /favicon.svg');
        const ranges = await ask('GET /favicon.svg', [`range: bytes=${Array(500).fill('0-').join(',')}`]);
        assert.ok(ranges.length <= complete.length + 500, `${ranges.length} bytes of ${complete.length}`);
      });

      it('takes headers of 16 KiB in all, and no more', async () => {
        const answered = async (bytes: number) =>
          statuses(await ask('GET /health', [`x-filled: ${'y'.repeat(bytes)}`]))[0];
        assert.deepEqual([await answered(16_000), await answered(16_500)], [200, 431]);
      });

      it('is not poisoned by names that every object has', async () => {
        const before = Object.getOwnPropertyNames(Object.prototype);
        const names = '__proto__ constructor constructor[prototype][x] __proto__[x] toString hasOwnProperty'.split(' ');
        const query = [...names, 'constructor.prototype.x', '__proto__.x'].map((each) => `${each}=1`).join('&');
        for (const target of ['/health', '/stack/v1/search', '/v1/models', '/suggest', '/__proto__', '/constructor'])
          for (const text of [query, encodeURI(query)])
            assert.doesNotMatch(await ask(`GET ${target}?${text}`), /^HTTP\/1\.1 5\d\d /, target);
        const sent = (more: string) => {
          const body = `{${asked}${more}}`;
          return ask(asking, ['content-type: application/json', `content-length: ${body.length}`], body);
        };
        const own = '"__proto__":{"x":1}';
        for (const poison of [own, own.replace('_', '\\u005f'), '"constructor":{"prototype":{"x":1}}'])
          for (const more of [`,${poison}`, `,"metadata":{${poison}}`, `,"metadata":[{"a":{${poison}}}]`])
            assert.match(await sent(more), /^HTTP\/1\.1 400 /, more);
        assert.doesNotMatch(await sent(metadata), /^HTTP\/1\.1 400 /, 'the same without it is read');
        assert.deepEqual(Object.getOwnPropertyNames(Object.prototype), before);
        assert.equal(({} as { x?: unknown }).x, undefined);
      });
    });
  }
});
