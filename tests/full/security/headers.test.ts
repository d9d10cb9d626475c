// Security headers of every answer of both services: pages, data, tables, streams, files, refusals.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useBothServices } from '../../support/both-services.ts';

const ASKED = {
  stack: [
    ...['/', '/domain/example.com', '/reference', '/nowhere', '/health', '/site.json', '/suggest?q=a', '/openapi.json'],
    ...['/ledger/checkpoint', '/ledger/tile/9/000', '/.well-known/stack-keys.json', '/stack/v1/stats', '/favicon.svg'],
    ...['/stack/v1/search?limit=0', '/stack/v1/security/export.csv', '/stack/v1/domains/x..y', '/stack/v1/stream'],
    ...['/assets/nothing.js', '/%zz', '/stack/v1/stream/json'],
  ],
  gateway: [
    ...['/', '/machines', '/nowhere', '/health', '/ready', '/network', '/site.json', '/openapi.json', '/v1/models'],
    ...['/v1/models/none', '/ledger/checkpoint', '/.well-known/inference-keys.json', '/assets/nothing.js', '/%zz'],
  ],
} as const;

describe('the headers of both services', () => {
  const services = useBothServices();

  for (const [name, base] of [
    ['stack', () => `http://127.0.0.1:${services().stackPort}`],
    ['gateway', () => `http://127.0.0.1:${services().gatewayPort}`],
  ] as const) {
    const ask = async (target: string, { method = 'GET', accept = '*/*', hasKey = true } = {}) => {
      const keys = { 'x-stack-key': services().stackKey, authorization: `Bearer ${services().gatewayKey}` };
      const leaving = new AbortController();
      const headers = { accept, ...(hasKey ? keys : {}) };
      const response = await fetch(base() + target, { method, headers, signal: leaving.signal });
      // A stream has no end.
      leaving.abort();
      return response;
    };
    const check = ({ headers, status }: Response, what: string) => {
      const of = (field: string) => headers.get(field) ?? '';
      const isPage = of('content-type').startsWith('text/html');
      const policy = of('content-security-policy').split('; ');
      assert.equal(of('x-content-type-options'), 'nosniff', what);
      if (status === 304) return;
      for (const each of ["default-src 'none'", "frame-ancestors 'none'"]) assert.ok(policy.includes(each), what);
      assert.equal(of('referrer-policy'), 'no-referrer', what);
      assert.equal(of('strict-transport-security'), '', 'the proxy in front knows whether there is TLS');
      assert.equal(`${of('server')}${of('x-powered-by')}${of('set-cookie')}`, '', what);
      if (!isPage) return;
      assert.ok(policy.includes("base-uri 'none'") && policy.includes("form-action 'none'"), `${what}: ${policy}`);
      assert.equal(of('cross-origin-opener-policy'), 'same-origin', what);
      assert.equal(of('cross-origin-resource-policy'), 'same-origin', what);
      assert.match(of('permissions-policy'), /camera=\(\).*microphone=\(\)/, what);
    };

    describe(`answers of the ${name} service`, () => {
      for (const target of ASKED[name])
        it(`to ${target} have the security headers`, async () => {
          const ways = [{}, { method: 'HEAD' }, { method: 'DELETE' }, { accept: 'text/html' }, { hasKey: false }];
          for (const options of ways) {
            const response = await ask(target, options);
            check(response, `${JSON.stringify(options)} ${target} ${response.status}`);
          }
        });
    });
  }

  describe('an answer from memory', () => {
    it('says the same as one that was just made', async () => {
      const url = `http://127.0.0.1:${services().stackPort}/stack/v1/stats/providers`;
      const ask = () => fetch(url, { headers: { 'x-stack-key': services().stackKey } });
      const names = ({ headers }: Response) => [...headers.keys()].sort();
      const [made, kept] = [await ask(), await ask()];
      assert.deepEqual([made.status, names(made)], [200, names(kept)]);
      assert.match(kept.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
    });
  });
});
