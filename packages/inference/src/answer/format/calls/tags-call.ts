// Reads calls that are elements: `<invoke name="add"><parameter name="a">1</parameter></invoke>` and its variants. Values
// are text; the tool's schema gives their types. Each argument is emitted when it is complete, a string as it arrives.

import type { Cursor, Reading } from '../cursor.ts';
import { Marks } from '../marks.ts';
import { MAX_HEADER, type TagsBody } from '../syntax.ts';
import type { CallableTool, CallWriter, Schema } from './call-writer.ts';
import { parsed } from './json-call.ts';
import { nestedJson } from './nested-value.ts';
import { isSchema, parameterSchema, typedJson, typesOf } from './typed-value.ts';

/** Reads a call, and those that follow it directly; false without one. */
export function* readTagsCalls(cursor: Cursor, calls: CallWriter, body: TagsBody): Reading<boolean> {
  const { next } = marksOf(body);
  for (let hasCall = false; ; hasCall = true) {
    if (hasCall) {
      yield* cursor.passSpace();
      if ((yield* cursor.markHere(next)) === undefined) return true;
      cursor.keptFrom = cursor.at;
    }
    const from = cursor.at;
    if (yield* readTagsCall(cursor, calls, body)) continue;
    cursor.at = from;
    return hasCall;
  }
}

function* readTagsCall(cursor: Cursor, calls: CallWriter, body: TagsBody): Reading<boolean> {
  if (!(yield* cursor.pass(body.call.open))) return false;
  const header = yield* readHeader(cursor, body.call.until, marksOf(body).callHeader);
  const tool = calls.tool(nameIn(header));
  if (!tool) return false;
  const reader = new ArgumentsReader(cursor, calls, { body, tool });
  if (body.isChecked) return yield* reader.checked();
  cursor.keptFrom = undefined;
  calls.begin(tool.name);
  calls.arguments('{');
  yield* reader.all((text) => calls.arguments(text));
  calls.arguments('}');
  cursor.keptFrom = undefined;
  return true;
}

class ArgumentsReader {
  readonly #cursor: Cursor;
  readonly #calls: CallWriter;
  readonly #body: TagsBody;
  readonly #tool: CallableTool;
  readonly #names = new Set<string>();
  #isInvalid = false;

  constructor(cursor: Cursor, calls: CallWriter, { body, tool }: { body: TagsBody; tool: CallableTool }) {
    this.#cursor = cursor;
    this.#calls = calls;
    this.#body = body;
    this.#tool = tool;
  }

