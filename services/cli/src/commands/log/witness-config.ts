// Settings of a witness: STRATA_* -> one validated WitnessConfig.
import path from 'node:path';
import { loweredLimit, Port, readEnvironment, ServiceEnvironment } from '@strata/http';
import { isKeyName, type NoteVerifier, parseVerifierKey, refusedKey } from '@strata/receipts';
import { z } from 'zod';

/** `<verifier key>`, or `<origin> <verifier key>` for a log whose key does not have the name of the log. Keys by origin. */
const Logs = z.string().transform((value, context): ReadonlyMap<string, readonly NoteVerifier[]> => {
  const logs = new Map<string, readonly NoteVerifier[]>();
  for (const item of value.split(',').map((each) => each.trim())) {
    if (item === '') continue;
    const [key = '', origin, ...rest] = item.split(/\s+/).reverse();
    const verifier = parseVerifierKey(key);
    if (!verifier || rest.length > 0) {
      context.addIssue({ code: 'custom', message: refusedKey(item, 'the verifier key of a log') });
      return z.NEVER;
    }
    const name = origin ?? verifier.name;
    logs.set(name, [...(logs.get(name) ?? []), verifier]);
  }
  return logs;
});

const KeyName = z.string().refine(isKeyName, 'must not contain spaces or a plus sign');

/** Every setting of a witness. `docs/settings.md` is generated from it. */
export const Environment = z.object({
  ...ServiceEnvironment.shape,
  STRATA_WITNESS_PORT: Port.default(8790).describe('port, behind a proxy that terminates TLS'),
  STRATA_WITNESS_NAME: KeyName.optional().describe('permanent name of the key: a URL without the scheme'),
  STRATA_WITNESS_LOGS: Logs.optional().describe(
    'verifier keys of the logs, comma-separated; `<origin> <key>` if key and log have different names; a log may have several keys',
  ),
});

export type WitnessConfig = Readonly<ReturnType<typeof readWitnessConfig>>;

/** Empty values are ignored. Throws SettingsError. */
export function readWitnessConfig(env: Readonly<Record<string, string | undefined>>) {
  const settings = readEnvironment(Environment, env);
  return {
    /** Contains the witness's key and the latest checkpoint of each log. */
    directory: path.join(settings.STRATA_DATA, 'witness'),
    host: settings.STRATA_HOST,
    port: settings.STRATA_WITNESS_PORT,
    name: settings.STRATA_WITNESS_NAME,
    /** Keys by origin. */
    logs: settings.STRATA_WITNESS_LOGS ?? new Map<string, readonly NoteVerifier[]>(),
    /** Of an IPv4 address or IPv6 /64. A log sends one; behind a proxy many logs share its address. */
    requestsPerSecond: loweredLimit(100, env.STRATA_WITNESS_REQUESTS_PER_SECOND),
    logLevel: settings.STRATA_LOG_LEVEL,
  };
}
