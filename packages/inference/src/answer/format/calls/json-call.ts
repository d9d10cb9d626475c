// Reads calls that are JSON objects, and the JSON arguments of other calls, character by character.

import type { Cursor, Reading } from '../cursor.ts';
import { Marks } from '../marks.ts';
import { MAX_HEADER } from '../syntax.ts';
import type { CallWriter } from './call-writer.ts';

const NAMES = new Set(['name', 'tool_name', 'function_name', 'function', 'tool']);
const ARGUMENTS = new Set(['arguments', 'parameters', 'args', 'input']);
/** Other keys that a call may begin with. */
const EXTRA_KEYS = new Set(['id', 'type', 'index', 'tool_call_id', 'call_id']);
const BRACE = new Marks(['{']);

/** Reads one call or a list of calls; false without one. */
export function* readJsonCalls(cursor: Cursor, calls: CallWriter, { isKeyed = false } = {}): Reading<boolean> {
  yield* cursor.passSpace();
  if (!(yield* cursor.pass('['))) return yield* readCall(cursor, calls, isKeyed);
  let hasCall = false;
  for (;;) {
    yield* cursor.passSpace();
    const next = yield* cursor.peek();
    if (next === '{') {
      const from = cursor.at;
      if (hasCall) cursor.keptFrom = from;
      if (yield* readCall(cursor, calls, isKeyed)) hasCall = true;
      else {
        cursor.at = from;
        return hasCall;
      }
    } else if (next === ',' && hasCall) cursor.at += 1;
    else {
      if (next === ']') cursor.at += 1;
      return hasCall;
    }
  }
}

/** Reads a header with the name of the tool, then the arguments. */
export function* readNamedCall(cursor: Cursor, calls: CallWriter, header: RegExp): Reading<boolean> {
  const from = cursor.at;
  if ((yield* cursor.until(BRACE, { max: MAX_HEADER })) === undefined) return false;
  const name = header.exec(cursor.slice(from).replaceAll(/\s/g, ''))?.[1];
  return calls.tool(name) !== undefined && (yield* streamArguments(cursor, calls, name as string));
}

function* readCall(cursor: Cursor, calls: CallWriter, isKeyed: boolean, isNested = false): Reading<boolean> {
  if (!(yield* cursor.pass('{'))) return false;
  let name: string | undefined;
  let given: string | undefined;
  for (let isFirst = true; ; isFirst = false) {
    yield* cursor.passSpace();
    if (!isFirst && (yield* cursor.pass(','))) yield* cursor.passSpace();
    if (yield* cursor.pass('}')) break;
    const key = parsed(yield* readValue(cursor));
    if (typeof key !== 'string') return false;
    const isKey =
      NAMES.has(key) || ARGUMENTS.has(key) || EXTRA_KEYS.has(key) || (isKeyed && calls.tool(key) !== undefined);
    if (!isKey && name === undefined) return false;
    yield* cursor.passSpace();
    if (!(yield* cursor.pass(':'))) return false;
    yield* cursor.passSpace();
    const next = yield* cursor.peek();
    if (isKeyed && next === '{' && calls.tool(key)) return yield* streamRest(cursor, calls, key);
    if (NAMES.has(key) && name === undefined) {
      // `{"type": "function", "function": {"name": …}}`
      if (next === '{') return !isNested && (yield* readCall(cursor, calls, false, true)) && (yield* passRest(cursor));
      const value = parsed(yield* readValue(cursor));
      if (typeof value !== 'string' || !calls.tool(value)) return false;
      name = value;
    } else if (ARGUMENTS.has(key) && given === undefined) {
      if (next === '{' && name !== undefined) return yield* streamRest(cursor, calls, name);
      given = yield* readValue(cursor);
      if (given === undefined) return false;
    } else if ((yield* readValue(cursor)) === undefined) return false;
  }
  if (name === undefined) return false;
  const value = parsed(given ?? '{}');
  // Some models write the arguments as a string that contains JSON.
  const text = typeof value === 'string' ? value : (given ?? '{}');
  if (parsed(text) === undefined) return false;
  calls.begin(name);
  calls.arguments(text);
  return true;
}

