// The catalog of a process: the bundled one, or the release that the store has if it is newer. All processes of a store
// read the same release, so that no two of them evaluate evidence by different rules.
import { entries, rangeMeanings } from '@strata/catalog';
import { CatalogError, loadAddressRanges, loadCatalog, type Provider } from '@strata/detect';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Store } from '../store/index.ts';
import { parseRelease, ReleaseContent } from './release.ts';

export interface Catalog {
  readonly providers: readonly Provider[];
  /** The meaning of the tags of published address ranges. */
  readonly rangeMeanings: readonly unknown[];
  /** Of the release; of the bundled catalog the newest `verified_at`. Compares as text. */
  readonly date: string;
  /** `bundled`, or the name of the key that signed the release. */
  readonly source: string;
  /** The head of the release that the store had; empty without one. */
  readonly storedHead: string;
}

/** The name in the store's texts: the file of the release, verified when it was stored. One row, replaced atomically. */
const STORED = 'catalog-release';

type Texts = Pick<Store, 'texts'>;

let bundled: Catalog | undefined;

/** Created once per process, for any number of services. */
export function bundledCatalog(): Catalog {
  if (bundled) return bundled;
  const providers = loadCatalog(entries);
  const dates = providers.flatMap(({ rules }) => rules.map(({ verified_at }) => verified_at ?? ''));
  const date = dates.reduce((newest, each) => (each > newest ? each : newest), '');
  bundled = { providers, rangeMeanings, date, source: 'bundled', storedHead: '' };
  return bundled;
}

/** The newer one of the bundled catalog and the stored release. A release that this version cannot read is logged. */
export async function openCatalog(store: Texts, logger?: Logger): Promise<Catalog> {
  const text = await storedRelease(store);
  const ours = { ...bundledCatalog(), storedHead: headOf(text) };
  if (text === '') return bundledCatalog();
  const release = parseRelease(text);
  if (typeof release === 'string') {
    logger?.error({ problem: release }, 'the stored catalog release is not used');
    return ours;
  }
  const { date, name: source, head: storedHead, json } = release;
  if (date < ours.date) return ours;
  const content = readContent(json);
  if ('problem' in content) {
    logger?.error({ date, source, problem: content.problem }, 'the stored catalog release is not used');
    return ours;
  }
  return { ...content, date, source, storedHead };
}

/** Validates the content of a release: schema, unique names and patterns, the limit of labels, the table of ranges. */
export function readContent(json: string): Pick<Catalog, 'providers' | 'rangeMeanings'> | { readonly problem: string } {
  try {
    const { providers: given, address_ranges: meanings } = ReleaseContent.parse(JSON.parse(json));
    const providers = loadCatalog(given);
    loadAddressRanges([], { meanings, catalog: providers });
    return { providers, rangeMeanings: meanings };
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: 'the content is not JSON' };
    if (error instanceof z.ZodError) return { problem: listed(error.issues.map(issueText)) };
    if (error instanceof CatalogError) return { problem: listed(error.problems) };
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** The file of the stored release; empty without one. */
export const storedRelease = async ({ texts }: Texts): Promise<string> => (await texts.get(STORED)) ?? '';

/** Replaces the stored release, which every process uses from its next start on; empty for the bundled catalog. */
export const putRelease = ({ texts }: Texts, text: string): Promise<void> => texts.put(STORED, text);

export const headOf = (text: string): string => text.slice(0, text.indexOf('\n\n') + 1).trimEnd();

/** The first problems, shortened. */
export function listed(problems: readonly string[]): string {
  const [shown, rest] = [problems.slice(0, 5).map((each) => each.slice(0, 200)), problems.length - 5];
  return `${shown.join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`;
}

const issueText = ({ path, message }: z.core.$ZodIssue) => `${path.map(String).join('.') || 'the content'}: ${message}`;
