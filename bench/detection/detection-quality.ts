// How right and how complete detection is on the simulated internet, beside what is really so.
import { detect, type Evidence, type Profile, type Rulebook, type Service } from '@strata/detect';
import { createProber } from '@strata/scan';
import type { Internet, Truth } from '@strata/testnet';

export interface Score {
  right: number;
  wrong: number;
  visible: number;
  missed: number;
}

/** A false claim, or a service with evidence that was not found. */
export interface Mistake {
  readonly kind: 'wrong' | 'missed';
  readonly domain: string;
  readonly category: string;
  readonly provider: string;
  readonly isLongTail: boolean;
  readonly situations: readonly string[];
  /** Of a wrong claim. */
  readonly service?: Service;
}

/** Claims of one level or score, and how many are right. */
export interface Calibration {
  claims: number;
  right: number;
}

export interface Quality {
  readonly companies: number;
  readonly all: Score;
  readonly byCategory: ReadonlyMap<string, Score>;
  /** By kind of evidence: claims by their strongest evidence, existing services by their plainest. */
  readonly bySource: ReadonlyMap<string, Score>;
  readonly handWritten: Score;
  readonly longTail: Score;
  readonly byLevel: ReadonlyMap<string, Calibration>;
  /** By tenths of the score, `0.9–1.0`. */
  readonly byScore: ReadonlyMap<string, Calibration>;
  readonly mistakes: readonly Mistake[];
  /** How many companies are in each situation. */
  readonly situations: ReadonlyMap<string, number>;
  /** Domains whose state was read as another. */
  readonly wrongStates: readonly {
    readonly domain: string;
    readonly truth: string;
    readonly detected: string;
    readonly situations: readonly string[];
  }[];
}

const emptyScore = (): Score => ({ right: 0, wrong: 0, visible: 0, missed: 0 });
export const precision = ({ right, wrong }: Score): number => right / (right + wrong);
export const recall = ({ visible, missed }: Score): number => 1 - missed / visible;

