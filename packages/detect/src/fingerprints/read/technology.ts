// One entry of a community set as it stands in a file: the schema of its parts that detection reads.
import { z } from 'zod';

/** More than any entry has; what is beyond is a mistake or an attack. */
const MAX_PATTERNS = 500;
const MAX_RELATIONS = 100;

const Text = z.string().max(16_384);
/** Older sets write a list of one as its only member. */
const Texts = z
  .union([Text, z.array(Text).max(MAX_PATTERNS)])
  .transform((value) => (typeof value === 'string' ? [value] : value));
const Named = z
  .record(z.string().max(256), Texts)
  .refine((entries) => Object.keys(entries).length <= MAX_PATTERNS, 'has too many members');
const Names = Texts.refine((names) => names.length <= MAX_RELATIONS, 'has too many members');
const CategoryId = z.union([z.int(), z.string().regex(/^\d{1,6}$/)]).transform(Number);
const CategoryIds = z
  .union([CategoryId, z.array(CategoryId).max(MAX_RELATIONS)])
  .transform((value) => (typeof value === 'number' ? [value] : value));

/** What is read of an entry; other members are looked at by name alone. */
export const Technology = z.object({
  cats: CategoryIds,
  website: z.url({ protocol: /^https?$/ }).max(512),
  cpe: z.string().max(256).optional(),
  headers: Named.optional(),
  cookies: Named.optional(),
  meta: Named.optional(),
  dns: Named.optional(),
  html: Texts.optional(),
  text: Texts.optional(),
  scriptSrc: Texts.optional(),
  url: Texts.optional(),
  certIssuer: Texts.optional(),
  implies: Names.optional(),
  requires: Names.optional(),
  requiresCategory: CategoryIds.optional(),
  excludes: Names.optional(),
});
export type Technology = z.infer<typeof Technology>;

export const CategoryList = z.record(z.string().regex(/^\d{1,6}$/), z.object({ name: z.string().min(1).max(128) }));

/** Needs a browser, a request of its own, or the bodies of scripts: a passive scan has none of them. */
export const UNSEEN_FIELDS = ['js', 'dom', 'css', 'xhr', 'probe', 'scripts', 'robots'] as const;
/** Read by people, or by nobody. */
const DESCRIPTIVE_FIELDS = ['description', 'icon', 'saas', 'oss', 'pricing'];

const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(Technology.shape),
  ...UNSEEN_FIELDS,
  ...DESCRIPTIVE_FIELDS,
]);

/** Members of an entry that the format does not have: mistakes of spelling, or a later version of it. */
export function unknownFields(entry: object): readonly string[] {
  return Object.keys(entry).filter((field) => !KNOWN_FIELDS.has(field));
}

/** `vendor:product` of a CPE 2.3 or 2.2 name, unescaped; null where it names no product. */
export function productOf(cpe: string): string | null {
  const match = /^cpe:(?:2\.3:|\/)[aoh]:((?:\\.|[^:\\]){1,100}):((?:\\.|[^:\\]){1,100})/i.exec(cpe);
  if (!match) return null;
  const [, vendor = '', product = ''] = match;
  const pair = `${unescaped(vendor)}:${unescaped(product)}`.toLowerCase();
  return /^[a-z0-9_.!+~-]+:[a-z0-9_.!+~-]+$/.test(pair) ? pair : null;
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, '$1');
}
