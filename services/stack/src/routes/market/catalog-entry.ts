// What the catalog has of a provider: the patterns that show it, with their sources.
import { fileNameOf } from '@strata/catalog';
import { CATEGORIES, patternsOf, ROLE_LIST, type Rulebook } from '@strata/detect';
import { z } from 'zod';

const Records = z.record(z.string(), z.unknown());

export const CatalogEntrySchema = z
  .object({
    file: z
      .string()
      .nullable()
      .describe('The file of the catalog that has the entry; null for one of a community set.'),
    rules: z.array(
      z.object({
        category: z.enum(CATEGORIES),
        role: z.enum(ROLE_LIST).nullable(),
        patterns: z.array(
          z.object({
            evidence: z.string().describe('Where a domain shows it: `mx`, `spf`, `named` …'),
            pattern: z.string(),
          }),
        ),
        source: z.string().nullable().describe('The document of the vendor.'),
        verified_at: z.iso.date().nullable().describe('The day of the last comparison with the source.'),
        examples: z.array(Records).describe('Records that show the provider, as `strata stack explain` reads them.'),
        counterexamples: z.array(Records).describe('Similar records that do not.'),
      }),
    ),
  })
  .meta({ id: 'CatalogEntry' });

export function catalogEntry(
  { providers, roleOf, sets }: Rulebook,
  id: string,
): z.infer<typeof CatalogEntrySchema> | null {
  const provider = providers.get(id);
  if (!provider) return null;
  const isOfSet = sets?.added.some((added) => added.id === id) ?? false;
  return {
    file: isOfSet ? null : `catalog/providers/${fileNameOf(id)}`,
    rules: provider.rules.map((group) => ({
      category: group.category,
      role: roleOf(group.category, id) ?? null,
      patterns: patternsOf(group).map(({ channel, pattern }) => ({ evidence: channel, pattern })),
      source: group.source ?? null,
      verified_at: group.verified_at ?? null,
      examples: group.examples ?? [],
      counterexamples: group.counterexamples ?? [],
    })),
  };
}
