// The whole way of the data on the simulated internet's 500 domains, judged by what is really so.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { entries } from '@strata/catalog';
import { compileRulebook, detect, loadCatalog, type Profile } from '@strata/detect';
import { createProber, type Prober } from '@strata/scan';
import { createInternet, type Internet } from '@strata/testnet';

interface Score {
  right: number;
  wrong: number;
  visible: number;
  missed: number;
}

const emptyScore = (): Score => ({ right: 0, wrong: 0, visible: 0, missed: 0 });
const precision = (score: Score) => score.right / (score.right + score.wrong);
const recall = (score: Score) => 1 - score.missed / score.visible;

describe('detection on the simulated internet', () => {
  let internet: Internet;
  let prober: Prober;
  const profiles = new Map<string, Profile>();

  before(async () => {
    internet = await createInternet({ domains: 500 });
    const rulebook = compileRulebook(loadCatalog(entries));
    prober = createProber({
      probeLabels: rulebook.probeLabels,
      resolver: { upstreams: [internet.resolver], tryTimeoutMs: 1_000 },
      requestTimeoutMs: 3_000,
      userAgent: 'StrataBot/test',
      dial: internet.dial,
      trustedCa: [internet.caPem],
    });
    const queue = [...internet.domains()];
    const worker = async () => {
      for (let domain = queue.pop(); domain; domain = queue.pop()) {
        profiles.set(domain, detect(await prober.probe(domain), rulebook));
      }
    };
    await Promise.all(Array.from({ length: 48 }, worker));
  });

  after(async () => {
    await prober[Symbol.asyncDispose]();
    await internet[Symbol.asyncDispose]();
  });

  it('is right in at least 98 % of what it says and finds at least 95 % of what can be seen', (test) => {
    const byCategory = new Map<string, Score>();
    const total = emptyScore();
    const mistakes: string[] = [];
    for (const [domain, profile] of profiles) {
      const truth = internet.truth(domain);
      // What a broken zone still shows of itself is luck; it is only asked not to lie, below.
      if (truth.state === 'broken') continue;
      const scoreOf = (category: string) => {
        const score = byCategory.get(category) ?? emptyScore();
        byCategory.set(category, score);
        return [score, total];
      };
      for (const { category, provider } of profile.services) {
        const isRight = truth.services.some((each) => each.category === category && each.provider === provider);
        for (const score of scoreOf(category)) score[isRight ? 'right' : 'wrong'] += 1;
        if (!isRight) mistakes.push(`${domain}: said ${category}/${provider}`);
      }
      for (const { category, provider, isVisible } of truth.services) {
        if (!isVisible) continue;
        const isFound = profile.services.some((each) => each.category === category && each.provider === provider);
        for (const score of scoreOf(category)) {
          score.visible += 1;
          if (!isFound) score.missed += 1;
        }
        if (!isFound) mistakes.push(`${domain}: missed ${category}/${provider}`);
      }
    }

    const line = (name: string, score: Score) =>
      `${name.padEnd(22)} precision ${percent(precision(score))} of ${score.right + score.wrong}, recall ${percent(recall(score))} of ${score.visible}`;
    for (const [category, score] of [...byCategory].sort()) test.diagnostic(line(category, score));
    test.diagnostic(line('all', total));
    for (const mistake of mistakes.slice(0, 20)) test.diagnostic(mistake);
    assert.ok(precision(total) >= 0.98, line('all', total));
    assert.ok(recall(total) >= 0.95, line('all', total));
  });

  it('says nothing wrong about a domain whose zone is broken', () => {
    for (const [domain, profile] of profiles) {
      if (internet.truth(domain).state !== 'broken') continue;
      assert.ok(profile.state !== 'nonexistent' && profile.state !== 'parked', `${domain} is ${profile.state}`);
      if (profile.state === 'unmeasured') assert.deepEqual(profile.services, [], domain);
    }
  });

  it('knows which domains are parked and which do not exist', () => {
    for (const [domain, profile] of profiles) {
      const { state } = internet.truth(domain);
      if (state !== 'broken') assert.equal(profile.state, state, domain);
    }
  });
});

function percent(share: number): string {
  return Number.isNaN(share) ? '–' : `${(share * 100).toFixed(2)} %`;
}
