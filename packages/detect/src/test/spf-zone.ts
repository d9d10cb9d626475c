// A zone as the SPF test suite and vectors/spf.json write it -> look-ups that answer from it.
import type { Lookup } from '../evidence.ts';
import type { SpfLookups } from '../spf/check-host.ts';

type Value = string | readonly (string | number)[];

/** By name: one record by type each, or `TIMEOUT` for every type that has none. A TXT record may come in several strings. */
export type Zone = Readonly<Record<string, readonly (string | Readonly<Record<string, Value>>)[]>>;

type RecordType = 'TXT' | 'A' | 'AAAA' | 'MX' | 'PTR';

export function zoneLookups(zone: Zone): SpfLookups {
  const names = new Map(
    Object.entries(zone).map(([name, records]) => [name.toLowerCase().replace(/\.$/, ''), records]),
  );
  const ask = (name: string, type: RecordType, aliases: readonly string[] = []): Lookup<Value> => {
    const records = names.get(name);
    if (!records) return { status: 'nxdomain', records: [], aliases };
    const found = valuesOf(records, type);
    if (found.includes('TIMEOUT')) return { status: 'timeout', records: [], aliases };
    const [alias] = valuesOf(records, 'CNAME');
    if (typeof alias === 'string' && aliases.length < 8) return ask(alias.toLowerCase(), type, [...aliases, alias]);
    if (found.length > 0) return { status: 'found', records: found, aliases };
    return { status: records.includes('TIMEOUT') ? 'timeout' : 'empty', records: [], aliases };
  };
  const texts = (name: string, type: RecordType): Lookup<string> => {
    const answer = ask(name, type);
    return { ...answer, records: answer.records.map((value) => [value].flat().join('')) };
  };
  return {
    txt: (name) => texts(name, 'TXT'),
    a: (name) => texts(name, 'A'),
    aaaa: (name) => texts(name, 'AAAA'),
    ptr: (name) => texts(name, 'PTR'),
    mx: (name) => {
      const answer = ask(name, 'MX');
      return {
        ...answer,
        records: answer.records.map((value) => ({ preference: Number(value[0]), exchange: String(value[1]) })),
      };
    },
  };
}

/** In the suite a policy is written under SPF, the type of old, and stands for TXT unless there is a TXT record. */
function valuesOf(records: Zone[string], type: RecordType | 'CNAME'): Value[] {
  const given = (of: string) =>
    records.flatMap((record) => (typeof record !== 'string' && of in record ? [record[of] as Value] : []));
  const found = given(type);
  if (type !== 'TXT' || found.length > 0) return found.filter((value) => value !== 'NONE');
  return given('SPF');
}
