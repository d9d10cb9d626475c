// How right and how complete detection is on the simulated internet, beside what is really so.
import { detect, type Evidence, idleLabels, type Profile, type Rulebook } from '@strata/detect';
import { createProber } from '@strata/scan';
import type { Internet, Truth } from '@strata/testnet';

export interface Score {
  right: number;
  wrong: number;
  visible: number;
  missed: number;
}

/** Claims of one level of confidence, and how many are right. */
export interface Calibration {
  claims: number;
  right: number;
}

/** False claims, or services with evidence that were not found, of one category and evidence. */
export interface Mistakes {
  readonly what: string;
  count: number;
  readonly example: string;
}

export interface Quality {
  companies: number;
  readonly all: Score;
  readonly byCategory: Map<string, Score>;
  readonly byLevel: Map<string, Calibration>;
  readonly mistakes: Map<string, Mistakes>;
  /** Domains whose state was read as another, with their situations. */
  readonly wrongStates: string[];
}

const emptyScore = (): Score => ({ right: 0, wrong: 0, visible: 0, missed: 0 });
export const precision = ({ right, wrong }: Score): number => right / (right + wrong);
export const recall = ({ visible, missed }: Score): number => 1 - missed / visible;

/** What is measured against: an internet, here or in another process. */
export interface Measured extends Pick<Internet, 'resolver' | 'dial' | 'caPem'> {
  readonly truths: readonly Truth[];
}

export interface MeasureOptions {
  /** Probes at once. */
  readonly concurrency?: number;
  /** Sees every piece of evidence. */
  readonly onEvidence?: (evidence: Evidence, truth: Truth) => void;
}

/** Probes every company, detects, and compares; of broken zones nothing is asked. */
export async function measureQuality(
  { truths, resolver, dial, caPem }: Measured,
  rulebook: Rulebook,
  { concurrency = 64, onEvidence }: MeasureOptions = {},
): Promise<Quality> {
  const sums = { all: emptyScore(), byCategory: new Map(), byLevel: new Map() };
  const quality: Quality = { companies: 0, ...sums, mistakes: new Map(), wrongStates: [] };
  await using prober = createProber({
    probeLabels: rulebook.probeLabels,
    idleAfter: (mx) => idleLabels(mx, rulebook),
    // Patient enough for a busy machine: what is measured is detection, and no company's server is slower than this.
    resolver: { upstreams: [resolver], tryTimeoutMs: 1_500 },
    requestTimeoutMs: 8_000,
    visitTimeoutMs: 12_000,
    // All addresses share one listener here: a limit by address would queue the customers of one host.
    perAddress: concurrency,
    userAgent: 'StrataBot/bench',
    dial,
    trustedCa: [caPem],
  });
  const queue = [...truths];
  const worker = async () => {
    for (let truth = queue.pop(); truth; truth = queue.pop()) {
      const evidence = await prober.probe(truth.domain);
      onEvidence?.(evidence, truth);
      compare(quality, truth, detect(evidence, rulebook));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return quality;
}

function compare(quality: Quality, truth: Truth, profile: Profile): void {
  const { domain, situations } = truth;
  quality.companies += 1;
  const readAsAnother = () =>
    quality.wrongStates.push(`${domain}: ${truth.state} read as ${profile.state}, ${situations.join(', ')}`);
  // What a broken zone still shows of itself is luck: only a lie about it counts.
  if (truth.state === 'broken') {
    const isLie = ['parked', 'nonexistent'].includes(profile.state);
    const isGuess = profile.state === 'unmeasured' && profile.services.length > 0;
    if (isLie || isGuess) readAsAnother();
    return;
  }
  if (profile.state !== truth.state) readAsAnother();
  const scoresOf = (category: string) => [quality.all, at(quality.byCategory, category, emptyScore)];
  const note = (what: string, example: string) => {
    at(quality.mistakes, what, () => ({
      what,
      count: 0,
      example: `${domain}: ${example}; ${situations.join(', ')}`,
    })).count += 1;
  };
  for (const { category, provider, confidence, evidence } of profile.services) {
    const isRight = truth.services.some((each) => each.category === category && each.provider === provider);
    for (const score of scoresOf(category)) score[isRight ? 'right' : 'wrong'] += 1;
    const calibration = at(quality.byLevel, confidence, () => ({ claims: 0, right: 0 }));
    calibration.claims += 1;
    if (isRight) calibration.right += 1;
    const { source = '', value = '' } = evidence[0] ?? {};
    if (!isRight) note(`wrong ${category} by ${source}`, `${provider} (${confidence}) from \`${value.slice(0, 80)}\``);
  }
  const detected = new Set(profile.services.map(({ category, provider }) => `${category} ${provider}`));
  for (const { category, provider, shownBy } of truth.services) {
    if (shownBy === null) continue;
    const isMissed = !detected.has(`${category} ${provider}`);
    for (const score of scoresOf(category)) {
      score.visible += 1;
      if (isMissed) score.missed += 1;
    }
    if (isMissed) note(`missed ${category} shown by ${shownBy}`, provider);
  }
}

function at<V>(map: Map<string, V>, key: string, create: () => V): V {
  const known = map.get(key) ?? create();
  map.set(key, known);
  return known;
}

/** The most common ones first. */
export function commonMistakes({ mistakes }: Pick<Quality, 'mistakes'>, count: number): readonly Mistakes[] {
  return [...mistakes.values()].sort((a, b) => b.count - a.count).slice(0, count);
}
