// Evidence to profile: how right it is on thousands of simulated companies, and how fast with the rulebook and ten times it.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { entries, rangeMeanings } from '@strata/catalog';
import {
  compileRulebook,
  type Evidence,
  loadAddressRanges,
  loadCatalog,
  type Provider,
  type Rulebook,
} from '@strata/detect';
import type { Truth } from '@strata/testnet';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { askChild, type Figure, perSecond, rateOf, startChild } from '../measure.ts';
import {
  type Calibration,
  commonMistakes,
  type Measured,
  measureQuality,
  precision,
  type Quality,
  recall,
  type Score,
} from './detection-quality.ts';
import type { DetectionSpeed } from './detection-speed-process.ts';

interface InternetProcess extends Pick<Measured, 'resolver' | 'caPem' | 'handWritten'> {
  readonly truths: readonly Truth[];
  readonly startMs: number;
  readonly rssBytes: number;
  readonly ports: Readonly<Record<string, readonly number[]>>;
}

const DOMAINS = Number(process.env.STRATA_BENCH_DOMAINS ?? 10_000);
/** With faults most of a probe is waiting. */
const CONCURRENCY = { off: 64, on: 400 } as const;
const SPEED_EVIDENCE = 500;

export async function benchDetection(): Promise<Figure[]> {
  const startedAt = performance.now();
  const catalog = loadCatalog(entries);
  const rulebook = compileRulebook(catalog);
  const compileMs = performance.now() - startedAt;
  const evidence: Evidence[] = [];
  const off = await measured(rulebook, 'off', (each, truth) => {
    if (truth.state === 'active' && evidence.length < SPEED_EVIDENCE) evidence.push(each);
  });
  const on = await measured(rulebook, 'on');
  return [
    ...off.figures,
    ...on.figures,
    ...(await speedFigures(evidence)),
    rangeFigure(catalog),
    { what: 'validate and compile the rulebook', value: `${compileMs.toFixed(0)} ms`, against: 'once, at start' },
  ];
}

async function measured(
  rulebook: Rulebook,
  faults: 'on' | 'off',
  onEvidence?: (evidence: Evidence, truth: Truth) => void,
): Promise<{ readonly figures: Figure[] }> {
  await using child = await startChild<InternetProcess>(new URL('./detection-internet-process.ts', import.meta.url), {
    domains: DOMAINS,
    hasFaults: faults === 'on',
  });
  const { ports, startMs, rssBytes } = child.ready;
  const dial: Measured['dial'] = ({ address, port }) => ({
    address: '127.0.0.1',
    // IPv6 addresses have the usual listeners.
    port: ports[port]?.[address.includes(':') ? 1 : Number(address.split('.')[3])] ?? 1,
  });
  const startedAt = performance.now();
  const quality = await measureQuality({ ...child.ready, dial }, rulebook, {
    concurrency: CONCURRENCY[faults],
    ...(onEvidence ? { onEvidence } : {}),
  });
  const seconds = (performance.now() - startedAt) / 1_000;
  const { peakBytes } = await askChild<{ readonly peakBytes: number }>(child, 'size');
  const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
  return {
    figures: [
      {
        what: `**faults ${faults}**: ${quality.companies.toLocaleString('en-US')} companies probed`,
        value: perSecond(quality.companies / seconds),
        against: `internet started in ${(startMs / 1_000).toFixed(1)} s; RSS ${mebibytes(rssBytes)} with every company drawn, at most ${mebibytes(peakBytes)}`,
      },
      ...qualityFigures(quality),
    ],
  };
}

