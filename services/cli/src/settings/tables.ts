// Every setting that there is: the tables of the services, and the few that commands alone read.
import type { z } from 'zod';

export const SERVICES = ['stack', 'gateway', 'worker', 'witness'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** A service's own table of variables: names, what each may be, defaults. */
export type SettingTable = z.ZodObject<Record<string, z.ZodType>>;

/** Loads the table of a service, and with it the service's code. */
export async function tableOf(service: ServiceName): Promise<SettingTable> {
  switch (service) {
    case 'stack':
      return (await import('@strata/stack')).StackEnvironment as unknown as SettingTable;
    case 'gateway':
      return (await import('@strata/gateway')).GatewayEnvironment as unknown as SettingTable;
    case 'worker':
      return (await import('@strata/worker')).WorkerEnvironment as unknown as SettingTable;
    case 'witness':
      return (await import('../commands/log/witness-config.ts')).Environment as unknown as SettingTable;
    default:
      return service satisfies never;
  }
}

/** Keys that commands ask a service with. */
export const COMMAND_SECRETS = ['STRATA_KEY', 'STRATA_INFERENCE_KEY'] as const;

/** What commands read from the environment alone, and the demo. */
export const COMMAND_VARIABLES: readonly string[] = [
  'STRATA_CONFIG',
  'STRATA_URL',
  ...COMMAND_SECRETS.flatMap((secret) => [secret, `${secret}_FILE`]),
  'STRATA_INFERENCE_URL',
  'STRATA_DEMO_DOMAINS',
];

/** Of the project's own tests and benches. */
export const OWN_PREFIXES: readonly string[] = ['STRATA_TEST_', 'STRATA_BENCH_', 'STRATA_FUZZ_'];

/** Settings whose values nobody may read over one's shoulder: masked when printed, and each also taken as `…_FILE`. A test asks whether any is missing. */
export const SECRETS: ReadonlySet<string> = new Set([
  'STRATA_DATABASE_URL',
  'STRATA_INFERENCE_DATABASE_URL',
  'STRATA_NVD_API_KEY',
  'STRATA_UPSTREAM_KEY',
  'STRATA_HF_TOKEN',
  // A join token of a private network holds its key.
  'STRATA_JOIN',
]);

/** The name of the variable that names a file with the secret. */
export const fileVariableOf = (secret: string): string => `${secret}_FILE`;

/** How the settings file writes a variable: `STRATA_STACK_PORT` is `stack_port`. */
export const keyInFile = (variable: string): string => variable.replace(/^STRATA_/, '').toLowerCase();
