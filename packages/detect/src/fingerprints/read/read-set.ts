// Parsed files of community sets -> technologies that can be detected. An invalid entry or pattern affects only itself.

import { splitTags } from '../pattern/pattern.ts';
import { RegexRefusal } from '../pattern/regex-syntax.ts';
import type { CategoryNames } from './categories.ts';
import { type FingerprintSet, type FingerprintTechnology, slugOf } from './fingerprint-set.ts';
import { PatternReader } from './pattern-reader.ts';
import { ReportWriter } from './report-writer.ts';
import { CategoryList, productOf, Technology, UNSEEN_FIELDS, unknownFields } from './technology.ts';

/** One file; its name determines its contents. */
export interface SetFile {
  /** `categories.json` names the set's categories, `groups.json` is ignored; any other file has technologies. */
  readonly name: string;
  readonly content: unknown;
}

const MAX_TECHNOLOGIES = 100_000;
const MAX_NAME_LENGTH = 64;

/** Reads a set. Of two entries with one name the first counts. Never throws: the report lists what cannot be used. */
export function readFingerprints(files: readonly SetFile[]): FingerprintSet {
  const report = new ReportWriter();
  const patterns = new PatternReader(report);
  const technologies = new Map<string, FingerprintTechnology>();
  const slugs = new Map<string, string>();
  let categoryNames: CategoryNames = new Map();
  for (const { name, content } of files) {
    const file = name.slice(name.lastIndexOf('/') + 1);
    if (file === 'groups.json') continue;
    if (file === 'categories.json')
      categoryNames = new Map([...categoryNames, ...readCategories(content, name, report)]);
    else readTechnologies(content, name, { report, patterns, technologies, slugs });
  }
  return { technologies: [...technologies.values()], categoryNames, report: report.finish() };
}

function readCategories(content: unknown, file: string, report: ReportWriter): CategoryNames {
  const parsed = CategoryList.safeParse(content);
  if (parsed.success) return new Map(Object.entries(parsed.data).map(([id, { name }]) => [Number(id), name]));
  report.badEntry({ file, technology: '' }, 'is not a list of categories by number; the public ones apply');
  return new Map();
}

interface Reading {
  readonly report: ReportWriter;
  readonly patterns: PatternReader;
  readonly technologies: Map<string, FingerprintTechnology>;
  /** Name of the first technology by id. */
  readonly slugs: Map<string, string>;
}

function readTechnologies(content: unknown, file: string, { report, patterns, technologies, slugs }: Reading): void {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    report.badEntry({ file, technology: '' }, 'is not an object of technologies by name');
    return;
  }
  for (const [name, entry] of Object.entries(content)) {
    if (technologies.size >= MAX_TECHNOLOGIES) {
      report.badEntry({ file, technology: name }, `exceeds the limit of ${MAX_TECHNOLOGIES} technologies`);
      return;
    }
    const technology = readTechnology(entry, { file, technology: name }, { report, patterns });
    if (technology === null) continue;
    if (technologies.has(name)) {
      report.badEntry({ file, technology: name }, 'is a duplicate; the first counts');
      continue;
    }
    const namesake = slugs.get(technology.slug);
    if (namesake !== undefined) {
      report.badEntry({ file, technology: name }, `shares the id ${technology.slug} with ${namesake}`);
    } else slugs.set(technology.slug, name);
    technologies.set(name, technology);
  }
}

function readTechnology(
  entry: unknown,
  at: { readonly file: string; readonly technology: string },
  { report, patterns }: Pick<Reading, 'report' | 'patterns'>,
): FingerprintTechnology | null {
  report.technology();
  const { technology: name } = at;
  const slug = slugOf(name);
  if (slug === '' || name.length > MAX_NAME_LENGTH || name.includes('\0')) {
    report.badEntry(at, `has a name of more than ${MAX_NAME_LENGTH} characters, or without Latin letters and digits`);
    return null;
  }
  const parsed = Technology.safeParse(entry);
  if (!parsed.success || typeof entry !== 'object' || entry === null) {
    for (const { path, message } of parsed.error?.issues.slice(0, 3) ?? []) {
      report.badEntry({ ...at, field: path.map(String).join('.') }, message);
    }
    return null;
  }
  for (const field of unknownFields(entry)) report.badEntry({ ...at, field }, 'is not defined by the format');
  const unseen = UNSEEN_FIELDS.filter((field) => Object.hasOwn(entry, field));
  for (const field of unseen) report.unsupported(field);
  const own = patterns.read(parsed.data, at);
  report.patterns(own, name);
  return {
    name,
    slug,
    website: parsed.data.website,
    product: parsed.data.cpe === undefined ? null : productOf(parsed.data.cpe),
    categories: parsed.data.cats,
    patterns: own,
    ...relationsOf(parsed.data, at, report),
  };
}

function relationsOf(
  { implies = [], requires = [], requiresCategory = [], excludes = [] }: Technology,
  at: { readonly file: string; readonly technology: string },
  report: ReportWriter,
): Pick<FingerprintTechnology, 'implies' | 'requires' | 'requiresCategory' | 'excludes'> {
  const tagged = (field: string, texts: readonly string[]) =>
    texts.flatMap((text) => {
      try {
        const { text: name, confidence } = splitTags(text);
        return [{ name, confidence }];
      } catch (error) {
        if (!(error instanceof RegexRefusal)) throw error;
        report.refusedPattern({ ...at, field, pattern: text }, error.message);
        return [];
      }
    });
  const names = (field: string, texts: readonly string[]) => tagged(field, texts).map(({ name }) => name);
  return {
    implies: tagged('implies', implies),
    requires: names('requires', requires),
    requiresCategory,
    excludes: names('excludes', excludes),
  };
}