function qualityFigures(quality: Quality): Figure[] {
  const { all, handWritten, longTail, byCategory, bySource, byLevel, byScore, wrongStates } = quality;
  const goals: Readonly<Record<string, string>> = { high: 'goal 99.5 %', medium: 'goal 95 %', low: 'goal 80 %' };
  return [
    scoreFigure('all claims', all, 'goal 99 % and 97 %'),
    scoreFigure('providers with a template written by hand', handWritten, ''),
    scoreFigure("long tail: the rulebook's own patterns", longTail, ''),
    ...[...byCategory].map(([name, score]) => scoreFigure(`\`${name}\``, score, '')),
    ...[...bySource].map(([name, score]) => scoreFigure(`by evidence: \`${name}\``, score, '')),
    ...['high', 'medium', 'low'].flatMap((level) => {
      const calibration = byLevel.get(level);
      return calibration ? [shareFigure(`confidence \`${level}\``, calibration, goals[level] ?? '')] : [];
    }),
    ...[...byScore].map(([tenth, calibration]) => shareFigure(`score ${tenth}`, calibration, '')),
    { what: 'states read as another', value: String(wrongStates.length), against: stateExample(quality) },
    ...commonMistakes(quality, 10).map(({ what, count, example }) => ({
      what,
      value: String(count),
      against: example,
    })),
  ];
}

function scoreFigure(what: string, score: Score, against: string): Figure {
  const value = `precision ${percent(precision(score))} of ${score.right + score.wrong}, recall ${percent(recall(score))} of ${score.visible}`;
  return { what, value, against };
}

function shareFigure(what: string, { claims, right }: Calibration, against: string): Figure {
  return { what, value: `${percent(right / claims)} right of ${claims}`, against };
}

function stateExample({ wrongStates: [first] }: Quality): string {
  return first ? `${first.domain}: ${first.truth} read as ${first.detected}, ${first.situations.join(', ')}` : '';
}

function percent(share: number): string {
  return Number.isNaN(share) ? '–' : `${(share * 100).toFixed(2)} %`;
}

/** Domains a second, beside reading the same evidence from its JSON, the limit that no detection can pass. */
async function speedFigures(evidence: readonly Evidence[]): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  const file = path.join(directory.path, 'evidence.jsonl');
  await writeFile(file, evidence.map((each) => JSON.stringify(each)).join('\n'));
  await using child = await startChild<DetectionSpeed>(new URL('./detection-speed-process.ts', import.meta.url), {
    file,
  });
  const { providers, manyProviders, services, rate, manyRate, slowdown, ofParse } = child.ready;
  return [
    {
      what: `detect, ${providers} providers, ${services.toFixed(1)} services a domain`,
      value: perSecond(rate),
      against: 'goal 20,000/s a core',
    },
    {
      what: `detect with ten times the rules, ${manyProviders.toLocaleString('en-US')} providers`,
      value: perSecond(manyRate),
      against: `${slowdown.toFixed(2)} × the time; goal: within 2 ×`,
    },
    { what: 'as a ratio to JSON.parse of the same evidence', value: ofParse.toFixed(2), against: 'JSON.parse = 1' },
  ];
}

/** Address lookups a second, beside an exact lookup of the same text in a Map, which finds no ranges. */
function rangeFigure(catalog: readonly Provider[]): Figure {
  const count = 200_000;
  const octets = (i: number) => `${11 + (i >> 16)}.${(i >> 8) & 255}.${i & 255}`;
  const text = Array.from({ length: count }, (_, i) => `${octets(i)}.0/24`).join('\n');
  const ranges = loadAddressRanges([{ name: 'digitalocean.csv', text }], { meanings: rangeMeanings, catalog });
  const addresses = Array.from({ length: count }, (_, i) => `${octets(i)}.7`);
  const exact = new Map(addresses.map((address) => [address, address]));
  const rate = (find: (address: string) => unknown) =>
    rateOf(() => addresses.reduce((found, address) => found + (find(address) ? 1 : 0), 0), 1_000);
  const [ours, map] = [rate((address) => ranges.find(address)), rate((address) => exact.get(address))];
  return {
    what: `address lookup among ${ranges.size.toLocaleString('en-US')} ranges`,
    value: `${(1e6 / ours).toFixed(2)} µs`,
    against: `goal < 1 µs; ${(map / ours).toFixed(1)} × the time of an exact Map lookup`,
  };
}
