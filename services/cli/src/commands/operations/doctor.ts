// `strata doctor`: checks this machine against the settings, and says how to fix problems.
import { getServers } from 'node:dns';
import { lockedDirectories, StoreError } from '@strata/db';
import type { GatewayConfig } from '@strata/gateway';
import { LogError } from '@strata/log';
import type { Config } from '@strata/stack';
import type { WorkerConfig } from '@strata/worker';
import { openLedgerSource } from '../../backup/ledger-source.ts';
import type { CommandContext } from '../../context.ts';
import { judgeClock, readClock } from '../../doctor/clock.ts';
import { checkDatabase, needsOf } from '../../doctor/database.ts';
import { checkDisk, checkFileSystem } from '../../doctor/disk.ts';
import { type Finding, problem, warning } from '../../doctor/finding.ts';
import { checkKeys, type KeyLocation } from '../../doctor/keys.ts';
import { judgeMemory, judgeOpenFiles, type MachineFacts, readMachine } from '../../doctor/machine.ts';
import { checkModel } from '../../doctor/models.ts';
import { judgeNames } from '../../doctor/names.ts';
import { checkPort } from '../../doctor/ports.ts';
import { checkReach } from '../../doctor/reach.ts';
import { checkResolver } from '../../doctor/resolvers.ts';
import { checkEngine, checkUpstream } from '../../doctor/upstreams.ts';
import { CommandError } from '../../errors.ts';
import { counted, type OutputOptions, plainText, printJson } from '../../output.ts';
import { findSettings, openSecrets } from '../../settings/settings.ts';
import type { ServiceName } from '../../settings/tables.ts';
import { problemsOf } from './config.ts';

export interface DoctorOptions extends OutputOptions {
  readonly service?: ServiceName;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Prints the findings. Throws CommandError (exit code 1) where one is a problem. */
export async function doctorCommand({ env, stdout }: CommandContext, options: DoctorOptions): Promise<void> {
  const findings = await examine(options.service, env);
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length;
  if (options.json) printJson(stdout, { ok: count('problem') === 0, findings });
  else {
    for (const finding of findings) stdout.write(textOf(finding));
    stdout.write(
      `${count('ok')} ok, ${counted(count('warning'), 'warning')}, ${counted(count('problem'), 'problem')}\n`,
    );
  }
  if (count('problem') > 0) throw new CommandError(`${counted(count('problem'), 'problem')} found`);
}

function textOf({ check, status, found, means, todo }: Finding): string {
  const more = [means, todo && `Fix: ${todo}`].filter((text) => text !== undefined);
  return [`${status.padEnd(8)} ${check}: ${found}`, ...more.map((text) => `         ${text}`)]
    .map((line) => `${plainText(line)}\n`)
    .join('');
}

async function examine(service: ServiceName | undefined, env: Environment): Promise<readonly Finding[]> {
  const services: readonly ServiceName[] = service ? [service] : ['stack', 'gateway'];
  const settings = (await problemsOf(services, env)).map((found) =>
    problem('settings', {
      found,
      means: 'The service does not start.',
      todo: 'Correct the setting; strata config print shows the source of each setting.',
    }),
  );
  if (settings.length > 0) return settings;
  const { given, warnings } = await findSettings(env, services[0] ?? 'stack');
  const retired = warnings.map((found) => warning('settings', { found, todo: 'Remove the setting.' }));
  const readable = (await openSecrets(given)).map((found) =>
    warning('settings', {
      found,
      means: 'Every user of this machine can read the secret.',
      todo: 'Restrict the file mode, and change the secret if another user may have read it.',
    }),
  );
  const values = Object.fromEntries([...given].map(([name, { value }]) => [name, value]));
  const machine = await readMachine();
  const checks: Check[] = [async () => judgeClock(await readClock()), async () => judgeOpenFiles(machine)];
  if (services.includes('stack'))
    checks.push(...stackChecks((await import('@strata/stack')).readConfig(values), machine));
  if (services.includes('gateway')) {
    const { namesModels, readGatewayConfig } = await import('@strata/gateway');
    const config = readGatewayConfig(values);
    // As with `strata start`, a gateway without anything to serve is left out.
    if (service === 'gateway' || namesModels(config) || config.network !== undefined)
      checks.push(...(await gatewayChecks(config, machine)));
  }
  if (services.includes('worker'))
    checks.push(...workerChecks((await import('@strata/worker')).readWorkerConfig(values), machine));
  return [...retired, ...readable, ...(await Promise.all(checks.map(finished))).flat()];
}

type Check = () => Promise<Finding | readonly Finding[]>;

const MAX_CHECK_MS = 60_000;

/** A check that throws or hangs is a finding as well. */
async function finished(check: Check): ReturnType<Check> {
  let late: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    late = setTimeout(() => reject(new Error(`not finished after ${MAX_CHECK_MS / 1_000} s`)), MAX_CHECK_MS);
  });
  try {
    return await Promise.race([check(), limit]);
  } catch (error) {
    return problem('doctor', { found: `check failed: ${(error as Error).message}` });
  } finally {
    clearTimeout(late);
  }
}

function stackChecks(config: Config, machine: MachineFacts): Check[] {
  const { host, port, metricsPort, dataDirectory, databaseUrl, chatUrl } = config;
  const resolvers = config.resolvers.length > 0 ? config.resolvers : getServers().map(systemResolver);
  const ours = { path: '/health', text: /"_alpha":true.{0,1000}"status":"ok"/ };
  const hasApi = config.role === 'all' || config.role === 'api';
  return [
    ...(hasApi ? [() => checkPort({ what: 'API', host, port, setting: 'STRATA_STACK_PORT', ours })] : []),
    // Every role has it.
    ...metricsChecks({ host, port: metricsPort }, /^strata_database_connections/m),
    ...diskChecks(config),
    async () => {
      const { findings, state } = await checkDatabase(databaseUrl, needsOf(config));
      return [...findings, judgeMemory(machine, state?.counted ?? 0)];
    },
    async () => {
      const shared = await sharedLedger(config);
      return checkKeys({ service: 'stack', directory: dataDirectory, origin: config.ledgerOrigin, shared });
    },
    ...resolvers.map((resolver) => () => checkResolver(resolver)),
    async () => judgeNames(config),
    ...reachable('STRATA_CHAT_URL', chatUrl),
  ];
}

