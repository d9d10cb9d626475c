// `npm run demo`: a simulated internet, looked at over the past four weeks, then served and kept alive; and chat completions from a
// network of a gateway and two workers.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createLogger, openedAt, urlAt } from '@strata/http';
import { type Config, ConfigError, readConfig, startStack, type World } from '@strata/stack';
import { type AdvisorySources, createInternet, type Internet, tinyChatModel } from '@strata/testnet';
import { FREE_KEYS, gatewayPlace, newLedgerName, startInferenceNetwork } from './inference-network.ts';
import { liveThroughPastWeeks, PAST_DAYS } from './past-weeks.ts';

/** In the demo a day of the simulated internet passes in this time, and a change is confirmed as quickly. */
const LIVE_DAY_MS = 60_000;
const CONFIRM_AFTER_MS = 15_000;
const RESCAN_AFTER_MS = 120_000;
/** Advisories are asked for anew after this. */
const SYNC_MS = 20_000;

async function main(): Promise<void> {
  const domains = domainCount(process.env.STRATA_DEMO_DOMAINS);
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());

  const dataDirectory = await mkdtemp(path.join(tmpdir(), 'strata-demo-'));
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rm(dataDirectory, { recursive: true, force: true }));
  say(`growing a simulated internet of ${domains} companies; no packet leaves this machine`);
  // The service is born before its history, so that it watches every day of it.
  let behindMs = (PAST_DAYS + 1) * 86_400_000;
  const now = () => new Date(Date.now() - behindMs);
  // One lost packet would hold up a whole look at a day, of which there are 54.
  const vantage = { lossShare: 0 };
  const internet = cleanup.use(await createInternet({ domains, migrationShare: 0.01, vantage, now }));
  // Until the weeks are lived through, any company will do.
  let example = exampleOf(internet);
  const world: World = {
    now,
    nvdGapMs: 0,
    dial: (to) => internet.dial(to),
    trustedCa: [internet.caPem],
    dnsTryTimeoutMs: 250,
    exampleDomain: () => example,
    isSimulated: true,
    requestTimeoutMs: 1_500,
  };
  const gateway = await gatewayPlace();
  const config = demoConfig(dataDirectory, {
    internet,
    publishers: await internet.advisories(),
    chatUrl: openedAt(gateway),
  });
  const running = cleanup.use(await startStack(config, createLogger({ level: config.logLevel }), world));
  const modelFile = process.env.STRATA_MODEL || tinyChatModel;
  const { signal } = stopping;
  const options = {
    directory: dataDirectory,
    modelFile,
    logLevel: config.logLevel,
    port: gateway.port,
    explorerUrl: openedAt({ host: config.host, port: running.port }),
    signal,
  };
  const inference = await startInferenceNetwork(options, say).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (!inference) return;
  cleanup.use(inference);
  const { app } = running.service;
  const { key } = await app.store.keys.create({ tier: 'unlimited', label: 'demo' });

  await app.store.addDomains(internet.domains(), { source: 'demo' });
  const setClock = (to: Date) => {
    behindMs = Math.max(0, Date.now() - to.getTime());
  };
  await liveThroughPastWeeks({ internet, app, setClock, say, signal: stopping.signal });
  if (stopping.signal.aborted) return;
  const feeds = internet.feeds().map(({ url }) => ({ url }));
  await app.store.feeds.add(feeds, now());
  say(
    `subscribed to ${feeds.length} feeds of the simulated internet; publishers of advisories are read every ${SYNC_MS / 1_000} s`,
  );

  const base = urlAt({ host: config.host, port: running.port });
  example = (await movedCompany(running.service.app.store, internet)) ?? example;
  process.stdout.write(`ready\nstack key: ${key}\ninference key: ${inference.key}\n`);
  say(`try:  curl -H "X-Stack-Key: ${key}" ${base}/stack/v1/domains/${example}`);
  for (const path of [
    'intelligence/market-share?category=dns',
    'alerts',
    'enrichment/advisories',
    'enrichment/affected?known_exploited=true&match=version',
    'feeds/leaderboard?window=7d',
    'stats/migrations',
    'providers/cloudflare/domains.csv',
  ]) {
    say(`      curl -H "X-Stack-Key: ${key}" "${base}/stack/v1/${path}"`);
  }
  say(`      curl -N -H "X-Stack-Key: ${key}" ${base}/stack/v1/stream`);
  say(`      npx strata stack verify ${base}/stack/v1/domains/${example} --key ${key}`);
  say(`chat: npx strata inference chat --key ${inference.key} --base ${inference.base} "What is DMARC?"`);
  say(
    `      curl -H "Authorization: Bearer ${inference.key}" -H "Content-Type: application/json" ${inference.base}/v1/chat/completions \\`,
  );
  say(
    `        -d '{"model":"${inference.model}","messages":[{"role":"user","content":"What is DMARC?"}],"stream":false}'`,
  );
  say('      (a model of 2 million parameters that knows a little of DNS, mail and Strata, and nothing else)');
  const [worker, other] = inference.workers();
  say(
    `      it is lent by two workers, processes ${worker} and ${other}. Kill one while this asks (kill -9 ${worker}): no answer breaks`,
  );
  say(`      npx strata inference chat --key ${inference.key} --base ${inference.base} --repeat 300 "What is DMARC?"`);
  say(`      npx strata inference network --watch --base ${inference.base}`);
  say(
    `data: STRATA_DATA=${dataDirectory} STRATA_LEDGER_ORIGIN=${config.ledgerOrigin} for npx strata stack feeds list, stack enrich status,`,
  );
  say('      inference network accounts and the like; gone when it stops');
  say(
    `open: ${base}/ (the explorer) and ${inference.base}/ (the chat); each gives a free key at the press of a button`,
  );
  say(`docs: ${base}/    stop with Ctrl-C`);

  const scanning = app.scanner.run(stopping.signal);
  const days = setInterval(() => {
    internet.advance(1);
    // A feed is asked every quarter of an hour at most; here a day has passed.
    void app.store.feeds.askAll();
  }, LIVE_DAY_MS);
  await new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve(), { once: true }));
  say('stopping');
  clearInterval(days);
  await scanning;
}

