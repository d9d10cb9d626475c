// The keys in STRATA_UPSTREAMS: read from the files that `key_file` names, and masked when printed.
import { readSmallFile } from '../bounded-input.ts';

const MAX_KEY_BYTES = 65_536;

type Json = Readonly<Record<string, unknown>>;

/** The setting with `key` for each `key_file`; unchanged if it is not such a map, which its schema reports. */
export async function withUpstreamKeys(
  text: string,
  { pathOf, onProblem }: { readonly pathOf: (file: string) => string; readonly onProblem: (problem: string) => void },
): Promise<string> {
  if (!text.includes('"key_file"')) return text;
  return mapServers(text, async (name, { key_file: file, ...server }) => {
    if (typeof file !== 'string') return server;
    const where = `STRATA_UPSTREAMS: servers.${name}`;
    if (server.key !== undefined) onProblem(`${where}: has both key and key_file`);
    try {
      const key = (await readSmallFile(pathOf(file), MAX_KEY_BYTES)).trim();
      if (key === '') onProblem(`${where}.key_file: ${file} is empty`);
      return { ...server, key };
    } catch (error) {
      onProblem(`${where}.key_file: ${file} cannot be read: ${(error as Error).message}`);
      return server;
    }
  });
}

/** The setting with `mask` in place of each key; only `mask` if it cannot be read, or a server is not a map. */
export function withMaskedKeys(text: string, mask: string): string {
  const setting = mapOf(jsonOf(text));
  if (!setting || !Object.values(mapOf(setting.servers) ?? { none: '' }).every(mapOf)) return mask;
  return JSON.stringify(setting, (name, value) => (name === 'key' ? mask : value));
}

/** The text unchanged if it has no map of servers. */
async function mapServers(text: string, change: (name: string, server: Json) => Promise<Json>): Promise<string> {
  const setting = mapOf(jsonOf(text));
  const servers = mapOf(setting?.servers);
  if (!servers) return text;
  const changed = await Promise.all(
    Object.entries(servers).map(async ([name, server]) => {
      const given = mapOf(server);
      return [name, given ? await change(name, given) : server];
    }),
  );
  return JSON.stringify({ ...setting, servers: Object.fromEntries(changed) });
}

const mapOf = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