/** The ledger of the database. The check of the database reports errors of reading it; `check-store` those of a ledger. */
async function sharedLedger(config: Config): Promise<KeyLocation['shared']> {
  try {
    await using source = await openLedgerSource(config);
    if (source.kind === 'directory' || source.note === undefined) return undefined;
    return { note: source.note, published: new Map(Object.entries(await source.publishedKeys())) };
  } catch (error) {
    if (error instanceof StoreError || error instanceof LogError) return undefined;
    throw error;
  }
}

/** `192.0.2.1`, `[2001:db8::1]:5353`: the format of `dns.getServers()`. */
function systemResolver(server: string): { readonly address: string; readonly port: number } {
  const [, bracketed, port] = /^\[(.+)\]:(\d+)$/.exec(server) ?? /^([^:]+):(\d+)$/.exec(server) ?? [];
  return { address: bracketed ?? server, port: Number(port ?? 53) };
}

async function gatewayChecks(config: GatewayConfig, machine: MachineFacts): Promise<Check[]> {
  const { inferenceDirectory } = await import('@strata/gateway');
  const { gatewaySchema: schema } = await import('@strata/gateway/store');
  const {
    host,
    port,
    metricsPort,
    dataDirectory,
    databaseUrl,
    databaseConnections,
    upstream,
    upstreams,
    network,
    explorerUrl,
    ledgerOrigin,
  } = config;
  const ours = { path: '/health', text: /"status":"(?:ok|starting)","version"/ };
  return [
    () => checkPort({ what: 'chat completions', host, port, setting: 'STRATA_INFERENCE_PORT', ours }),
    ...metricsChecks({ host, port: metricsPort }, /strata_inference_tokens_total/),
    ...diskChecks(config),
    async () => {
      // Two more for the ledger.
      const store = { schema, counts: 'API keys', setting: 'STRATA_INFERENCE_DATABASE_URL' };
      const needs = { ...store, connections: databaseConnections + 2, needsSession: true, dataDirectory };
      const { findings } = await checkDatabase(databaseUrl, needs);
      return findings.map((finding) => ({ ...finding, check: 'database (inference)' }));
    },
    () => checkKeys({ service: 'inference', directory: inferenceDirectory(config), origin: ledgerOrigin }),
    ...listening(network?.peer.listen ?? []),
    ...modelChecks(config, machine),
    ...reachable('STRATA_UPSTREAM', upstream && `${upstream.baseUrl}/models`),
    ...upstreams.servers.map((server) => () => checkUpstream(server)),
    ...reachable('STRATA_EXPLORER_URL', explorerUrl),
  ];
}

function workerChecks(config: WorkerConfig, machine: MachineFacts): Check[] {
  const { engine } = config;
  return [
    () => checkDisk(config.directory),
    async () => checkFileSystem(config.directory),
    ...listening(config.peer.listen),
    ...(config.metricsAt ? metricsChecks(config.metricsAt, /strata_worker_gateways/) : []),
    ...(config.models.length === 0 ? [async () => NO_MODEL] : modelChecks(config, machine)),
    ...(engine ? [() => checkEngine(engine)] : []),
  ];
}

/** `text`: a metric that only this service has. */
function metricsChecks(at: { readonly host: string; readonly port: number | undefined }, text: RegExp): Check[] {
  const { host, port } = at;
  if (port === undefined) return [];
  const ours = { path: '/metrics', text };
  return [() => checkPort({ what: 'metrics', host, port, setting: 'STRATA_METRICS_PORT', ours })];
}

const NO_MODEL = problem('model', {
  found: 'not set',
  means: 'The worker has nothing to serve.',
  todo: 'Set STRATA_MODEL.',
});

/** The disk of the data directory, and the file systems of the folders that have locks. */
const diskChecks = (config: Config | GatewayConfig): Check[] => [
  () => checkDisk(config.dataDirectory),
  ...lockedDirectories(config).map((directory) => async () => checkFileSystem(directory)),
];

function modelChecks(
  { models, modelStore }: Pick<WorkerConfig, 'models' | 'modelStore'>,
  machine: MachineFacts,
): Check[] {
  return models.map((model) => () => checkModel(model, modelStore, machine.memoryBytes));
}

/** Checks addresses such as `/ip4/0.0.0.0/tcp/9788/ws`; other addresses cannot be checked without a libp2p host. */
function listening(addresses: readonly string[]): Check[] {
  return addresses.flatMap((address): Check[] => {
    const [, host, port] = /^\/ip[46]\/([^/]+)\/tcp\/(\d+)/.exec(address) ?? [];
    if (host === undefined || port === undefined) return [];
    return [
      async () => {
        const finding = await checkPort({ what: 'network', host, port: Number(port), setting: 'STRATA_P2P' });
        // A libp2p host does not speak HTTP, so it cannot be identified.
        if (!finding.found.startsWith('in use')) return finding;
        const found = `in use at ${host} by a running gateway or worker, or by another program`;
        return { ...finding, status: 'warning', found };
      },
    ];
  });
}

function reachable(setting: string, url: string | undefined): Check[] {
  return url === undefined ? [] : [() => checkReach(setting, url)];
}