interface DemoDeps {
  readonly internet: Internet;
  readonly publishers: AdvisorySources;
  /** Of the inference service, for the explorer's link to it; undefined where it has no address that readers can open. */
  readonly chatUrl: string | undefined;
}

function demoConfig(dataDirectory: string, { internet, publishers, chatUrl }: DemoDeps): Config {
  return {
    ...readConfig({
      ...process.env,
      STRATA_DATA: dataDirectory,
      STRATA_DATABASE_URL: '',
      STRATA_SCAN: 'off',
      STRATA_ADVISORIES: '',
      STRATA_ADVISORY_FOLDER: '',
      STRATA_ADVISORY_HOURS: String(SYNC_MS / 3_600_000),
      STRATA_NVD_URL: publishers.nvdUrl,
      STRATA_KEV_URL: publishers.kevUrl,
      STRATA_EPSS_URL: publishers.epssUrl,
      STRATA_OSV_URL: publishers.osvUrl,
      STRATA_CVE_API_URL: publishers.cveListUrl,
      STRATA_CVE_RAW_URL: publishers.rawUrl,
      STRATA_FREE_KEYS_PER_DAY: process.env.STRATA_FREE_KEYS_PER_DAY || FREE_KEYS,
      STRATA_CHAT_URL: process.env.STRATA_CHAT_URL || chatUrl,
      STRATA_LEDGER_ORIGIN: process.env.STRATA_LEDGER_ORIGIN || newLedgerName('stack'),
    }),
    resolvers: [internet.resolver],
    logLevel: process.env.STRATA_LOG_LEVEL || 'warn',
    scanConcurrency: 96,
    confirmAfterMs: CONFIRM_AFTER_MS,
    rescanAfterMs: RESCAN_AFTER_MS,
  };
}

/** A company that is there: not parked, not gone. */
function exampleOf(internet: Internet): string {
  const isThere = (domain: string) => internet.truth(domain).state === 'active';
  return internet.domains().find(isThere) ?? 'example.com';
}

function domainCount(text: string | undefined): number {
  const count = Number(text || 500);
  if (Number.isInteger(count) && count >= 1 && count <= 20_000) return count;
  throw new ConfigError(`STRATA_DEMO_DOMAINS: must be a whole number from 1 to 20000, not '${text}'`);
}

/** A company with something to show: it is there, and a migration stands among its last changes. */
async function movedCompany(store: Pick<Store, 'changes'>, internet: Internet): Promise<string | undefined> {
  for (const domain of internet.domains()) {
    if (internet.truth(domain).state !== 'active') continue;
    const { changes } = await store.changes(domain, { limit: 5, offset: 0 });
    if (changes.some((change) => change.type === 'migrated')) return domain;
  }
  return undefined;
}

type Store = Awaited<ReturnType<typeof startStack>>['service']['app']['store'];

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Errors whose message is fit for a user. */
const mendable: readonly string[] = [
  'ConfigError',
  'StartError',
  'GatewayConfigError',
  'GatewayStartError',
  'DemoNetworkError',
  'EngineError',
  'ModelStoreError',
];

try {
  await main();
} catch (error) {
  if (error instanceof Error && mendable.includes(error.name)) process.stderr.write(`demo: ${error.message}\n`);
  else process.stderr.write(`demo: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
}
