// Questions about sets of domains at 20,000, 200,000 and 1,000,000: the service over HTTP, and the index beside DuckDB and
// SQLite. Of more domains no store is loaded: the index alone.
import { compileRulebook, loadCatalog } from '@strata/detect';
import { openStore } from '@strata/stack/store';
import { loadedWorld } from '@strata/testnet';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { httpLoad } from '../http-load.ts';
import {
  collectGarbage,
  type Figure,
  median,
  mib,
  perSecond,
  setting,
  startChild,
  thousands,
  timed,
} from '../measure.ts';
import { compareEngines } from './sets-engines.ts';
import { benchIndex } from './sets-index.ts';
import { catalogOf, loadSignals, loadStore } from './sets-load.ts';

const SIZES = (process.env.STRATA_BENCH_DOMAINS ?? '20000,200000,1000000').split(',').map(Number);
const ENDS_AT = Date.parse('2026-11-21T12:00:00Z');
const SIGNALS = 1_000;
/** A store of more takes more than a quarter of an hour to load. */
const MAX_STORED = 2_000_000;

interface ServiceProcess {
  readonly base: string;
  readonly key: string;
  readonly answeringMs: number;
  readonly index: { readonly from: string; readonly ms: number };
  readonly rss: number;
}

export async function benchSets(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const domains of SIZES)
    figures.push(...(await (domains > MAX_STORED ? benchIndex(domains, ENDS_AT) : benchSize(domains))));
  return figures;
}

async function benchSize(domains: number): Promise<Figure[]> {
  await using directory = await temporaryDirectory();
  const file = `${directory.path}/strata.db`;
  const size = thousands(domains);
  const world = loadedWorld({ domains, endsAt: ENDS_AT });
  await loadStore(file, world, compileRulebook(loadCatalog(catalogOf(world))));
  const names = Array.from(world.domains().take(20), ({ name }) => name);
  {
    await using store = await openStore(`sqlite:${file}`);
    await loadSignals(store, { names, count: SIGNALS, endsAt: ENDS_AT });
  }
  const served = await benchService(directory.path, { size, names });
  return [...served, ...(await compareEngines(world, { file, size }))];
}

async function benchService(
  directory: string,
  { size, names }: { readonly size: string; readonly names: readonly string[] },
): Promise<Figure[]> {
  const start = (readyPath: string) =>
    startChild<ServiceProcess>(new URL('./sets-process.ts', import.meta.url), {
      ...{ directory, endsAt: ENDS_AT, readyPath },
    });
  const figures: Figure[] = [];
  {
    // No request has asked for the numbers before their first time is measured.
    await using first = await start('/health');
    figures.push([`${size}: index from the store`, seconds(first.ready.index.ms)]);
    const asked = { ...first.ready, size };
    await warmUp(asked);
    figures.push(...(await askFirst(asked, { stats: ['stats'] })));
  }
  await using service = await start('/stack/v1/stats');
  const { answeringMs, index, rss } = service.ready;
  if (index.from !== 'snapshot') throw new Error('the second start did not use the snapshot');
  figures.push(
    [`${size}: start from the snapshot until /stack/v1/stats answers`, seconds(answeringMs), 'goal at 1 M: < 5 s'],
    [`${size}: RSS after it`, mib(rss), 'goal at 1 M: < 1,536 MiB'],
  );
  const asked = { ...service.ready, size };
  const questions = questionsFor(names);
  await warmUp(asked);
  figures.push(...(await askFirst(asked, questions)));
  figures.push(...(await askAgain(asked, { stats: ['stats'], ...questions })));
  return figures;
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;

const SECONDS = setting('SECONDS', 2);
const CONNECTIONS = 8;
const GOAL_MS = 30;

interface Asked {
  readonly base: string;
  readonly key: string;
  /** For the figures: how many domains. */
  readonly size: string;
}

/** The connection and the code that all questions share are warm after it, the asker's too: it is not what is measured. */
async function warmUp(asked: Asked): Promise<void> {
  for (let i = 0; i < 20; i += 1) await (await fetch(`${asked.base}/openapi.json`)).arrayBuffer();
  for (let i = 0; i < 20; i += 1) await ask(asked, `search?q=w${i}`);
  collectGarbage();
}

/** Each question once, never asked before: computed, signed and logged. */
async function askFirst(asked: Asked, questions: Questions): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [kind, each] of Object.entries(questions)) {
    const times: number[] = [];
    for (const question of each) times.push((await timed(() => ask(asked, question))).seconds * 1_000);
    const worst = Math.max(...times);
    figures.push([
      `${asked.size}: ${kind}, first time`,
      `median ${median(times).toFixed(1)} ms, worst of ${times.length} ${worst.toFixed(1)} ms (${each[times.indexOf(worst)]})`,
      `goal: < ${GOAL_MS} ms${worst < GOAL_MS ? '' : ', missed'}`,
    ]);
  }
  return figures;
}

