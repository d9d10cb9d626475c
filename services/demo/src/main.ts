// `npm run demo`: a simulated internet with four weeks of history, which continues to change; and chat completions from a network of a
// gateway and two workers.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLogger, isUserError, publicUrlOf, SettingsError, urlAt } from '@strata/http';
import { type Config, readConfig, startStack, type World } from '@strata/stack';
import { type AdvisorySources, createInternet, type Internet, tinyChatModel } from '@strata/testnet';
import { FREE_KEYS, gatewayAddress, newLedgerName, startInferenceNetwork } from './inference-network.ts';
import { PAST_DAYS, simulatePastWeeks } from './past-weeks.ts';

/** The duration of a day of the simulated internet, with matching intervals for confirmations and scans. */
const LIVE_DAY_MS = 60_000;
/** Share of the companies that change something on a day: many simulated days have one date, on which charts would show a peak. */
const LIVE_SHARE = 0.004;
const PAST_SHARE = 0.01;
const CONFIRM_AFTER_MS = 15_000;
const RESCAN_AFTER_MS = 120_000;
/** Interval of advisory syncs. */
const SYNC_MS = 20_000;

async function main(): Promise<void> {
  const domains = domainCount(process.env.STRATA_DEMO_DOMAINS);
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());

  const dataDirectory = await mkdtemp(path.join(tmpdir(), 'strata-demo-'));
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rm(dataDirectory, { recursive: true, force: true }));
  print(`creating a simulated internet of ${domains} companies; no packet leaves this machine`);
  // The clock starts before the history, so that the service observes every day of it.
  let behindMs = (PAST_DAYS + 1) * 86_400_000;
  const now = () => new Date(Date.now() - behindMs);
  // A lost packet would delay one of the 54 scans of the history.
  const vantage = { lossShare: 0 };
  const internet = cleanup.use(await createInternet({ domains, migrationShare: PAST_SHARE, vantage, now }));
  // Replaced after the history is complete.
  let example = exampleOf(internet);
  const world: World = {
    now,
    nvdGapMs: 0,
    dial: (to) => internet.dial(to),
    trustedCa: [internet.caPem],
    dnsTryTimeoutMs: 500,
    exampleDomain: () => example,
    isSimulated: true,
    requestTimeoutMs: 1_500,
  };
  const gateway = gatewayAddress();
  await writeFile(sectorsFile(dataDirectory), sectorsCsv(internet));
  const config = demoConfig(dataDirectory, {
    internet,
    publishers: await internet.advisories(),
    chatUrl: publicUrlOf(gateway),
  });
  const running = cleanup.use(await startStack(config, createLogger({ level: config.logLevel }), world));
  const modelFile = process.env.STRATA_MODEL || tinyChatModel;
  const { signal } = stopping;
  const options = {
    directory: dataDirectory,
    modelFile,
    logLevel: config.logLevel,
    port: gateway.port,
    explorerUrl: publicUrlOf({ host: config.host, port: running.port }),
    explorerKey: (await running.app.store.keys.create({ tier: 'unlimited', label: 'chat' })).key,
    signal,
  };
  const inference = await startInferenceNetwork(options, print).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (!inference) return;
  cleanup.use(inference);
  const { app } = running;
  const { key } = await app.store.keys.create({ tier: 'unlimited', label: 'demo' });

  await app.store.domains.add(internet.domains(), { source: 'demo' });
  const setClock = (to: Date) => {
    behindMs = Math.max(0, Date.now() - to.getTime());
  };
  await simulatePastWeeks({ internet, running, setClock, print, signal: stopping.signal });
  if (stopping.signal.aborted) return;
  const feeds = internet.feeds().map(({ url }) => ({ url }));
  await app.store.feeds.add(feeds, now());
  print(
    `subscribed to ${feeds.length} feeds of the simulated internet; advisories are synced every ${SYNC_MS / 1_000} s`,
  );

  const base = urlAt({ host: config.host, port: running.port });
  example = (await movedCompany(running.app.store, internet)) ?? example;
  process.stdout.write(`ready\nstack key: ${key}\ninference key: ${inference.key}\n`);
  print(`try:  curl -H "X-Stack-Key: ${key}" ${base}/stack/v1/domains/${example}`);
  for (const path of [
    'intelligence/market-share?category=dns',
    'alerts',
    'enrichment/advisories',
    'enrichment/affected?known_exploited=true&match=version',
    'feeds/leaderboard?window=7d',
    'stats/migrations',
    'providers/cloudflare/domains.csv',
  ]) {
    print(`      curl -H "X-Stack-Key: ${key}" "${base}/stack/v1/${path}"`);
  }
  print(`      curl -N -H "X-Stack-Key: ${key}" ${base}/stack/v1/stream`);
  print(`      npx strata stack verify ${base}/stack/v1/domains/${example} --key ${key}`);
  print(`chat: npx strata inference chat --key ${inference.key} --base ${inference.base} "What is DMARC?"`);
  print(
    `      curl -H "Authorization: Bearer ${inference.key}" -H "Content-Type: application/json" ${inference.base}/v1/chat/completions \\`,
  );
  print(
    `        -d '{"model":"${inference.model}","messages":[{"role":"user","content":"What is DMARC?"}],"stream":false}'`,
  );
  print('      (a model of 2 million parameters, trained only on DNS, mail and Strata)');
  print(
    `      npx strata inference chat --key ${inference.key} --base ${inference.base} "Which email provider does ${example} use?"`,
  );
  print('      (answered from the data, by strata-data)');
  const [worker, other] = inference.workers();
  print(
    `      two workers serve it, processes ${worker} and ${other}. To see failover, stop one (kill -9 ${worker}) while this runs:`,
  );
  print(
    `      npx strata inference chat --key ${inference.key} --base ${inference.base} --repeat 300 "What is DMARC?"`,
  );
  print(`      npx strata inference network --watch --base ${inference.base}`);
  print(
    `data: STRATA_DATA=${dataDirectory} STRATA_LEDGER_ORIGIN=${config.ledgerOrigin} for npx strata stack feeds list, stack enrich status,`,
  );
  print('      inference network accounts and similar commands; deleted when the demo stops');
  print(`open: ${base}/ (the explorer) and ${inference.base}/ (the chat); both offer free keys`);
  print(`docs: ${base}/reference    stop with Ctrl-C`);

  const scanning = app.scanner.run(stopping.signal);
  const days = setInterval(() => {
    internet.advance(1, LIVE_SHARE);
    // Feeds are polled every 15 minutes at most, but a simulated day has passed.
    void app.store.feeds.schedule.markAllDue();
  }, LIVE_DAY_MS);
  // A Ctrl-C while it started has passed: the event is not sent again.
  if (!stopping.signal.aborted) await once(stopping.signal, 'abort');
  print('stopping');
  clearInterval(days);
  await scanning;
}

