// A page of another site in the operator's browser, against services of the operator's own machine: by DNS rebinding, and across origins.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startBothServices, useBothServices } from '../../support/both-services.ts';
import { casesOf, request, statuses } from '../../support/index.ts';

describe('services of one machine', () => {
  const services = useBothServices(() => ({ STRATA_INFERENCE_FREE_KEYS_PER_DAY: '3' }));

  /** Everything that needs no key, and one thing that does. */
  const OPEN = casesOf<Record<'stack' | 'gateway', string[]>>('security', 'open requests');
  const isKeyed = (line: string) => / \/(?:stack\/)?v1\//.test(line);

  for (const name of ['stack', 'gateway'] as const) {
    const portOf = () => services()[`${name}Port`];
    const key = () =>
      name === 'stack' ? `x-stack-key: ${services().stackKey}` : `authorization: Bearer ${services().gatewayKey}`;
    const ask = (line: string, ...fields: string[]) => request(portOf(), line, [...fields, key(), 'content-length: 0']);

    describe(`the ${name} service`, () => {
      for (const line of OPEN[name]) {
        it(`refuses ${line} under a host name that is not its own`, async () => {
          const answer = await ask(line, 'host: rebound.evil.example:80');
          assert.deepEqual(statuses(answer), [421]);
          assert.match(answer, /STRATA_ALLOWED_HOSTS/);
          assert.doesNotMatch(answer, /ssk_|sk-/);
        });

        if (!isKeyed(line))
          it(`answers ${line} to no page of another site`, async () => {
            const answer = await ask(line, 'host: 127.0.0.1', 'origin: https://evil.example');
            assert.deepEqual(statuses(answer), [403]);
            assert.match(answer, /STRATA_ALLOWED_HOSTS/);
            assert.doesNotMatch(answer, /evil\.example/);
          });
      }

      it('answers a page of another site that was given a key, where nothing is answered without one', async () => {
        const fields = ['host: 127.0.0.1', 'origin: https://app.example'];
        for (const line of OPEN[name].filter(isKeyed)) {
          assert.match(String(statuses(await ask(line, ...fields))), /^20[04]$/, line);
          const without = statuses(await request(portOf(), line, fields));
          assert.deepEqual(without, [line.startsWith('OPTIONS') ? 204 : 401], line);
        }
      });

      it('answers its own pages, those of the other service, and programs', async () => {
        for (const origin of ['http://127.0.0.1:1', 'http://localhost:8788'])
          assert.deepEqual(statuses(await ask('GET /health', 'host: localhost', `origin: ${origin}`)), [200], origin);
        assert.deepEqual(statuses(await ask('GET /health', 'host: localhost')), [200]);
      });

      it('gives a page of another site no key, however it is called', async () => {
        const fields = ['host: 127.0.0.1', 'sec-fetch-site: cross-site'];
        assert.deepEqual(statuses(await ask('POST /keys', ...fields)), [403]);
        assert.deepEqual(statuses(await ask('POST /keys', 'host: 127.0.0.1', 'sec-fetch-site: same-origin')), [201]);
      });

      it('is not persuaded by what a page can set itself', async () => {
        const fields = ['host: rebound.evil.example', 'x-forwarded-host: localhost', 'forwarded: host=localhost'];
        assert.deepEqual(statuses(await ask('GET /health', ...fields)), [421]);
        const other = ['host: localhost', 'origin: https://evil.example', 'x-forwarded-host: evil.example'];
        assert.deepEqual(statuses(await ask('GET /health', ...other)), [403]);
      });
    });
  }

  it('the metrics are refused under another host name and to pages', async () => {
    const ask = (...fields: string[]) => request(services().metricsPort, 'GET /metrics', fields);
    assert.deepEqual(statuses(await ask('host: rebound.evil.example')), [421]);
    assert.deepEqual(statuses(await ask('host: localhost', 'origin: https://evil.example')), [403]);
    assert.deepEqual(statuses(await ask('host: localhost')), [200]);
  });

  it('an operator names what a service is called, and then any page may ask it by that name', async () => {
    await using named = await startBothServices({ STRATA_ALLOWED_HOSTS: 'strata.example' });
    for (const port of [named.stackPort, named.gatewayPort]) {
      const ask = (...fields: string[]) => request(port, 'GET /health', fields);
      assert.deepEqual(statuses(await ask('host: strata.example', 'origin: https://app.example')), [200]);
      assert.deepEqual(statuses(await ask('host: other.example')), [421]);
    }
  });
});
