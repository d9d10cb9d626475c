// The settings file: YAML (and so JSON), one map, `stack_port: 8787` for STRATA_STACK_PORT; options of a setting in a map
// of its own, `p2p: { mdns: off }` for `STRATA_P2P=mdns=off`.
import { nearestName } from '@strata/http/nearest-names';
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from 'yaml';

/** A setting of the file, as text in the format of the environment. */
export interface FileEntry {
  readonly key: string;
  readonly value: string;
  readonly line: number;
}

export interface FileContent {
  readonly entries: readonly FileEntry[];
  /** One message each, without the file name. */
  readonly problems: readonly string[];
}

/** The settings whose value is a map of maps, in the environment JSON. */
const MAPS: ReadonlySet<string> = new Set(['upstreams']);

/** Parses a settings file; `lists` are the names of settings with options. Reports every problem, not only the first. */
export function parseSettingsFile(text: string, lists: ReadonlySet<string> = new Set()): FileContent {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  const lineOf = (node: Node | null | undefined) => (node?.range ? counter.linePos(node.range[0]).line : 1);
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ message, pos }) => `line ${counter.linePos(pos[0]).line}: ${message}`);
    return { entries: [], problems };
  }
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) return { entries: [], problems: [] };
  if (!isMap(contents)) return { entries: [], problems: ['it must be a map with one `name: value` a line'] };
  const entries: FileEntry[] = [];
  const problems: string[] = [];
  for (const { key, value } of contents.items) {
    const name = isScalar(key) ? String(key.value) : '';
    const line = lineOf(key as Node);
    const given =
      isMap(value) && MAPS.has(name)
        ? JSON.stringify(value.toJS(document))
        : isMap(value) && lists.has(name)
          ? itemsText(value)
          : textOf(value as Node | null);
    if (given === undefined) {
      const hint = isMap(value) ? mapHint(name, lists) : '';
      problems.push(`line ${line}: ${name}: must be a value or a list of values${hint}`);
    } else if (given !== '') entries.push({ key: name, value: given, line });
  }
  return { entries, problems };
}

/** For a map that is not accepted: of a setting with options, or perhaps meant for one. */
function mapHint(name: string, lists: ReadonlySet<string>): string {
  if (lists.has(name)) return ', or a map of options';
  const near = nearestName(name, [...lists]);
  return near === undefined ? '' : `; did you mean ${near}, which can be a map?`;
}

/** The text of a value; empty for null, undefined for a value that the environment cannot represent. */
function textOf(node: Node | null): string | undefined {
  if (node === null) return '';
  if (isScalar(node)) return plain(node.value);
  if (!isSeq(node)) return undefined;
  const items = node.items.map((item) => (isScalar(item) ? plain(item.value) : undefined));
  // Lists are comma-separated.
  return items.every((item) => item !== undefined && item !== '' && !item.includes(',')) ? items.join(',') : undefined;
}

/** `name=value` of each option. */
function itemsText({ items }: YAMLMap): string | undefined {
  const texts = items.map(({ key, value }) => {
    const text = textOf(value as Node | null);
    return isScalar(key) && text !== undefined ? `${key.value}=${text}` : undefined;
  });
  return texts.every((text) => text !== undefined) ? texts.join(',') : undefined;
}

function plain(value: unknown): string | undefined {
  if (value === null) return '';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint') return String(value);
  return undefined;
}
