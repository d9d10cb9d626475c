// Parses the patterns of one entry, field by field; refuses those that cannot be run or that need data that is never
// stored.
import { MAX_SOURCE_LENGTH } from '../../evidence/page.ts';
import { MAX_STEPS } from '../match/search.ts';
import { readPattern } from '../pattern/pattern.ts';
import { RegexRefusal } from '../pattern/regex-syntax.ts';
import type { Field, FieldPattern } from './fingerprint-set.ts';
import type { ReportWriter } from './report-writer.ts';
import type { Technology } from './technology.ts';

/** Record types that every probe queries for the domain's own name. */
const DNS_TYPES: ReadonlySet<string> = new Set(['NS', 'SOA', 'MX', 'TXT', 'CNAME']);
/** Known record types that no probe queries for the domain's own name. */
const OTHER_DNS_TYPES: ReadonlySet<string> = new Set([
  'A',
  'AAAA',
  'CAA',
  'DMARC',
  'DNSKEY',
  'DS',
  'PTR',
  'SPF',
  'SRV',
]);
/**
 * Matched against pages and every address, not against one named value: a pattern without a literal costs time on every
 * page.
 */
const UNKEYED: ReadonlySet<Field> = new Set<Field>(['scriptSrc', 'html', 'text', 'url']);
/** Matched against a complete page. */
const OF_PAGES: ReadonlySet<Field> = new Set<Field>(['html', 'text']);
/** The result of a larger pattern would depend on the page's length, because it would run on short pages only. */
const MAX_PAGE_SIZE = Math.floor(MAX_STEPS / (MAX_SOURCE_LENGTH + 1));
/** Limit for all sets together. */
const MAX_WITHOUT_LITERAL = 200;
/** Characters that do not occur in cookie names, so a name with one is an expression: `SESS[a-f0-9]{32}`. */
const EXPRESSION_MARK = /[\\[\](){}|^$+?]|\.\*/;

interface Location {
  readonly file: string;
  readonly technology: string;
}

export class PatternReader {
  readonly #report: ReportWriter;
  #withoutLiteral = 0;

  constructor(report: ReportWriter) {
    this.#report = report;
  }

  read(entry: Technology, at: Location): readonly FieldPattern[] {
    return [
      ...this.#named(at, 'headers', entry.headers),
      ...this.#cookies(at, entry.cookies),
      ...this.#named(at, 'meta', entry.meta),
      ...this.#dns(at, entry.dns),
      ...this.#texts(at, 'scriptSrc', entry.scriptSrc),
      ...this.#texts(at, 'url', entry.url),
      // In the format a literal name, not an expression.
      ...this.#texts(at, 'certIssuer', entry.certIssuer?.map(escaped)),
      ...this.#texts(at, 'html', entry.html),
      ...this.#texts(at, 'text', entry.text),
    ];
  }

  #texts(at: Location, field: Field, texts: readonly string[] = []): FieldPattern[] {
    return texts.flatMap((text) => this.#pattern(at, { field, key: '' }, text));
  }

  #named(at: Location, field: Field, entries: Readonly<Record<string, readonly string[]>> = {}): FieldPattern[] {
    return Object.entries(entries).flatMap(([name, texts]) => {
      const key = name.trim().toLowerCase();
      return texts.flatMap((text) => this.#pattern(at, { field, key }, text));
    });
  }

  #dns(at: Location, entries: Technology['dns'] = {}): FieldPattern[] {
    return Object.entries(entries).flatMap(([name, texts]) => {
      const key = name.toUpperCase();
      if (DNS_TYPES.has(key)) return texts.flatMap((text) => this.#pattern(at, { field: 'dns', key }, text));
      this.#report.unsupported(OTHER_DNS_TYPES.has(key) ? `dns.${key}` : 'dns.other');
      return [];
    });
  }

  /** Names match in any case. Values are never stored, so a pattern that needs one is refused. */
  #cookies(at: Location, entries: Technology['cookies'] = {}): FieldPattern[] {
    return Object.entries(entries).flatMap(([name, texts]) =>
      texts.flatMap((text) => {
        const trimmed = name.trim();
        const isPlain = !EXPRESSION_MARK.test(trimmed);
        const key = isPlain && !trimmed.includes('*') ? trimmed : '';
        const [value] = this.#pattern(at, { field: 'cookies', key: trimmed }, text);
        if (!value) return [];
        if (value.regex !== null && !value.regex.isAlwaysTrue) {
          const refused = { ...at, field: `cookies.${trimmed}`, pattern: text };
          this.#report.refusedPattern(refused, "it needs a cookie's value, which is never stored");
          return [];
        }
        if (key !== '') return [{ ...value, key, expression: '', regex: null, version: undefined }];
        const expression = isPlain ? escaped(trimmed).replaceAll('\\*', '.*') : trimmed;
        const names = this.#pattern(at, { field: 'cookies', key: '' }, `^(?:${expression})$`);
        return names.map((pattern) => ({ ...pattern, confidence: value.confidence }));
      }),
    );
  }

  #pattern(at: Location, { field, key }: Pick<FieldPattern, 'field' | 'key'>, text: string): FieldPattern[] {
    const location = { ...at, field: key === '' ? field : `${field}.${key}`, pattern: text };
    try {
      const pattern = readPattern(text);
      if (OF_PAGES.has(field) && (pattern.regex?.size ?? 0) > MAX_PAGE_SIZE) {
        throw new RegexRefusal(`it takes more than ${MAX_PAGE_SIZE} steps a character, too many for a complete page`);
      }
      if (UNKEYED.has(field) && !pattern.regex?.literals) {
        if (pattern.regex === null || pattern.regex.isAlwaysTrue) throw new RegexRefusal('it matches everything');
        this.#withoutLiteral += 1;
        if (this.#withoutLiteral > MAX_WITHOUT_LITERAL) {
          throw new RegexRefusal(
            `it has no literal, and the set already has ${MAX_WITHOUT_LITERAL} patterns without one`,
          );
        }
        this.#report.withoutLiteral();
      }
      return [{ ...pattern, field, key }];
    } catch (error) {
      if (!(error instanceof RegexRefusal)) throw error;
      this.#report.refusedPattern(location, error.message);
      return [];
    }
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
