// Iterative mode on the simulated Internet: it finds from the root what the recursive front answers.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Lookup } from '@strata/detect';
import { createInternet } from '@strata/testnet';
import { Resolver } from '../resolver.ts';

const DOMAINS = 120;
const TYPES = ['NS', 'SOA', 'A', 'AAAA', 'MX', 'TXT', 'CAA', 'DS'] as const;
const LABELS = ['www', 'autodiscover', 'nobody-set-this'];

const plain = ({ status, records, aliases }: Lookup<unknown>) =>
  JSON.stringify([status, records.map((record) => JSON.stringify(record)).sort(), aliases]);

it('it finds what a recursive resolver finds, for every company that is in order', async () => {
  await using internet = await createInternet({ domains: DOMAINS, vantage: { lossShare: 0, poisonShare: 0 } });
  await using stub = new Resolver({ upstreams: [internet.resolver], tryTimeoutMs: 20_000, totalTimeoutMs: 30_000 });
  await using iterative = new Resolver({
    upstreams: ['iterative', internet.root],
    allowAddresses: ['127.53.0.0/16'],
    tryTimeoutMs: 20_000,
    totalTimeoutMs: 30_000,
  });
  const sound = internet.domains().filter((name) => internet.truth(name).state !== 'broken');
  assert.ok(sound.length > DOMAINS * 0.9);
  await Promise.all(
    sound.map(async (domain) => {
      const questions = [
        ...TYPES.map((type) => [domain, type] as const),
        ...LABELS.map((label) => [`${label}.${domain}`, 'A'] as const),
        [`_dmarc.${domain}`, 'TXT'] as const,
        [`_dmarc.${domain.slice(domain.indexOf('.') + 1)}`, 'TXT'] as const,
      ];
      for (const [name, type] of questions) {
        const [ours, theirs] = await Promise.all([iterative.query(name, type), stub.query(name, type)]);
        assert.equal(plain(ours), plain(theirs), `${type} ${name}: ${ours.detail}`);
      }
    }),
  );
});
