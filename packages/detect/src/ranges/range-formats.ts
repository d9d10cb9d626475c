// The formats in which clouds and edges publish their address ranges: the text of a file -> tagged prefixes.
import { z } from 'zod';
import { parseCidr } from './ip-address.ts';

/**
 * `list`: one prefix per line, or a geofeed (RFC 8805); the file's name identifies the provider. `own`:
 * `provider,prefix[,category]`.
 */
export const RANGE_FORMATS = ['aws', 'azure', 'fastly', 'github', 'google', 'oracle', 'list', 'own'] as const;
export type RangeFormat = (typeof RANGE_FORMATS)[number];

/** A prefix as in the file, and its tag. */
export interface TaggedPrefix {
  readonly tag: string;
  readonly prefix: string;
  /** The position in the file, for error messages: `line 7`, `prefixes.12`. */
  readonly position: string;
  /** Third column of our own format. */
  readonly category?: string | undefined;
}

interface ReadFile {
  readonly format: RangeFormat;
  readonly prefixes: readonly TaggedPrefix[];
}

/** Tag of a publisher's file with only one kind of range. */
const ANY_TAG = '*';

const Prefixes = z.array(z.string());
// Members that we do not use may come and go, so none of these schemas is strict.
const AmazonFile = z.object({
  prefixes: z.array(z.object({ ip_prefix: z.string(), service: z.string() })),
  ipv6_prefixes: z.array(z.object({ ipv6_prefix: z.string(), service: z.string() })),
});
const AzureFile = z.object({
  values: z.array(z.object({ name: z.string(), properties: z.object({ addressPrefixes: Prefixes }) })),
});
const GoogleFile = z.object({
  prefixes: z.array(
    z.union([
      z.object({ ipv4Prefix: z.string(), service: z.string().optional() }),
      z.object({ ipv6Prefix: z.string(), service: z.string().optional() }),
    ]),
  ),
});
const OracleFile = z.object({
  regions: z.array(z.object({ cidrs: z.array(z.object({ cidr: z.string(), tags: z.array(z.string()) })) })),
});
const FastlyFile = z.object({ addresses: Prefixes, ipv6_addresses: Prefixes });
/** The members of GitHub's `meta` that are lists of prefixes; the remaining ones are lists of names. */
const GithubFile = z.object({ hooks: Prefixes, pages: Prefixes });

/** In the order in which they are tried: each schema requires the members that distinguish its format. */
const JSON_FORMATS: readonly ((json: unknown) => ReadFile | undefined)[] = [
  reader('aws', AmazonFile, ({ prefixes, ipv6_prefixes }) => [
    ...prefixes.map(({ ip_prefix, service }, i) => ({ tag: service, prefix: ip_prefix, position: `prefixes.${i}` })),
    ...ipv6_prefixes.map(({ ipv6_prefix, service }, i) => ({
      tag: service,
      prefix: ipv6_prefix,
      position: `ipv6_prefixes.${i}`,
    })),
  ]),
  reader('azure', AzureFile, ({ values }) =>
    values.flatMap(({ name, properties }) => tagged(name, properties.addressPrefixes, `${name} addressPrefixes`)),
  ),
  reader('google', GoogleFile, ({ prefixes }) =>
    prefixes.map((entry, i) => ({
      tag: entry.service ?? ANY_TAG,
      prefix: 'ipv4Prefix' in entry ? entry.ipv4Prefix : entry.ipv6Prefix,
      position: `prefixes.${i}`,
    })),
  ),
  reader('oracle', OracleFile, ({ regions }) =>
    regions.flatMap(({ cidrs }, region) =>
      cidrs.flatMap(({ cidr, tags }, i) =>
        tags.map((tag) => ({ tag, prefix: cidr, position: `regions.${region}.cidrs.${i}` })),
      ),
    ),
  ),
  reader('fastly', FastlyFile, (file) => [
    ...tagged(ANY_TAG, file.addresses, 'addresses'),
    ...tagged(ANY_TAG, file.ipv6_addresses, 'ipv6_addresses'),
  ]),
  reader('github', GithubFile, ({ hooks, pages }) => [
    ...tagged('hooks', hooks, 'hooks'),
    ...tagged('pages', pages, 'pages'),
  ]),
];

/** Parses one file; returns the end of an error sentence for an unknown format. `name` tags a plain list. */
export function readRangeFile(text: string, name: string): ReadFile | string {
  const start = /\S/.exec(text)?.[0];
  if (start === undefined) return 'is empty';
  return start === '{' || start === '[' ? readJson(text) : readLines(text, name);
}

function readJson(text: string): ReadFile | string {
  let json: unknown;
  try {
    // Some publishers begin with a byte order mark, which trim() removes and JSON does not accept.
    json = JSON.parse(text.trim());
  } catch {
    return 'begins like JSON but is not valid JSON';
  }
  for (const read of JSON_FORMATS) {
    const file = read(json);
    if (file) return file;
  }
  return 'has an unknown format (AWS, Azure, Google, Oracle, Fastly, GitHub)';
}

function reader<T>(
  format: RangeFormat,
  schema: z.ZodType<T>,
  toPrefixes: (file: T) => readonly TaggedPrefix[],
): (json: unknown) => ReadFile | undefined {
  return (json) => {
    const parsed = schema.safeParse(json);
    return parsed.success ? { format, prefixes: toPrefixes(parsed.data) } : undefined;
  };
}

function tagged(tag: string, prefixes: readonly string[], position: string): TaggedPrefix[] {
  return prefixes.map((prefix, i) => ({ tag, prefix, position: `${position}.${i}` }));
}

/** The first line that is not a comment decides: a list begins with a prefix, our own format with a provider. */
function readLines(text: string, name: string): ReadFile | string {
  const lines = text.split('\n').flatMap((line, i) => {
    const trimmed = line.trim();
    return trimmed === '' || trimmed.startsWith('#')
      ? []
      : [{ columns: trimmed.split(','), position: `line ${i + 1}` }];
  });
  const [first] = lines;
  if (!first) return 'has only comments';
  if (typeof parseCidr(column(first.columns, 0)) !== 'string') {
    const prefixes = lines.map(({ columns, position }) => ({ tag: name, prefix: column(columns, 0), position }));
    return { format: 'list', prefixes };
  }
  if (first.columns.length === 1) return `has no prefix in ${first.position}`;
  const prefixes = lines.map(({ columns, position }) => ({
    tag: column(columns, 0),
    prefix: column(columns, 1),
    position,
    category: columns.length > 2 ? column(columns, 2) : undefined,
  }));
  return { format: 'own', prefixes };
}

function column(columns: readonly string[], index: number): string {
  return (columns[index] ?? '').trim();
}