/** The first question of each kind, over connections that each wait for their answer. */
async function askAgain({ base, key, size }: Asked, questions: Questions): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [kind, [question = '']] of Object.entries(questions)) {
    const url = `${base}/stack/v1/${question}`;
    const load = { url, headers: { 'x-stack-key': key }, connections: CONNECTIONS, duration: SECONDS };
    const { rate, times } = await httpLoad(load);
    const p50 = median(times);
    const verdict = `goal: p50 < 1 ms${p50 < 1 ? '' : ', missed'}`;
    figures.push([`${size}: ${kind}, asked again`, `${perSecond(rate)}, p50 ${p50.toFixed(2)} ms`, verdict]);
  }
  return figures;
}

async function ask({ base, key }: Asked, question: string): Promise<void> {
  const response = await fetch(`${base}/stack/v1/${question}`, { headers: { 'x-stack-key': key } });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${question}: ${response.status}`);
}

type Questions = Readonly<Record<string, readonly string[]>>;

/** Of the top of the market, near it, in its middle and at its end. */
const PROVIDERS = ['0001', '0002', '0100', '1999'].map((id) => `provider-${id}`);

/** `names` are domains that were loaded, at least four. */
function questionsFor(names: readonly string[]): Questions {
  const few = names.slice(0, 4);
  return {
    'domains/{domain}': few.map((name) => `domains/${name}`),
    'domains/{domain}/changes': few.map((name) => `domains/${name}/changes`),
    search: [
      'search?q=ba',
      'search?q=.com',
      'search?q=brea',
      'search?q=shoutaxi',
      'search?provider=provider-0001',
      'search?provider=provider-0003&offset=100000',
      'search?category=dns&confidence=medium',
      'search?provider=provider-0500&q=a',
      'search?provider=provider-0001&flag=dnssec&sector=media&state=active',
      'search?offset=10000&limit=1000',
    ],
    'stats/providers': ['stats/providers'],
    'stats/migrations': ['stats/migrations', 'stats/migrations?category=dns', 'stats/migrations?limit=1000'],
    alerts: ['alerts', 'alerts?limit=1000'],
    anomalies: ['anomalies', 'anomalies?limit=1000', `anomalies?domain=${few[1]}`],
    'security-scorecard': ['intelligence/security-scorecard'],
    'market-share': [
      'intelligence/market-share',
      'intelligence/market-share?category=dns',
      'intelligence/market-share?include_parked=true',
    ],
    'supply-chain': PROVIDERS.map((id) => `intelligence/supply-chain/${id}`),
    adoption: PROVIDERS.map((id) => `intelligence/adoption/${id}`),
    risk: few.map((name) => `intelligence/risk/${name}`),
    'providers/{provider}': PROVIDERS.map((id) => `providers/${id}`),
    'security/export.csv': [
      'security/export.csv',
      'security/export.csv?sector=media&score_lte=50',
      'security/export.csv?score_lte=20',
    ],
    'migrations/export.csv': [
      'migrations/export.csv',
      'migrations/export.csv?provider=provider-0001&direction=in',
      'migrations/export.csv?provider=provider-0001',
    ],
    'providers/{provider}/domains.csv': PROVIDERS.map((id) => `providers/${id}/domains.csv`),
    'stream/json': ['stream/json?since=2026-01-01T00:00:00Z'],
  };
}