  /** Emits the call at its end, if it has what its tool requires. */
  *checked(): Reading<boolean> {
    let text = '{';
    yield* this.all((each) => {
      text += each;
    });
    const given = unwrapped(parsed(`${text}}`), this.#tool.parameters);
    const { required } = this.#tool.parameters ?? {};
    const isComplete = !Array.isArray(required) || required.every((name) => Object.hasOwn(given ?? {}, String(name)));
    if (this.#isInvalid || this.#cursor.isFull || !given || !isComplete) return false;
    const json = written(given);
    if (json === undefined) return false;
    this.#calls.begin(this.#tool.name);
    this.#calls.arguments(json);
    return true;
  }

  *all(emit: (text: string) => void): Reading {
    const { param, callEnd, isChecked } = this.#body;
    const { inCall } = marksOf(this.#body);
    while (!isChecked || !this.#isInvalid) {
      // Text between parameters has no meaning.
      const mark = yield* this.#cursor.until(inCall);
      if (mark === undefined) return;
      this.#cursor.at += mark.length;
      if (mark === callEnd && mark !== param.open) return;
      yield* this.#one(emit);
    }
  }

  *#one(emit: (text: string) => void): Reading {
    const { param, valueOpen } = this.#body;
    const cursor = this.#cursor;
    const header = yield* readHeader(cursor, param.until, marksOf(this.#body).paramHeader);
    const name = nameIn(header) ?? '';
    if (name === '' || this.#names.has(name)) {
      this.#isInvalid = true;
      return;
    }
    if (valueOpen !== undefined) {
      yield* cursor.passSpace();
      yield* cursor.pass(valueOpen);
    }
    emit(`${this.#names.size > 0 ? ', ' : ''}${JSON.stringify(name)}: `);
    this.#names.add(name);
    yield* this.#value(name, header, emit);
  }

  *#value(name: string, header: string, emit: (text: string) => void): Reading {
    const { param, paramEnd, isPadded, nested, hasCdata, isChecked } = this.#body;
    const cursor = this.#cursor;
    const isString = /\b(?:string="true"|type="string")/.test(header);
    const schema = parameterSchema(this.#tool.parameters, name);
    const types = isString
      ? STRING
      : /\bstring="false"/.test(header)
        ? undefined
        : typesOf(schema, this.#tool.parameters);
    const end = paramEnd.replace('NAME', () => name);
    const isCdata = hasCdata && (yield* cursor.pass(CDATA));
    const ends = isCdata ? CDATA_END : (marksOf(this.#body).value ?? new Marks([end]));
    if (isPadded) yield* cursor.pass('\n');
    const from = cursor.at;
    const isText = types?.size === 1 && types.has('string');
    const kept = cursor.keptFrom;
    if (isText) emit('"');
    else cursor.keptFrom ??= from;
    const onText = (start: number, to: number) => emit(JSON.stringify(cursor.slice(start, to)).slice(1, -1));
    const inner = nested === undefined || isText ? undefined : `${param.open}${name}${param.until}`;
    let mark =
      inner === undefined ? yield* cursor.until(ends, isText ? { onText } : {}) : yield* untilOuter(cursor, inner, end);
    if (isText) emit('"');
    else if (cursor.isFull && !isChecked) {
      // What is too long to be kept until its end is a string.
      emit('"');
      onText(from, cursor.at);
      cursor.keptFrom = undefined;
      mark = yield* cursor.until(ends, { onText });
      emit('"');
    } else {
      const text = cursor.slice(from);
      emit(
        (nested !== undefined && nestedJson(text, { nested, schema, root: this.#tool.parameters })) ||
          typedJson(text, types),
      );
    }
    cursor.keptFrom = kept;
    if (mark !== undefined && (isCdata || mark.endsWith(end))) cursor.at += mark.length;
  }
}

/** Up to the end of an element that may contain elements of its name. */
function* untilOuter(cursor: Cursor, open: string, end: string): Reading<string | undefined> {
  const marks = new Marks([open, end]);
  for (let depth = 1; ; ) {
    const mark = yield* cursor.until(marks);
    depth += mark === open ? 1 : -1;
    if (mark === undefined || depth === 0) return mark;
    cursor.at += mark.length;
  }
}

/** Undefined for what is nested too deeply to be written. */
function written(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** The declared arguments. Some models give all of them as one parameter that the tool does not have. */
function unwrapped(given: unknown, schema: Schema | undefined): Schema | undefined {
  if (!isSchema(given)) return undefined;
  const [[name = '', value] = [], ...more] = Object.entries(given);
  const isWrapper = (name === 'arguments' || name === 'properties') && more.length === 0;
  const all = isWrapper && isSchema(value) && !parameterSchema(schema, name) ? value : given;
  if (!isSchema(schema?.properties)) return all;
  return Object.fromEntries(Object.entries(all).filter(([each]) => parameterSchema(schema, each)));
}

const STRING = new Set(['string'] as const);

const CDATA = '<![CDATA[';
const CDATA_END = new Marks([']]>']);

interface TagsMarks {
  readonly next: Marks;
  readonly callHeader: Marks;
  readonly inCall: Marks;
  readonly paramHeader: Marks;
  /** Undefined: the end of a value depends on its name. */
  readonly value: Marks | undefined;
}

const known = new WeakMap<TagsBody, TagsMarks>();

function marksOf(body: TagsBody): TagsMarks {
  const { call, callEnd, param, paramEnd, isPadded, nested, valueOpen } = body;
  const cached = known.get(body);
  if (cached) return cached;
  // A value without its end is ended by what follows it.
  const ends = [paramEnd, ...(valueOpen === undefined ? [param.open, callEnd] : [])];
  const marks = {
    next: new Marks([call.open]),
    callHeader: new Marks([call.until, param.open, callEnd]),
    inCall: new Marks([param.open, callEnd]),
    paramHeader: new Marks([param.until]),
    value:
      nested === undefined ? new Marks(ends.flatMap((mark) => (isPadded ? [`\n${mark}`, mark] : [mark]))) : undefined,
  };
  known.set(body, marks);
  return marks;
}

/** The text of a tag up to its end, which is passed; other marks end it too, and are not. */
function* readHeader(cursor: Cursor, end: string, marks: Marks): Reading<string> {
  const { text, mark } = yield* cursor.taking(marks, { max: MAX_HEADER });
  if (mark === end) cursor.at += mark.length;
  return text;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
};

/** The name in a tag: of an attribute, after `=`, or all of its text. */
function nameIn(header: string): string | undefined {
  const [, double, attribute = double] = /(?:^|\s)(?:name|tool|key)=(?:"([^"]*)"|'([^']*)')/.exec(header) ?? [];
  if (attribute !== undefined)
    return attribute.replace(/&(?:amp|lt|gt|quot|apos);/g, (entity) => ENTITIES[entity] ?? entity);
  const text = header.trim();
  return (text.startsWith('=') ? text.slice(1) : text).trim().replace(/^"(.*)"$/, '$1') || undefined;
}
