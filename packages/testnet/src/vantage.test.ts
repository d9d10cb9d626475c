import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createInternet } from './internet.ts';
import { dig, digOverTcp } from './test/dig.ts';
import { inState } from './test/use.ts';
import { STRANGER, vantageOf } from './vantage.ts';

const ASKED = 300;

describe('the way between the resolver and whoever asks it', () => {
  it('loses its share of questions over UDP, and none over TCP', async () => {
    await using internet = await createInternet({ domains: 20, hasFaults: false, vantage: { lossShare: 0.3 } });
    const [domain = ''] = inState(internet, 'active');
    const overUdp = await Promise.all(
      Array.from({ length: ASKED }, () => dig(internet.resolver, domain, 'NS', { timeoutMs: 700 })),
    );
    const lost = overUdp.filter((answer) => answer === undefined).length / ASKED;
    assert.ok(lost > 0.2 && lost < 0.4, `${lost} lost`);
    for (let i = 0; i < 20; i += 1) assert.ok((await digOverTcp(internet.resolver, domain, 'NS')).answers?.length);
  });

  it('has others answer first, or add records of names that nobody asked for', async () => {
    await using internet = await createInternet({ domains: 20, hasFaults: false, vantage: { poisonShare: 1 } });
    const [domain = ''] = inState(internet, 'active');
    const kinds = new Set<string>();
    for (let i = 0; i < 40; i += 1) {
      const answer = await dig(internet.resolver, domain, 'MX');
      const asked = answer?.questions?.[0]?.name;
      if (asked === STRANGER) kinds.add('twin');
      else if (answer?.answers?.some(({ name }) => name === STRANGER)) kinds.add('stranger');
    }
    assert.deepEqual([...kinds].sort(), ['stranger', 'twin']);
  });

  it('is faultless where no share is given', () => {
    const vantage = vantageOf('seed', {});
    for (let i = 0; i < 1_000; i += 1) assert.deepEqual([vantage.isLost(), vantage.poison()], [false, null]);
  });
});
