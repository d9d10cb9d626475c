// The schema of one entry of a community set file, limited to the members that detection uses.
import { z } from 'zod';

/** More than any real entry has; larger ones are mistakes or attacks. */
const MAX_PATTERNS = 500;
const MAX_RELATIONS = 100;

const Text = z.string().max(16_384);
/** Older sets write a list of one as a plain string. */
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

/** The members that are read; of other members only the name is checked. */
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

/** Fields that need a browser, additional requests or script bodies, which a passive scan does not have. */
export const UNSEEN_FIELDS = ['js', 'dom', 'css', 'xhr', 'probe', 'scripts', 'robots'] as const;
/** Fields without meaning for detection. */
const DESCRIPTIVE_FIELDS = ['description', 'icon', 'saas', 'oss', 'pricing'];

const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...Object.keys(Technology.shape),
  ...UNSEEN_FIELDS,
  ...DESCRIPTIVE_FIELDS,
]);

/** Members that the format does not define: spelling mistakes, or a later version of the format. */
export function unknownFields(entry: object): readonly string[] {
  return Object.keys(entry).filter((field) => !KNOWN_FIELDS.has(field));
}

/** `vendor:product` of a CPE 2.3 or 2.2 name, unescaped; null if it names no product. */
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
