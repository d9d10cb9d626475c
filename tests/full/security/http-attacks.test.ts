// Both services against a client that is not a client: requests hidden in requests, paths out of the folder, bodies that poison,
// pack or never end, and headers that would end up elsewhere.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { useBothServices } from '../../support/both-services.ts';
import { exchange, request, statuses } from '../../support/raw-http.ts';

describe('a client that attacks', () => {
  const settings = { STRATA_INFERENCE_FREE_KEYS_PER_DAY: '1000', STRATA_FREE_KEYS_PER_DAY: '1000' };
  const services = useBothServices(() => settings);

  const SERVICES = [
    ['stack', () => services().stackPort, () => `x-stack-key: ${services().stackKey}`],
    ['gateway', () => services().gatewayPort, () => `authorization: Bearer ${services().gatewayKey}`],
  ] as const;

  /** Answered with 200 where it is taken for a request of its own. */
  const HIDDEN = 'GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';
  const post = (fields: string, body: string, line = 'POST /keys HTTP/1.1') =>
    `${line}\r\nhost: localhost\r\ncontent-type: application/json\r\n${fields}\r\n${body}`;

  const SMUGGLED: Readonly<Record<string, string>> = {
    'a length and chunks (CL.TE)': post('content-length: 4\r\ntransfer-encoding: chunked\r\n', `0\r\n\r\n${HIDDEN}`),
    'chunks and a length (TE.CL)': post(
      'transfer-encoding: chunked\r\ncontent-length: 4\r\n',
      `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`,
    ),
    'two lengths': post('content-length: 2\r\ncontent-length: 40\r\n', `{}${HIDDEN}`),
    'the same length twice': post('content-length: 2\r\ncontent-length: 2\r\n', `{}${HIDDEN}`),
    'two lengths in one': post('content-length: 2, 40\r\n', `{}${HIDDEN}`),
    'a length with a sign': post('content-length: +2\r\n', `{}${HIDDEN}`),
    'a negative length': post('content-length: -1\r\n', HIDDEN),
    'a hexadecimal length': post('content-length: 0x2\r\n', `{}${HIDDEN}`),
    'a length with a blank in it': post('content-length: 2 0\r\n', `{}${HIDDEN}`),
    'an endless length': post(`content-length: ${'9'.repeat(40)}\r\n`, HIDDEN),
    'an unknown coding': post('transfer-encoding: xchunked\r\n', `0\r\n\r\n${HIDDEN}`),
    'chunked before another coding': post('transfer-encoding: chunked, identity\r\n', `0\r\n\r\n${HIDDEN}`),
    'chunked twice': post('transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n', `0\r\n\r\n${HIDDEN}`),
    'a blank before the colon': post('transfer-encoding : chunked\r\n', `0\r\n\r\n${HIDDEN}`),
    'a vertical tab in the coding': post('transfer-encoding: \x0bchunked\r\n', `0\r\n\r\n${HIDDEN}`),
    'a folded header': post('x-a: b\r\n transfer-encoding: chunked\r\n', `0\r\n\r\n${HIDDEN}`),
    'a folded coding': post('transfer-encoding:\r\n chunked\r\n', `0\r\n\r\n${HIDDEN}`),
    'a chunk of no size': post('transfer-encoding: chunked\r\n', `zz\r\n${HIDDEN}`),
    'a chunk with a sign': post('transfer-encoding: chunked\r\n', `-1\r\n${HIDDEN}`),
    'a chunk larger than numbers are': post('transfer-encoding: chunked\r\n', `${'f'.repeat(20)}\r\n${HIDDEN}`),
    'a chunk that is longer than it says': post('transfer-encoding: chunked\r\n', `2\r\n{} \r\n0\r\n\r\n${HIDDEN}`),
    'a chunk that ends with a bare line feed': post('transfer-encoding: chunked\r\n', `2\n{}\n0\n\n${HIDDEN}`),
    'an extension with a line feed in it': post('transfer-encoding: chunked\r\n', `2;\n{}\r\n0\r\n\r\n${HIDDEN}`),
    'a bare carriage return in a header': post('x-a: b\rtransfer-encoding: chunked\r\n', `0\r\n\r\n${HIDDEN}`),
    'a zero byte in a header': post('x-a: b\0c\r\ncontent-length: 2\r\n', `{}${HIDDEN}`),
    'a header without a name': post(': b\r\ncontent-length: 2\r\n', `{}${HIDDEN}`),
    'a header without a colon': post('nonsense\r\ncontent-length: 2\r\n', `{}${HIDDEN}`),
    'two hosts': `GET /health HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n\r\n${HIDDEN}`,
    'no host': `GET /health HTTP/1.1\r\n\r\n${HIDDEN}`,
    'another version': `GET /health HTTP/9.9\r\nhost: localhost\r\n\r\n${HIDDEN}`,
    'the preface of HTTP/2': `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${HIDDEN}`,
    'a blank in the target': `GET /a b HTTP/1.1\r\nhost: localhost\r\n\r\n${HIDDEN}`,
  };

  for (const [name, port, key] of SERVICES) {
    const ask = (line: string, fields: readonly string[] = [], body = '') =>
      request(port(), line, ['host: localhost', key(), ...fields], body);
    const asking = name === 'stack' ? 'POST /keys' : 'POST /v1/chat/completions';

    describe(`the ${name} service takes one request for one, and refuses`, () => {
      for (const [what, bytes] of Object.entries(SMUGGLED))
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
          const body = `{"model":"model","messages":[{"role":"user","content":"x"}]${more}}`;
          return ask(asking, ['content-type: application/json', `content-length: ${body.length}`], body);
        };
        for (const poison of [
          '"__proto__":{"x":1}',
          '"constructor":{"prototype":{"x":1}}',
          '"\\u005f_proto__":{"x":1}',
        ])
          for (const more of [`,${poison}`, `,"metadata":{${poison}}`, `,"metadata":[{"a":{${poison}}}]`])
            assert.match(await sent(more), /^HTTP\/1\.1 400 /, more);
        assert.doesNotMatch(await sent(',"metadata":{"a":"b"}'), /^HTTP\/1\.1 400 /, 'the same without it is read');
        assert.deepEqual(Object.getOwnPropertyNames(Object.prototype), before);
        assert.equal(({} as { x?: unknown }).x, undefined);
      });
    });
  }
});
