// The patterns of one entry, field by field; those that cannot be run, or ask for what is never stored, are refused.
import { MAX_SOURCE_LENGTH } from '../../evidence/page.ts';
import { MAX_STEPS } from '../match/search.ts';
import { readPattern } from '../pattern/pattern.ts';
import { RegexRefusal } from '../pattern/regex-syntax.ts';
import type { Field, FieldPattern } from './fingerprint-set.ts';
import type { ReportWriter } from './report-writer.ts';
import type { Technology } from './technology.ts';

/** Record types of the domain's own name that every probe asks for. */
export const DNS_TYPES: ReadonlySet<string> = new Set(['NS', 'SOA', 'MX', 'TXT', 'CNAME']);
/** Known record types that no probe asks the domain's own name for. */
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
/** Read against whole pages and every address, not against one named value: without a literal each costs every page. */
const UNKEYED: ReadonlySet<Field> = new Set<Field>(['scriptSrc', 'html', 'text', 'url']);
/** Looked for in a whole page. */
const OF_PAGES: ReadonlySet<Field> = new Set<Field>(['html', 'text']);
/** One that is larger would be looked for in short pages only: what it finds would come and go with a page's length. */
const MAX_PAGE_SIZE = Math.floor(MAX_STEPS / (MAX_SOURCE_LENGTH + 1));
/** Of all sets together. */
const MAX_WITHOUT_LITERAL = 200;
/** In no name of a cookie that browsers send, so a name that has one is an expression: `SESS[a-f0-9]{32}`. */
const EXPRESSION_MARK = /[\\[\](){}|^$+?]|\.\*/;

interface Place {
  readonly file: string;
  readonly technology: string;
}

export class PatternReader {
  readonly #report: ReportWriter;
  #withoutLiteral = 0;

  constructor(report: ReportWriter) {
    this.#report = report;
  }

  read(entry: Technology, at: Place): readonly FieldPattern[] {
    return [
      ...this.#named(at, 'headers', entry.headers),
      ...this.#cookies(at, entry.cookies),
      ...this.#named(at, 'meta', entry.meta),
      ...this.#dns(at, entry.dns),
      ...this.#texts(at, 'scriptSrc', entry.scriptSrc),
      ...this.#texts(at, 'url', entry.url),
      // Not an expression in the format: the name as it stands.
      ...this.#texts(at, 'certIssuer', entry.certIssuer?.map(escaped)),
      ...this.#texts(at, 'html', entry.html),
      ...this.#texts(at, 'text', entry.text),
    ];
  }

  #texts(at: Place, field: Field, texts: readonly string[] = []): FieldPattern[] {
    return texts.flatMap((text) => this.#pattern(at, { field, key: '' }, text));
  }

  #named(at: Place, field: Field, entries: Readonly<Record<string, readonly string[]>> = {}): FieldPattern[] {
    return Object.entries(entries).flatMap(([name, texts]) => {
      const key = name.trim().toLowerCase();
      return texts.flatMap((text) => this.#pattern(at, { field, key }, text));
    });
  }

  #dns(at: Place, entries: Technology['dns'] = {}): FieldPattern[] {
    return Object.entries(entries).flatMap(([name, texts]) => {
      const key = name.toUpperCase();
      if (DNS_TYPES.has(key)) return texts.flatMap((text) => this.#pattern(at, { field: 'dns', key }, text));
      this.#report.unsupported(OTHER_DNS_TYPES.has(key) ? `dns.${key}` : 'dns.other');
      return [];
    });
  }

  /** Names are matched, in any case; values are never stored, so a pattern that needs one is refused. */
  #cookies(at: Place, entries: Technology['cookies'] = {}): FieldPattern[] {
    return Object.entries(entries).flatMap(([name, texts]) =>
      texts.flatMap((text) => {
        const trimmed = name.trim();
        const isPlain = !EXPRESSION_MARK.test(trimmed);
        const key = isPlain && !trimmed.includes('*') ? trimmed.toLowerCase() : '';
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

  #pattern(at: Place, { field, key }: Pick<FieldPattern, 'field' | 'key'>, text: string): FieldPattern[] {
    const place = { ...at, field: key === '' ? field : `${field}.${key}`, pattern: text };
    try {
      const pattern = readPattern(text);
      if (OF_PAGES.has(field) && (pattern.regex?.size ?? 0) > MAX_PAGE_SIZE) {
        throw new RegexRefusal(`it takes more than ${MAX_PAGE_SIZE} steps a character, too many for a whole page`);
      }
      if (UNKEYED.has(field) && !pattern.regex?.literals) {
        if (pattern.regex === null || pattern.regex.isAlwaysTrue) throw new RegexRefusal('it matches everything');
        this.#withoutLiteral += 1;
        if (this.#withoutLiteral > MAX_WITHOUT_LITERAL) {
          throw new RegexRefusal(`it has no literal, and ${MAX_WITHOUT_LITERAL} others have none`);
        }
        this.#report.withoutLiteral();
      }
      return [{ ...pattern, field, key }];
    } catch (error) {
      if (!(error instanceof RegexRefusal)) throw error;
      this.#report.refusedPattern(place, error.message);
      return [];
    }
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