/** What is measured against: an internet, here or in another process. */
export interface Measured extends Pick<Internet, 'resolver' | 'dial' | 'caPem' | 'handWritten'> {
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
  { truths, resolver, dial, caPem, handWritten }: Measured,
  rulebook: Rulebook,
  { concurrency = 64, onEvidence }: MeasureOptions = {},
): Promise<Quality> {
  const tally = new Tally(new Set(handWritten));
  await using prober = createProber({
    probeLabels: rulebook.probeLabels,
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
      tally.add(truth, detect(evidence, rulebook));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return tally.quality();
}

class Tally {
  readonly #handWrittenPairs: ReadonlySet<string>;
  readonly #all = emptyScore();
  readonly #handWritten = emptyScore();
  readonly #longTail = emptyScore();
  readonly #byCategory = new Map<string, Score>();
  readonly #bySource = new Map<string, Score>();
  readonly #byLevel = new Map<string, Calibration>();
  readonly #byScore = new Map<string, Calibration>();
  readonly #mistakes: Mistake[] = [];
  readonly #situations = new Map<string, number>();
  readonly #wrongStates: Quality['wrongStates'][number][] = [];
  #companies = 0;

  constructor(handWritten: ReadonlySet<string>) {
    this.#handWrittenPairs = handWritten;
  }

  add(truth: Truth, profile: Profile): void {
    this.#companies += 1;
    const { domain, situations } = truth;
    for (const each of situations) this.#situations.set(each, (this.#situations.get(each) ?? 0) + 1);
    // What a broken zone still shows of itself is luck: only a lie about it counts.
    if (truth.state === 'broken') {
      const isLie = ['parked', 'nonexistent'].includes(profile.state);
      const isGuess = profile.state === 'unmeasured' && profile.services.length > 0;
      if (isLie || isGuess) this.#wrongStates.push({ domain, truth: 'broken', detected: profile.state, situations });
      return;
    }
    if (profile.state !== truth.state)
      this.#wrongStates.push({ domain, truth: truth.state, detected: profile.state, situations });
    const isTrue = (category: string, provider: string) =>
      truth.services.some((each) => each.category === category && each.provider === provider);
    for (const service of profile.services) {
      const { category, provider } = service;
      const isRight = isTrue(category, provider);
      for (const score of this.#scoresOf(category, provider, service.evidence[0]?.source))
        score[isRight ? 'right' : 'wrong'] += 1;
      const tenth = Math.min(9, Math.floor(service.score * 10)) / 10;
      for (const calibration of [
        at(this.#byLevel, service.confidence, () => ({ claims: 0, right: 0 })),
        at(this.#byScore, `${tenth.toFixed(1)}–${(tenth + 0.1).toFixed(1)}`, () => ({ claims: 0, right: 0 })),
      ]) {
        calibration.claims += 1;
        if (isRight) calibration.right += 1;
      }
      if (!isRight) this.#mistakes.push({ kind: 'wrong', service, ...this.#named(truth, category, provider) });
    }
    const detected = new Set(profile.services.map(({ category, provider }) => `${category} ${provider}`));
    for (const { category, provider, shownBy } of truth.services) {
      if (shownBy === null) continue;
      const isMissed = !detected.has(`${category} ${provider}`);
      for (const score of this.#scoresOf(category, provider, shownBy)) {
        score.visible += 1;
        if (isMissed) score.missed += 1;
      }
      if (isMissed) this.#mistakes.push({ kind: 'missed', ...this.#named(truth, category, provider) });
    }
  }

  #named({ domain, situations }: Truth, category: string, provider: string): Omit<Mistake, 'kind'> {
    return { domain, category, provider, situations, isLongTail: !this.#isHandWritten(category, provider) };
  }

  #isHandWritten(category: string, provider: string): boolean {
    return this.#handWrittenPairs.has(`${category} ${provider}`);
  }

  #scoresOf(category: string, provider: string, source: string | undefined): Score[] {
    const group = this.#isHandWritten(category, provider) ? this.#handWritten : this.#longTail;
    return [
      this.#all,
      group,
      at(this.#byCategory, category, emptyScore),
      ...(source ? [at(this.#bySource, source, emptyScore)] : []),
    ];
  }

  quality(): Quality {
    return {
      companies: this.#companies,
      all: this.#all,
      handWritten: this.#handWritten,
      longTail: this.#longTail,
      byCategory: sorted(this.#byCategory),
      bySource: sorted(this.#bySource),
      byLevel: sorted(this.#byLevel),
      byScore: sorted(this.#byScore),
      mistakes: this.#mistakes,
      situations: this.#situations,
      wrongStates: this.#wrongStates,
    };
  }
}

function at<V>(map: Map<string, V>, key: string, create: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const created = create();
  map.set(key, created);
  return created;
}

function sorted<V>(map: ReadonlyMap<string, V>): ReadonlyMap<string, V> {
  return new Map([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Mistakes by kind, category and evidence, the most common first, each with what most of them share and an example. */
export function commonMistakes(
  { mistakes, situations, companies }: Pick<Quality, 'mistakes' | 'situations' | 'companies'>,
  count: number,
): { readonly what: string; readonly count: number; readonly example: string }[] {
  const groups = new Map<string, Mistake[]>();
  for (const mistake of mistakes) {
    const source = mistake.service ? ` by ${mistake.service.evidence[0]?.source}` : '';
    const key = `${mistake.kind} ${mistake.category}${source}${mistake.isLongTail ? ' (long tail)' : ''}`;
    at(groups, key, () => []).push(mistake);
  }
  return [...groups]
    .sort((a, b) => b[1].length - a[1].length)
    .slice(0, count)
    .map(([what, all]) => {
      const shared = sharedSituation(all, (name) => (situations.get(name) ?? 0) / companies);
      const example = all.find((each) => shared === undefined || each.situations.includes(shared)) ?? all[0];
      return {
        what: shared === undefined ? what : `${what}, mostly ${shared}`,
        count: all.length,
        example: example ? exampleOf(example) : '',
      };
    });
}

/** What at least half of them have, and few of the rest. */
function sharedSituation(mistakes: readonly Mistake[], shareOfAll: (situation: string) => number): string | undefined {
  const counts = new Map<string, number>();
  for (const { situations } of mistakes) for (const each of situations) counts.set(each, (counts.get(each) ?? 0) + 1);
  return [...counts]
    .filter(([name, n]) => n >= mistakes.length / 2 && n / mistakes.length > 3 * shareOfAll(name))
    .sort((a, b) => b[1] / shareOfAll(b[0]) - a[1] / shareOfAll(a[0]))[0]?.[0];
}

function exampleOf({ domain, provider, service }: Mistake): string {
  const shown = service?.evidence[0];
  return `${domain}: ${provider}${shown ? ` (${service.confidence}) from ${shown.source} \`${shown.value.slice(0, 80)}\`` : ''}`;
}