function* streamRest(cursor: Cursor, calls: CallWriter, name: string): Reading<boolean> {
  if (!(yield* streamArguments(cursor, calls, name))) return false;
  return calls.isBroken || (yield* passRest(cursor));
}

/** Emits the call and the object at the cursor as it arrives. If that is not JSON the call is broken. */
export function* streamArguments(cursor: Cursor, calls: CallWriter, name: string): Reading<boolean> {
  const from = cursor.at;
  cursor.at += 1;
  yield* cursor.passSpace();
  const first = yield* cursor.peek();
  cursor.at = from;
  if (first !== '"' && first !== '}') return false;
  cursor.keptFrom = undefined;
  calls.begin(name);
  if (!(yield* readContainer(cursor, { depth: 0, onText: (text) => calls.arguments(text) }))) calls.isBroken = true;
  return true;
}

/** Passes what follows the arguments within the object of a call. */
function* passRest(cursor: Cursor): Reading<true> {
  yield* readContainer(cursor, { depth: 1 });
  return true;
}

/** The text of a JSON value; undefined without one. What is read must be kept. */
export function* readValue(cursor: Cursor): Reading<string | undefined> {
  const from = cursor.at;
  const first = yield* cursor.peek();
  if (first === '{' || first === '[') {
    let json = '';
    const onText = (text: string) => {
      json += text;
    };
    return (yield* readContainer(cursor, { depth: 0, onText })) ? json : undefined;
  }
  if (first !== '"') {
    while (/[-+.\w]/.test(yield* cursor.peek())) cursor.at += 1;
    return cursor.at === from ? undefined : cursor.slice(from);
  }
  for (let isEscaped = true; ; ) {
    const next = yield* cursor.peek();
    if (next === '') return undefined;
    cursor.at += 1;
    if (next === '"' && !isEscaped) return cursor.slice(from);
    // The opening quote is passed as if it were escaped.
    isEscaped = next === '\\' && !isEscaped;
  }
}

/**
 * Passes a value up to its closing bracket; false if it is broken off by what is not JSON. `onText` receives it with
 * escapes where a model forgot them in a string.
 */
function* readContainer(
  cursor: Cursor,
  { depth, onText = () => {} }: { depth: number; readonly onText?: (text: string) => void },
): Reading<boolean> {
  let open = depth;
  let isText = false;
  let isEscaped = false;
  for (;;) {
    const from = cursor.at;
    const text = cursor.rest;
    let end = -1;
    let isBroken = false;
    let escaped = '';
    let done = 0;
    for (let i = 0; i < text.length && end < 0; i += 1) {
      const unit = text[i] as string;
      if (isText && (unit < ' ' || (isEscaped && !ESCAPED.has(unit)))) {
        escaped += text.slice(done, i) + escapeOf(unit, isEscaped);
        done = i + 1;
      }
      if (isEscaped) isEscaped = false;
      else if (isText) {
        if (unit === '\\') isEscaped = true;
        else if (unit === '"') isText = false;
      } else if (unit === '"') isText = true;
      else if (unit === '{' || unit === '[') open += 1;
      else if (unit === '}' || unit === ']') {
        open -= 1;
        if (open === 0) end = i + 1;
      } else if (!/[\s\w.,:+-]/.test(unit)) {
        isBroken = true;
        end = i;
      }
    }
    const length = end < 0 ? text.length : end;
    cursor.at = from + length;
    if (length > 0) onText(escaped + text.slice(done, length));
    if (end >= 0) return !isBroken;
    if (!(yield* cursor.more())) return false;
  }
}

const ESCAPED = new Set('"\\/bfnrtu');

/** The unit as JSON writes it in a string, without the backslash that is there already. */
function escapeOf(unit: string, isEscaped: boolean): string {
  if (unit < ' ') return JSON.stringify(unit).slice(isEscaped ? 2 : 1, -1);
  return `\\${unit}`;
}

export function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
