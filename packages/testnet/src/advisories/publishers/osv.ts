// OSV's export, one folder for each ecosystem. https://google.github.io/osv.dev/data and https://ossf.github.io/osv-schema
import path from 'node:path';
import { cvssOf } from '../cvss.ts';
import { type AffectedProduct, descriptionOf, ECOSYSTEMS, type Ecosystem } from '../facts.ts';
import type { Entry, Library } from '../library.ts';
import { type Handler, NOT_FOUND, type Reply } from './publisher.ts';
import { type StoredFile, writeZip } from './zip.ts';

const PURL_TYPES: Readonly<Record<Ecosystem, string>> = {
  npm: 'npm',
  Packagist: 'composer',
  PyPI: 'pypi',
  RubyGems: 'gem',
};

interface OsvRecord {
  readonly id: string;
  readonly entry: Entry;
}

export function osvHandler(library: Library, { directory }: { readonly directory: string }): Handler {
  const zips = new Map<Ecosystem, { readonly revision: number; readonly file: Promise<StoredFile> }>();
  const zipOf = (ecosystem: Ecosystem) => {
    const { revision } = library;
    let made = zips.get(ecosystem);
    if (made?.revision !== revision) {
      const zipPath = path.join(directory, `${ecosystem}-${revision}.zip`);
      made = { revision, file: writeZip(zipPath, filesOf(library, ecosystem)) };
      zips.set(ecosystem, made);
    }
    return made.file;
  };
  // An index of the bulk, so that single requests do not iterate over it.
  const inBulk = new Map<string, OsvRecord>();
  const recordNamed = (ecosystem: Ecosystem, id: string): string | undefined => {
    if (inBulk.size === 0) for (const record of recordsOf(library.packaged())) inBulk.set(record.id, record);
    const changing = recordsOf(library.entries()).find((record) => record.id === id);
    const record = changing ?? inBulk.get(id);
    return record && isIn(ecosystem, record) ? textOf(record, ecosystem) : undefined;
  };
  return async ({ pathname }) => {
    const [, folder, name = '', ...deeper] = pathname.split('/');
    const ecosystem = ECOSYSTEMS.find((each) => each === folder);
    if (!ecosystem || deeper.length > 0) return NOT_FOUND;
    const lastModified = new Date(library.changedAt).toUTCString();
    const found = (type: string, body: string | StoredFile): Reply => ({
      status: 200,
      headers: { 'content-type': type, 'last-modified': lastModified },
      body,
      isTagged: true,
    });
    if (name === 'all.zip') return found('application/zip', await zipOf(ecosystem));
    if (name === 'modified_id.csv') return found('text/csv', modifiedOf(library, ecosystem));
    const text = name.endsWith('.json') ? recordNamed(ecosystem, name.slice(0, -'.json'.length)) : undefined;
    return text === undefined ? NOT_FOUND : found('application/json', text);
  };
}

/** Every id that OSV has an entry for, under GitHub's name and PyPI's. */
function* recordsOf(entries: Iterable<Entry>): Generator<OsvRecord> {
  for (const entry of entries) {
    const { id, ghsa, pysec } = entry.facts;
    for (const name of [ghsa, pysec, id.startsWith('GHSA-') ? id : undefined]) if (name) yield { id: name, entry };
  }
}

function isIn(ecosystem: Ecosystem, { entry }: OsvRecord): boolean {
  return entry.facts.affected.some((product) => product.package?.ecosystem === ecosystem);
}

function* recordsIn(library: Library, ecosystem: Ecosystem): Generator<OsvRecord> {
  for (const source of [library.packaged(), library.entries()]) {
    yield* recordsOf(source).filter((record) => isIn(ecosystem, record));
  }
}

function* filesOf(library: Library, ecosystem: Ecosystem) {
  for (const record of recordsIn(library, ecosystem)) {
    yield { name: `${record.id}.json`, contents: textOf(record, ecosystem) };
  }
}

/** Newest first, without a header line. */
function modifiedOf(library: Library, ecosystem: Ecosystem): string {
  return [...recordsIn(library, ecosystem)]
    .sort((a, b) => b.entry.modifiedAt - a.entry.modifiedAt || a.id.localeCompare(b.id))
    .map(({ id, entry }) => `${new Date(entry.modifiedAt).toISOString()},${id}\n`)
    .join('');
}

function textOf({ id, entry }: OsvRecord, ecosystem: Ecosystem): string {
  const { facts, publishedAt, modifiedAt } = entry;
  const aliases = [facts.id, facts.ghsa, facts.pysec].filter((each) => each !== undefined && each !== id);
  const packages = facts.affected.filter((product) => product.package?.ecosystem === ecosystem);
  return JSON.stringify({
    schema_version: '1.7.3',
    id,
    published: new Date(publishedAt).toISOString(),
    modified: new Date(modifiedAt).toISOString(),
    ...(facts.isRejected ? { withdrawn: new Date(modifiedAt).toISOString() } : {}),
    ...(aliases.length > 0 ? { aliases } : {}),
    summary: facts.title,
    details: descriptionOf(facts),
    severity: [{ type: 'CVSS_V3', score: facts.vector }],
    affected: facts.isMalformed ? 'everything' : packages.flatMap((product) => affectedOf(product)),
    references: [{ type: 'WEB', url: `https://vendor.example/security/${facts.id}` }],
    database_specific: { severity: severityWord(facts.vector), github_reviewed: true, cwe_ids: [] },
  });
}

/** GitHub's own severity names. */
function severityWord(vector: string): string {
  const { severity } = cvssOf(vector);
  return severity === 'MEDIUM' ? 'MODERATE' : severity;
}

/** One for each interval, as GitHub writes them. */
function affectedOf({ package: source, versions }: AffectedProduct): unknown[] {
  if (!source) return [];
  const { ecosystem, name } = source;
  return versions.map(({ from, below, upTo }) => ({
    package: { ecosystem, name, purl: `pkg:${PURL_TYPES[ecosystem]}/${name}` },
    ranges: [
      {
        type: ecosystem === 'npm' ? 'SEMVER' : 'ECOSYSTEM',
        events: [
          { introduced: from ?? '0' },
          ...(below === undefined ? [] : [{ fixed: below }]),
          ...(upTo === undefined ? [] : [{ last_affected: upTo }]),
        ],
      },
    ],
    ...(from !== undefined && from === upTo ? { versions: [from] } : {}),
  }));
}
