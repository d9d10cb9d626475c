// `strata doctor`: whether this machine is fit for the settings, and what to do where it is not.
import { getServers } from 'node:dns';
import { lockedDirectories } from '@strata/db';
import type { GatewayConfig } from '@strata/gateway';
import type { Config } from '@strata/stack';
import { StoreError } from '@strata/store';
import type { WorkerConfig } from '@strata/worker';
import { openLedgerSource } from '../../backup/ledger-source.ts';
import type { CommandContext } from '../../context.ts';
import { judgeClock, readClock } from '../../doctor/clock.ts';
import { checkDatabase, needsOf } from '../../doctor/database.ts';
import { checkDisk, checkFileSystem } from '../../doctor/disk.ts';
import { type Finding, problem, warning } from '../../doctor/finding.ts';
import { checkKeys, type KeyPlace } from '../../doctor/keys.ts';
import { judgeMemory, judgeOpenFiles, type MachineFacts, readMachine } from '../../doctor/machine.ts';
import { checkModel } from '../../doctor/models.ts';
import { judgeNames } from '../../doctor/names.ts';
import { checkPort } from '../../doctor/ports.ts';
import { checkReach } from '../../doctor/reach.ts';
import { checkResolver } from '../../doctor/resolvers.ts';
import { CommandError, counted, type OutputOptions, plainText, printJson } from '../../output.ts';
import { effectiveEnvironment, openSecrets } from '../../settings/settings.ts';
import type { ServiceName } from '../../settings/tables.ts';
import { problemsOf } from './config.ts';

export interface DoctorOptions extends OutputOptions {
  readonly service?: ServiceName;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Prints what every check found, and ends with 1 where there is a problem. */
export async function doctorCommand({ env, stdout }: CommandContext, options: DoctorOptions): Promise<void> {
  const findings = await examine(options.service, env);
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length;
  if (options.json) printJson(stdout, { ok: count('problem') === 0, findings });
  else {
    for (const finding of findings) stdout.write(wordsOf(finding));
    stdout.write(
      `${count('ok')} well, ${counted(count('warning'), 'warning')}, ${counted(count('problem'), 'problem')}\n`,
    );
  }
  if (count('problem') > 0) throw new CommandError(`${counted(count('problem'), 'problem')} found`);
}

function wordsOf({ check, status, found, means, todo }: Finding): string {
  const more = [means, todo && `What to do: ${todo}`].filter((text) => text !== undefined);
  return [`${status.padEnd(8)} ${check}: ${found}`, ...more.map((text) => `         ${text}`)]
    .map((line) => `${plainText(line)}\n`)
    .join('');
}

async function examine(service: ServiceName | undefined, env: Environment): Promise<readonly Finding[]> {
  const asked: readonly ServiceName[] = service ? [service] : ['stack', 'gateway'];
  const settings = (await problemsOf(asked, env)).map((found) =>
    problem('settings', {
      found,
      means: 'The service refuses to start.',
      todo: 'Mend it; strata config print shows what came from where.',
    }),
  );
  if (settings.length > 0) return settings;
  const open = (await openSecrets(env, asked[0] ?? 'stack')).map((found) =>
    warning('settings', {
      found,
      means: 'Whoever gets onto this machine knows the secret.',
      todo: 'Take the right from others; if somebody may have read it, change the secret.',
    }),
  );
  const values = await effectiveEnvironment(env, asked[0] ?? 'stack');
  const machine = await readMachine();
  const checks: Check[] = [async () => [judgeClock(await readClock())], async () => [judgeOpenFiles(machine)]];
  if (asked.includes('stack')) checks.push(...stackChecks((await import('@strata/stack')).readConfig(values), machine));
  if (asked.includes('gateway')) {
    const config = (await import('@strata/gateway')).readGatewayConfig(values);
    // As with `strata start`: without anything to serve it stays out.
    const isServing = config.model !== undefined || config.upstream !== undefined || config.network !== undefined;
    if (service === 'gateway' || isServing) checks.push(...(await gatewayChecks(config, machine)));
  }
  if (asked.includes('worker'))
    checks.push(...workerChecks((await import('@strata/worker')).readWorkerConfig(values), machine));
  return [...open, ...(await Promise.all(checks.map(finished))).flat()];
}

type Check = () => Promise<readonly Finding[]>;

const MOST_CHECK_MS = 60_000;

/** A check that fails by itself, or hangs, is told like what it looked for. */
async function finished(check: Check): Promise<readonly Finding[]> {
  let late: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    late = setTimeout(() => reject(new Error(`no answer within ${MOST_CHECK_MS / 1_000} s`)), MOST_CHECK_MS);
  });
  try {
    return await Promise.race([check(), limit]);
  } catch (error) {
    return [problem('doctor', { found: `a check failed: ${(error as Error).message}` })];
  } finally {
    clearTimeout(late);
  }
}

