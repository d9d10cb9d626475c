// The meaning of the tags of published range files: the table of the catalog, and the provider that a list or a line
// names.
import { z } from 'zod';
import type { Provider } from '../rulebook/catalog.ts';
import { RANGE_FORMATS, type RangeFormat, type TaggedPrefix } from './range-formats.ts';

const RangeCategory = z.enum(['hosting', 'cdn', 'security']);
type RangeCategory = z.infer<typeof RangeCategory>;

/** One row of the table. Of two meanings of one prefix the first in the table counts. */
const RangeMeaning = z.strictObject({
  format: z.enum(RANGE_FORMATS).exclude(['own']),
  /** As in the file; `*` for a file with only one kind of range, the file's name without extension for a list. */
  tag: z.string().min(1),
  provider: z.string().min(1),
  category: RangeCategory,
});

/** Limit of quoted values in messages. */
const MAX_SHOWN_LENGTH = 64;

export interface Meaning {
  readonly provider: string;
  readonly category: RangeCategory;
  /** Lower ranks take precedence: the operator's entries, then the table's order. */
  readonly rank: number;
}

/** The meaning of a prefix's tag; undefined for an unknown tag, the end of an error sentence for an invalid one. */
type MeaningOf = (format: RangeFormat, tagged: TaggedPrefix) => Meaning | string | undefined;

/** Compiles the table against the catalog; throws ZodError or Error if the table itself is invalid. */
export function createMeanings(table: readonly unknown[], catalog: readonly Provider[]): MeaningOf {
  const providers = new Map(catalog.map((provider) => [provider.id, provider]));
  const byTag = new Map<string, Meaning>();
  for (const [index, { format, tag, provider, category }] of z.array(RangeMeaning).parse(table).entries()) {
    const key = `${format} ${tag}`;
    if (byTag.has(key)) throw new Error(`the table of address ranges has '${key}' twice`);
    if (!providers.has(provider))
      throw new Error(`the table of address ranges names '${provider}', which is not a provider`);
    byTag.set(key, { provider, category, rank: index + 1 });
  }
  return (format, { tag, category }) => {
    const known = format === 'own' ? undefined : byTag.get(`${format} ${tag}`);
    if (known || (format !== 'own' && format !== 'list')) return known;
    return meaningOfId(providers.get(tag), { tag, category });
  };
}

function meaningOfId(
  provider: Provider | undefined,
  { tag, category }: Pick<TaggedPrefix, 'tag' | 'category'>,
): Meaning | string {
  if (!provider) return `'${tag.slice(0, MAX_SHOWN_LENGTH)}' is not the id of a provider`;
  if (category !== undefined) {
    const parsed = RangeCategory.safeParse(category);
    return parsed.success
      ? { provider: tag, category: parsed.data, rank: 0 }
      : `'${category.slice(0, MAX_SHOWN_LENGTH)}' is not hosting, cdn or security`;
  }
  const [only, ...rest] = categoriesOf(provider);
  if (only === undefined) return `'${tag}' has no rules for hosting, cdn or security`;
  if (rest.length > 0) return `'${tag}' may be ${[only, ...rest].join(' or ')}: use lines of provider,prefix,category`;
  return { provider: tag, category: only, rank: 0 };
}

/** The categories that an address can show; if there are several, those with networks of their own. */
function categoriesOf({ rules }: Provider): RangeCategory[] {
  const groups = rules.flatMap(({ category, asn }) => {
    const parsed = RangeCategory.safeParse(category);
    return parsed.success ? [{ category: parsed.data, hasNetwork: asn !== undefined }] : [];
  });
  const withNetwork = groups.filter(({ hasNetwork }) => hasNetwork);
  return [...new Set((withNetwork.length > 0 ? withNetwork : groups).map(({ category }) => category))];
}