interface DemoDeps {
  readonly internet: Internet;
  readonly publishers: AdvisorySources;
  /** URL of the inference service for the link in the explorer; undefined where browsers cannot open it. */
  readonly chatUrl: string | undefined;
}

function demoConfig(dataDirectory: string, { internet, publishers, chatUrl }: DemoDeps): Config {
  const config = readConfig({
    ...process.env,
    STRATA_DATA: dataDirectory,
    STRATA_DATABASE_URL: '',
    STRATA_SCAN: 'off',
    STRATA_ADVISORIES: '',
    ...publishers.settings,
    // Receivers of webhooks on this machine; scans never leave the simulated internet.
    STRATA_ALLOW_ADDRESSES: process.env.STRATA_ALLOW_ADDRESSES || '127.0.0.1',
    STRATA_LOG_LEVEL: process.env.STRATA_LOG_LEVEL || 'warn',
    STRATA_FREE_KEYS_PER_DAY: process.env.STRATA_FREE_KEYS_PER_DAY || FREE_KEYS,
    STRATA_CHAT_URL: process.env.STRATA_CHAT_URL || chatUrl,
    STRATA_LEDGER_ORIGIN: process.env.STRATA_LEDGER_ORIGIN || newLedgerName('stack'),
    STRATA_SECTORS: process.env.STRATA_SECTORS || sectorsFile(dataDirectory),
  });
  return {
    ...config,
    advisories: { ...config.advisories, everyMs: SYNC_MS },
    resolvers: [internet.resolver],
    scanConcurrency: 96,
    confirmAfterMs: CONFIRM_AFTER_MS,
    rescanAfterMs: RESCAN_AFTER_MS,
  };
}

const sectorsFile = (dataDirectory: string): string => path.join(dataDirectory, 'sectors.csv');

/** The list of an operator who knows the companies whose sector neither their suffix nor their page shows. */
function sectorsCsv(internet: Internet): string {
  const rows = internet.domains().flatMap((domain) => {
    const { sector } = internet.truth(domain);
    return sector && sector.shownBy === null ? [`${domain},${sector.id}`] : [];
  });
  return ['domain,sector', ...rows, ''].join('\n');
}

/** A company with an active domain. */
function exampleOf(internet: Internet): string {
  const isActive = (domain: string) => internet.truth(domain).state === 'active';
  return internet.domains().find(isActive) ?? 'example.com';
}

function domainCount(text: string | undefined): number {
  const count = Number(text || 500);
  if (Number.isInteger(count) && count >= 1 && count <= 20_000) return count;
  throw new SettingsError(`STRATA_DEMO_DOMAINS: must be an integer from 1 to 20000, not '${text}'`);
}

/** A company with an active domain and a recent migration. */
async function movedCompany(store: Pick<Store, 'domains'>, internet: Internet): Promise<string | undefined> {
  for (const domain of internet.domains()) {
    if (internet.truth(domain).state !== 'active') continue;
    const { changes } = await store.domains.changes(domain, { limit: 5, offset: 0 });
    if (changes.some((change) => change.type === 'migrated')) return domain;
  }
  return undefined;
}

type Store = Awaited<ReturnType<typeof startStack>>['app']['store'];

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

try {
  await main();
} catch (error) {
  if (isUserError(error)) process.stderr.write(`demo: ${error.message}\n`);
  else process.stderr.write(`demo: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
}
