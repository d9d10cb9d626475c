// Questions about sets of domains at 20,000, 200,000 and 1,000,000: the service over HTTP, and the index beside DuckDB and SQLite.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { compileRulebook, loadCatalog } from '@strata/detect';
import { loadedWorld } from '@strata/testnet';
import autocannon from 'autocannon';
import type { Figure } from './main.ts';
import { median, perSecond, startChild } from './measure.ts';
import { compareEngines } from './sets-engines.ts';
import { catalogOf, loadStore } from './sets-load.ts';
import { compareSets } from './sets-roaring.ts';

const SIZES = (process.env.STRATA_BENCH_DOMAINS ?? '20000,200000,1000000').split(',').map(Number);
const ENDS_AT = Date.parse('2026-11-21T12:00:00Z');
const SECONDS = 2;

interface ServiceProcess {
  readonly base: string;
  readonly key: string;
  readonly answeringMs: number;
  readonly index: { readonly from: string; readonly ms: number };
  readonly rss: number;
}

/** Several first questions of each kind: none was asked before, so each is computed, signed and logged. */
const QUESTIONS: Readonly<Record<string, readonly string[]>> = {
  search: [
    'search?q=ba',
    'search?q=.com',
    'search?q=brea',
    'search?q=shoutax',
    'search?provider=provider-0001',
    'search?provider=provider-0003&offset=100000',
    'search?category=dns&confidence=medium',
    'search?provider=provider-0500&q=a',
    'search?provider=provider-0001&flag=dnssec&sector=media&state=active',
    'search?offset=10000&limit=1000',
  ],
  stats: ['stats'],
  'stats/providers': ['stats/providers'],
  'stats/migrations': ['stats/migrations', 'stats/migrations?category=dns', 'stats/migrations?limit=1000'],
  alerts: ['alerts'],
  anomalies: ['anomalies'],
  'security-scorecard': ['intelligence/security-scorecard'],
  'market-share': [
    'intelligence/market-share',
    'intelligence/market-share?category=dns',
    'intelligence/market-share?include_parked=true',
  ],
  'supply-chain': ['0001', '0002', '0100', '1999'].map((id) => `intelligence/supply-chain/provider-${id}`),
  adoption: ['0001', '0002', '0100', '1999'].map((id) => `intelligence/adoption/provider-${id}`),
  'providers/{provider}': ['0001', '0002', '0100', '1999'].map((id) => `providers/provider-${id}`),
  'CSV exports': [
    'security/export.csv',
    'security/export.csv?sector=media&score_lte=50',
    'migrations/export.csv',
    'migrations/export.csv?provider=provider-0001&direction=in',
    'migrations/export.csv?provider=provider-0001',
    'providers/provider-0001/domains.csv',
    'providers/provider-1000/domains.csv',
  ],
};

export async function benchSets(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const domains of SIZES) figures.push(...(await benchSize(domains)));
  figures.push(...compareSets());
  return figures;
}

async function benchSize(domains: number): Promise<Figure[]> {
  const directory = await mkdtemp(path.join(tmpdir(), 'strata-bench-'));
  try {
    const world = loadedWorld({ domains, endsAt: ENDS_AT });
    const loadedAt = performance.now();
    await loadStore(path.join(directory, 'strata.db'), world, compileRulebook(loadCatalog(catalogOf(world))));
    const loadMs = performance.now() - loadedAt;
    const size = domains.toLocaleString('en-US');
    const figures: Figure[] = [
      { what: `${size} domains: written into the store by the loader`, value: seconds(loadMs), against: '' },
    ];
    const argument = { directory, endsAt: ENDS_AT };
    {
      await using first = await startChild<ServiceProcess>('./sets-process.ts', argument, ['--expose-gc']);
      figures.push({ what: `${size}: index built from the store`, value: seconds(first.ready.index.ms), against: '' });
    }
    await using service = await startChild<ServiceProcess>('./sets-process.ts', argument, ['--expose-gc']);
    if (service.ready.index.from !== 'snapshot') throw new Error('the second start did not use the snapshot');
    figures.push(
      {
        what: `${size}: start from the snapshot until an answer`,
        value: seconds(service.ready.answeringMs),
        against: 'goal at 1 M: < 5 s',
      },
      {
        what: `${size}: RSS after it`,
        value: `${Math.round(service.ready.rss / 2 ** 20)} MiB`,
        against: 'goal at 1 M: < 1,536 MiB',
      },
    );
    figures.push(...(await askFirst(service.ready, size)), ...(await askAgain(service.ready, size)));
    figures.push(...(await compareEngines(world, { file: path.join(directory, 'strata.db'), size, endsAt: ENDS_AT })));
    return figures;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function askFirst({ base, key }: ServiceProcess, size: string): Promise<Figure[]> {
  const ask = async (question: string) => {
    const startedAt = performance.now();
    const response = await fetch(`${base}/stack/v1/${question}`, { headers: { 'x-stack-key': key } });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${question}: ${response.status}`);
    return performance.now() - startedAt;
  };
  // The connection and the code that all questions share are warm; the questions are not.
  for (let i = 0; i < 20; i += 1) await ask(`search?q=w${i}`);
  const figures: Figure[] = [];
  for (const [kind, questions] of Object.entries(QUESTIONS)) {
    const times: number[] = [];
    for (const question of questions) times.push(await ask(question));
    figures.push({
      what: `${size}: ${kind}, first time`,
      value: `${median(times).toFixed(1)} ms, worst of ${times.length}: ${Math.max(...times).toFixed(1)} ms`,
      against: 'goal: no first question over 30 ms',
    });
  }
  return figures;
}

async function askAgain({ base, key }: ServiceProcess, size: string): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [kind, [question = '']] of Object.entries(QUESTIONS)) {
    const result = await autocannon({
      url: `${base}/stack/v1/${question}`,
      headers: { 'x-stack-key': key },
      connections: 8,
      duration: SECONDS,
    });
    if (result.non2xx > 0) throw new Error(`${question}: ${result.non2xx} refused`);
    const { p50, p99 } = result.latency;
    figures.push({
      what: `${size}: ${kind}, asked again`,
      value: `${perSecond(result.requests.average)}, p50 ${(8_000 / result.requests.average).toFixed(2)} ms by rate (${p50} ms by histogram), p99 ${p99} ms`,
      against: 'goal: p50 < 1 ms',
    });
  }
  return figures;
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