function stackChecks(config: Config, machine: MachineFacts): Check[] {
  const { host, port, metricsPort, dataDirectory, databaseUrl, chatUrl } = config;
  const resolvers = config.resolvers.length > 0 ? config.resolvers : getServers().map(systemResolver);
  const ours = { path: '/health', words: /"_alpha":true.{0,1000}"status":"ok"/ };
  // Of every role, and of no other service.
  const metrics = { path: '/metrics', words: /^strata_database_connections/m };
  const hasApi = config.role === 'all' || config.role === 'api';
  return [
    ...(hasApi ? [async () => [await checkPort({ what: 'API', host, port, setting: 'STRATA_STACK_PORT', ours })]] : []),
    async () => [
      await checkPort({ what: 'metrics', host, port: metricsPort, setting: 'STRATA_METRICS_PORT', ours: metrics }),
    ],
    async () => [await checkDisk(dataDirectory), ...lockedDirectories(config).map((each) => checkFileSystem(each))],
    async () => {
      const { findings, state } = await checkDatabase(databaseUrl, needsOf(config));
      return [...findings, judgeMemory(machine, state?.domains ?? 0)];
    },
    async () => {
      const shared = await sharedLedger(config);
      return [await checkKeys({ service: 'stack', directory: dataDirectory, origin: config.ledgerOrigin, shared })];
    },
    ...resolvers.map((resolver) => async () => [await checkResolver(resolver)]),
    async () => judgeNames(config),
    ...reachable('STRATA_CHAT_URL', chatUrl),
  ];
}

/** The ledger of the database; what keeps it from being read is told by the check of the database. */
async function sharedLedger(config: Config): Promise<KeyPlace['shared']> {
  try {
    await using source = await openLedgerSource(config);
    if (source.kind === 'folder' || source.note === undefined) return undefined;
    return { note: source.note, told: new Map(Object.entries(await source.publishedKeys())) };
  } catch (error) {
    if (error instanceof StoreError) return undefined;
    throw error;
  }
}

/** `192.0.2.1`, `[2001:db8::1]:5353`: as Node writes those of the system. */
function systemResolver(server: string): { readonly address: string; readonly port: number } {
  const [, bracketed, port] = /^\[(.+)\]:(\d+)$/.exec(server) ?? /^([^:]+):(\d+)$/.exec(server) ?? [];
  return { address: bracketed ?? server, port: Number(port ?? 53) };
}

async function gatewayChecks(config: GatewayConfig, machine: MachineFacts): Promise<Check[]> {
  const { inferenceDirectory } = await import('@strata/gateway');
  const { host, port, dataDirectory, databaseUrl, databaseConnections, upstream, network, explorerUrl, ledgerOrigin } =
    config;
  const ours = { path: '/health', words: /"status":"(?:ok|starting)","version"/ };
  return [
    async () => [await checkPort({ what: 'chat completions', host, port, setting: 'STRATA_INFERENCE_PORT', ours })],
    async () => [await checkDisk(dataDirectory), ...lockedDirectories(config).map((each) => checkFileSystem(each))],
    async () =>
      // One more for the lock that says which gateway works on it.
      (
        await checkDatabase(databaseUrl, { connections: databaseConnections + 1, needsSession: true, dataDirectory })
      ).findings.map((finding) => ({
        ...finding,
        check: 'database (inference)',
      })),
    async () => [
      await checkKeys({ service: 'inference', directory: inferenceDirectory(config), origin: ledgerOrigin }),
    ],
    ...listening(network?.peer.listen ?? []),
    ...modelChecks(config, machine),
    ...reachable('STRATA_UPSTREAM', upstream && `${upstream.baseUrl}/models`),
    ...reachable('STRATA_EXPLORER_URL', explorerUrl),
  ];
}

function workerChecks(config: WorkerConfig, machine: MachineFacts): Check[] {
  return [
    async () => [await checkDisk(config.directory), checkFileSystem(config.directory)],
    ...listening(config.peer.listen),
    ...(config.model === undefined
      ? [
          async () => [
            problem('model', { found: 'none is named', means: 'There is nothing to lend.', todo: 'Set STRATA_MODEL.' }),
          ],
        ]
      : modelChecks(config, machine)),
  ];
}

function modelChecks(
  { model, modelStore }: Pick<WorkerConfig, 'model' | 'modelStore'>,
  machine: MachineFacts,
): Check[] {
  return model === undefined ? [] : [async () => [await checkModel(model, modelStore, machine.memoryBytes)]];
}

/** `/ip4/0.0.0.0/tcp/9788/ws` and the like; others cannot be tried without a host of the network. */
function listening(addresses: readonly string[]): Check[] {
  return addresses.flatMap((address): Check[] => {
    const [, host, port] = /^\/ip[46]\/([^/]+)\/tcp\/(\d+)/.exec(address) ?? [];
    if (host === undefined || port === undefined) return [];
    return [
      async () => {
        const finding = await checkPort({ what: 'network', host, port: Number(port), setting: 'STRATA_P2P_LISTEN' });
        // A host speaks no HTTP: whether it is ours cannot be asked.
        return finding.found.startsWith('in use')
          ? [
              {
                ...finding,
                status: 'warning',
                found: `in use at ${host}, by a running host of this network or another program`,
              },
            ]
          : [finding];
      },
    ];
  });
}

function reachable(setting: string, url: string | undefined): Check[] {
  return url === undefined ? [] : [async () => [await checkReach(setting, url)]];
}
