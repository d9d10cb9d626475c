// Published patterns compared with the catalog: which it knows, which it lacks, and which it detects as another provider.
import { detect } from './detect.ts';
import { recordOf } from './examples.ts';
import { evidenceOf } from './explain.ts';
import { slugOf } from './fingerprints/read/fingerprint-set.ts';
import type { Category } from './profile.ts';
import { Example, RuleGroup } from './rulebook/catalog.ts';
import { patternsOf } from './rulebook/patterns.ts';
import type { Rulebook } from './rulebook/rulebook.ts';

/** One published pattern. */
export interface Fact {
  /** Id, name or alias; of a provider that the catalog does not have, its name. */
  readonly provider: string;
  readonly name?: string | undefined;
  readonly website?: string | undefined;
  /** The field of a rule group, `mx` or `html.asset`. */
  readonly field: string;
  readonly value: unknown;
  readonly category?: Category | undefined;
  /** The document that has it. */
  readonly source?: string | undefined;
}

export interface Suggestion extends Fact {
  readonly category: Category;
  /** `known`: the catalog detects it. `new`: it detects nothing. `conflict`: it detects `shown` only. */
  readonly state: 'known' | 'new' | 'conflict' | 'invalid';
  /** The id in the catalog; undefined for a provider that it does not have. */
  readonly id: string | undefined;
  /** Ids of the detected providers; for an invalid one, the reason. */
  readonly shown: readonly string[];
}

/** What a record usually shows, for a provider without patterns of the field. */
const CATEGORY_OF: Readonly<Record<string, Category>> = {
  ...{ ns: 'dns', soa: 'dns', mx: 'email', spf: 'email_sending', txt: 'verified_service', cname: 'hosting' },
  ...{ caa: 'certificate_authority', tls: 'certificate_authority', dmarc: 'email_security' },
};

/** A fact has no day of its reading. */
const NO_DATE = '1970-01-01';

/** Compares facts with the catalog by detection, in their order. */
export function suggestionsOf(facts: readonly Fact[], rulebook: Rulebook): readonly Suggestion[] {
  return facts.map((fact) => {
    const { field, value } = fact;
    const provider = rulebook.findProvider(fact.provider) ?? rulebook.findProvider(fact.name ?? '');
    const [own] = provider?.rules.filter((group) => fieldIn(group, field) !== undefined) ?? [];
    const category = fact.category ?? own?.category ?? CATEGORY_OF[field] ?? 'web_platform';
    const more = { ...fact, category, id: provider?.id };
    const [first, second = ''] = field.split('.', 2);
    const published = fact.source === undefined ? {} : { source: fact.source, verified_at: NO_DATE };
    const patterns = { [first ?? '']: second === '' ? [value] : { [second]: [value] } };
    const invalid = (reasons: readonly string[]) => ({ ...more, state: 'invalid' as const, shown: reasons });
    const group = RuleGroup.safeParse({ category, ...patterns, ...published });
    if (!group.success) return invalid(group.error.issues.map(({ message }) => message));
    const [pattern] = patternsOf(group.data);
    if (!pattern || slugOf(fact.provider) === '')
      return invalid([pattern ? 'the name has no letters' : 'is no pattern']);
    const record = Example.safeParse(recordOf(pattern));
    if (!record.success) return invalid(record.error.issues.map(({ message }) => message));
    const { services } = detect(evidenceOf(record.data), rulebook);
    const shown = [...new Set(services.map((service) => service.provider))];
    const isKnown = provider !== undefined && shown.includes(provider.id);
    return { ...more, state: isKnown ? 'known' : shown.length > 0 ? 'conflict' : 'new', shown };
  });
}

function fieldIn(group: object, field: string): unknown {
  return field.split('.').reduce<unknown>((at, name) => Object(at)[name], group);
}
