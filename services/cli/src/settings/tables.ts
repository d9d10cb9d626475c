// The known settings: the tables of the services, and the variables that only commands read.
import type { z } from 'zod';

export const SERVICES = ['stack', 'gateway', 'worker', 'witness'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** The variables of a service with their schemas and defaults. */
export type SettingTable = z.ZodObject<Record<string, z.ZodType>>;

/** Loads the table of a service, and with it the code of the service. */
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

/** API keys for requests of commands. */
export const COMMAND_SECRETS = ['STRATA_KEY', 'STRATA_INFERENCE_KEY'] as const;

/** Variables of commands and of the demo, which are read from the environment only. */
export const COMMAND_VARIABLES: readonly string[] = [
  'STRATA_CONFIG',
  'STRATA_URL',
  ...COMMAND_SECRETS.flatMap((secret) => [secret, `${secret}_FILE`]),
  'STRATA_INFERENCE_URL',
  'STRATA_DEMO_DOMAINS',
];

/** Variables of the project's tests and benchmarks. */
export const OWN_PREFIXES: readonly string[] = ['STRATA_TEST_', 'STRATA_BENCH_', 'STRATA_FUZZ_'];

/** Settings that are masked when printed, and that `…_FILE` can read from a file. A test checks that the list is complete. */
export const SECRETS: ReadonlySet<string> = new Set([
  'STRATA_ANALYTICS_URL',
  'STRATA_DATABASE_URL',
  'STRATA_INFERENCE_DATABASE_URL',
  'STRATA_NVD_API_KEY',
  'STRATA_SMTP_URL',
  'STRATA_UPSTREAM_KEY',
  // Has the keys of the upstreams, which alone are masked.
  'STRATA_UPSTREAMS',
  'STRATA_EXPLORER_KEY',
  'STRATA_HF_TOKEN',
  // A join token of a private network contains its key.
  'STRATA_JOIN',
]);

/** The name of the variable that names a file with the secret. */
export const fileVariableOf = (secret: string): string => `${secret}_FILE`;

/** The name in the settings file: `stack_port` for `STRATA_STACK_PORT`. */
export const keyInFile = (variable: string): string => variable.replace(/^STRATA_/, '').toLowerCase();
