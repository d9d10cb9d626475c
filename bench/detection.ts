// Evidence to profile with the whole rulebook, on evidence that a real probe of the simulated internet brought home.
import { entries } from '@strata/catalog';
import { compileRulebook, detect, type Evidence, loadCatalog } from '@strata/detect';
import { createProber } from '@strata/scan';
import { createInternet } from '@strata/testnet';
import type { Figure } from './main.ts';
import { median, perSecond, rateOf } from './measure.ts';

export async function benchDetection(): Promise<Figure[]> {
  const startedAt = performance.now();
  const rulebook = compileRulebook(loadCatalog(entries));
  const compileMs = performance.now() - startedAt;
  const evidence = await collect(rulebook.probeLabels);
  const services = evidence.reduce((sum, each) => sum + detect(each, rulebook).services.length, 0) / evidence.length;

  const detectAll = () => {
    for (const each of evidence) detect(each, rulebook);
    return evidence.length;
  };
  // The limit that no detection can pass: reading the same evidence from its JSON.
  const texts = evidence.map((each) => JSON.stringify(each));
  const parseAll = () => {
    for (const text of texts) JSON.parse(text);
    return texts.length;
  };
  const rates = [1, 2, 3, 4, 5].map(() => ({ detect: rateOf(detectAll, 1_000), parse: rateOf(parseAll, 500) }));
  const rate = median(rates.map((each) => each.detect));
  const ratio = median(rates.map((each) => each.detect / each.parse));
  return [
    {
      what: `detect, ${rulebook.providers.size} providers, ${services.toFixed(1)} services a domain`,
      value: perSecond(rate),
      against: 'goal 20,000/s a core',
    },
    { what: 'as a ratio to JSON.parse of the same evidence', value: ratio.toFixed(2), against: 'JSON.parse = 1' },
    { what: 'validate and compile the rulebook', value: `${compileMs.toFixed(0)} ms`, against: 'once, at start' },
  ];
}

async function collect(probeLabels: readonly string[]): Promise<Evidence[]> {
  await using internet = await createInternet({ domains: 300, hasFaults: false });
  await using prober = createProber({
    probeLabels,
    resolver: { upstreams: [internet.resolver] },
    userAgent: 'StrataBot/bench',
    dial: internet.dial,
    trustedCa: [internet.caPem],
  });
  const queue = internet.domains().filter((domain) => internet.truth(domain).state === 'active');
  const evidence: Evidence[] = [];
  const worker = async () => {
    for (let domain = queue.pop(); domain; domain = queue.pop()) evidence.push(await prober.probe(domain));
  };
  await Promise.all(Array.from({ length: 32 }, worker));
  return evidence;
}
