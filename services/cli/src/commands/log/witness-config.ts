// Settings of a witness: STRATA_* -> one validated WitnessConfig.
import path from 'node:path';
import { readEnvironment } from '@strata/http';
import { type NoteVerifier, noteVerifier, parseVerifierKey } from '@strata/receipts';
import { z } from 'zod';

/** `<verifier key>`, or `<origin> <verifier key>` for a log whose key does not have the name of the log. Keys by origin. */
const Logs = z.string().transform((value, context): ReadonlyMap<string, readonly NoteVerifier[]> => {
  const logs = new Map<string, readonly NoteVerifier[]>();
  for (const item of value.split(',').map((each) => each.trim())) {
    if (item === '') continue;
    const [key = '', origin, ...rest] = item.split(/\s+/).reverse();
    const verifier = parseVerifierKey(key);
    if (!verifier || rest.length > 0) {
      context.addIssue({ code: 'custom', message: `'${item}' is not the verifier key of a log` });
      return z.NEVER;
    }
    const name = origin ?? verifier.name;
    logs.set(name, [...(logs.get(name) ?? []), verifier]);
  }
  return logs;
});

const KeyName = z.string().refine((name) => isKeyName(name), 'must not contain spaces or a plus sign');

/** Every setting with its default. A test compares the table in `docs/witnesses.md`. */
export const Environment = z.object({
  STRATA_DATA: z.string().min(1).default('./data'),
  STRATA_HOST: z.string().min(1).default('127.0.0.1'),
  STRATA_WITNESS_PORT: z.coerce.number().int().min(0).max(65_535).default(8790),
  STRATA_WITNESS_NAME: KeyName.optional(),
  STRATA_WITNESS_LOGS: Logs.optional(),
  STRATA_WITNESS_REQUESTS_PER_SECOND: z.coerce.number().int().min(1).max(100_000).default(20),
  STRATA_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

export interface WitnessConfig {
  /** Contains the witness's key and the latest checkpoint of each log. */
  readonly directory: string;
  readonly host: string;
  readonly port: number;
  /** Name of the key. */
  readonly name: string | undefined;
  /** Keys by origin. */
  readonly logs: ReadonlyMap<string, readonly NoteVerifier[]>;
  /** For each client address. */
  readonly requestsPerSecond: number;
  readonly logLevel: string;
}

/** Empty values are ignored. Throws SettingsError. */
export function readWitnessConfig(env: Readonly<Record<string, string | undefined>>): WitnessConfig {
  const settings = readEnvironment(Environment, env);
  return {
    directory: path.join(settings.STRATA_DATA, 'witness'),
    host: settings.STRATA_HOST,
    port: settings.STRATA_WITNESS_PORT,
    name: settings.STRATA_WITNESS_NAME,
    logs: settings.STRATA_WITNESS_LOGS ?? new Map(),
    requestsPerSecond: settings.STRATA_WITNESS_REQUESTS_PER_SECOND,
    logLevel: settings.STRATA_LOG_LEVEL,
  };
}

function isKeyName(name: string): boolean {
  try {
    noteVerifier(name, new Uint8Array(32));
    return true;
  } catch {
    return false;
  }
}
