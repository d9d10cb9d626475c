// Records as a person would write them down, and what the complete rulebook finds in them.
import type { DnsEvidence, Evidence, Profile } from '@strata/detect';
import { detect, evidenceFromRecord } from '@strata/detect';
import { rulebook } from './rulebook.ts';

type Policies = Readonly<Record<string, readonly string[]>>;
type Rest = Partial<Omit<Evidence, 'dns'>> & { readonly dns?: Partial<DnsEvidence> };

/** A record as `strata stack explain` reads it, without its domain; `policies` is what SPF leads to; `rest` replaces parts. */
function evidence(record: object, policies: Policies = {}, { dns, ...rest }: Rest = {}): Evidence {
  const base = evidenceFromRecord({ domain: 'example.com', ...record });
  const spf = Object.fromEntries(Object.entries(policies).map(([name, texts]) => [name, found(texts)]));
  return {
    ...base,
    policies: { spf, dmarcParents: {}, reportConsents: {}, validation: 'unknown' },
    ...rest,
    dns: { ...base.dns, ...dns },
  };
}

export function profileOf(...parts: Parameters<typeof evidence>): Profile {
  return detect(evidence(...parts), rulebook);
}
profileOf.evidence = evidence;

/** `category provider confidence` of each service, in order of the alphabet. */
export function seen(...parts: Parameters<typeof evidence>): string[] {
  const { services } = profileOf(...parts);
  return services.map(({ category, provider, confidence }) => `${category} ${provider} ${confidence}`).sort();
}

/** `10 mx.example.net`. */
export function mx(...lines: readonly string[]): { readonly preference: number; readonly exchange: string }[] {
  return lines.map((line) => {
    const [preference = '0', exchange = ''] = line.split(' ');
    return { preference: Number(preference), exchange };
  });
}

/** A look-up that was answered, by way of aliases or of none. */
export function found<T>(records: readonly T[], ...aliases: readonly string[]) {
  return { status: 'found', records, aliases } as const;
}
