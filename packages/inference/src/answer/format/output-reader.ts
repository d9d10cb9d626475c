// Reads a generated answer incrementally: separates reasoning and tool calls from the text.

import { readCallBody } from './calls/call-body.ts';
import { type CallableTool, CallWriter, type OutputDelta } from './calls/call-writer.ts';
import { readJsonCalls, streamArguments } from './calls/json-call.ts';
import { readLoneCall } from './calls/lone-call.ts';
import { Cursor, type Reading } from './cursor.ts';
import { type FormatMarks, formatMarks } from './format-marks.ts';
import { HeldText } from './held-text.ts';
import { Marks } from './marks.ts';
import { HEADERS, MESSAGE, MESSAGE_ENDS, routeOf } from './message-header.ts';
import { MAX_HEADER, type OutputFormat } from './syntax.ts';
import { TextWriter } from './text-writer.ts';

export interface OutputReaderOptions {
  /** Calls after this many are dropped. */
  readonly max?: number;
  /** The mark at the end of the prompt that the answer continues, as `openedBy` finds it. */
  readonly opening?: string | undefined;
  /** Reasoning is text as the model wrote it, with its marks. */
  readonly keepsReasoning?: boolean | undefined;
}

/** Characters that may be read again because they resemble a call; after that everything is text. */
const MAX_REREAD = 256 * 1024;
/** Characters of an attempt that are not charged. */
const MAX_FREE = 64;
/** Text about marks may contain any but those of special tokens. */
const SPECIAL = /[|[]/;
const OBJECT = ['{'];
const MESSAGE_MARK = new Marks([MESSAGE]);
const MESSAGE_OVER = new Marks([...MESSAGE_ENDS, ...HEADERS]);

/**
 * Text that cannot be part of a mark is emitted immediately, and so are the arguments of a call as far as its notation
 * allows. The same text gives the same content in whatever pieces it arrives. What resembles a call without being one, or
 * names an unknown tool, is text.
 */
export class OutputReader {
  readonly #format: OutputFormat;
  readonly #held = new HeldText();
  readonly #cursor = new Cursor(this.#held);
  readonly #calls: CallWriter;
  readonly #text: TextWriter;
  readonly #reading: Reading;
  readonly #marks: FormatMarks;
  readonly #keepsReasoning: boolean;
  #rereadable = MAX_REREAD;
  #isReasoning = false;

  constructor(format: OutputFormat, tools: readonly CallableTool[], options: OutputReaderOptions = {}) {
    const { max = Number.POSITIVE_INFINITY, opening = '', keepsReasoning = false } = options;
    const { reasoning } = format;
    this.#format = format;
    this.#keepsReasoning = keepsReasoning;
    this.#calls = new CallWriter(tools, max);
    this.#marks = formatMarks(format, this.#calls);
    this.#text = new TextWriter(this.#held, this.#calls, {
      ...{ trimsCalls: format.trimsCalls, keepsSpace: reasoning?.keepsSpace ?? false, keepsReasoning },
    });
    this.#calls.onCall = () => {
      this.#isReasoning = false;
      this.#text.leaveForCall();
    };
    this.#reading = this.#read();
    this.#held.push(opening, { isControl: !reasoning?.keepsOpen, keptFrom: 0 });
  }

  /** Whether the answer is within reasoning. */
  get isReasoning(): boolean {
    return this.#isReasoning;
  }

  /** The position of the end of what was pushed. */
  get length(): number {
    return this.#held.length;
  }

  /** The position from which on the text is undecided. */
  get kept(): number {
    return this.#cursor.kept;
  }

  /** `isControl`: the text of a control token, which is a mark or nothing. */
  push(text: string, { isControl = false } = {}): readonly OutputDelta[] {
    this.#held.push(text, { isControl, keptFrom: this.#cursor.kept });
    this.#reading.next();
    return this.#calls.take();
  }

  /** Ends the answer: text that is still held back is emitted. */
  end(): readonly OutputDelta[] {
    this.#held.end();
    this.#reading.next();
    return this.#calls.take();
  }

  *#read(): Reading {
    for (;;) {
      if (this.#text.isBlank) yield* this.#bareJson();
      const mark = yield* this.#cursor.until(this.#marks.text, { onText: this.#onText });
      if (mark === undefined) return this.#text.end();
      yield* this.#marked(mark);
    }
  }

  readonly #onText = (from: number, to: number): void => this.#text.write(from, to);

  *#marked(mark: string): Reading {
    const { reasoning, dropped, hasHeaders, held } = this.#format;
    const cursor = this.#cursor;
    const from = cursor.at;
    if (held?.isJson && !this.#text.isBlank) {
      cursor.at += mark.length;
      return this.#text.write(from, cursor.at);
    }
    if (hasHeaders && HEADERS.includes(mark)) return yield* this.#message(mark);
    const isSpokenOf = !this.#text.isBlank && !SPECIAL.test(mark) && !this.#held.isControl(from);
    const isOpen = reasoning?.opens.includes(mark) ?? false;
    const isStray = reasoning?.closes.includes(mark) ?? false;
    if (reasoning && isOpen && !isSpokenOf) {
      cursor.at += mark.length;
      this.#text.leaveMark(from, cursor.at);
      if (reasoning.keepsOpen && !this.#keepsReasoning) this.#text.write(from, cursor.at, 'reasoning');
      return yield* this.#reasoning();
    }
    if (dropped.includes(mark)) {
      cursor.at += mark.length;
      return this.#text.leave();
    }
    if (isStray && reasoning?.dropsStray && this.#text.isBlank) {
      cursor.at += mark.length;
      return this.#text.leaveMark(from, cursor.at);
    }
    if (!isStray && (yield* this.#call())) return yield* this.#afterCall();
    cursor.at = from + mark.length;
    if (isStray && this.#keepsReasoning) this.#held.show(from, cursor.at);
    this.#text.write(from, cursor.at);
  }

  *#reasoning(): Reading {
    this.#isReasoning = true;
    const hasCall = yield* this.#reasoningPart();
    this.#isReasoning = false;
    if (hasCall) yield* this.#afterCall();
  }

  /** Up to the end of reasoning, or up to a call that the model made without ending it: whether there was one. */
  *#reasoningPart(): Reading<boolean> {
    const cursor = this.#cursor;
    const { reasoning, hasHeaders } = this.#format;
    const onText = (from: number, to: number) => this.#text.write(from, to, 'reasoning');
    if (!this.#keepsReasoning) yield* cursor.passSpace();
    const isRaw = this.#keepsReasoning || reasoning?.keepsOpen;
    for (const open of isRaw ? [] : (reasoning?.opens ?? [])) if (yield* cursor.pass(open)) break;
    for (;;) {
      const mark = yield* cursor.until(this.#marks.reasoning, { onText });
      const from = cursor.at;
      if (mark === undefined || reasoning?.closes.includes(mark)) {
        cursor.at += mark?.length ?? 0;
        this.#text.leaveMark(from, cursor.at);
        return false;
      }
      if (hasHeaders) {
        this.#text.leave();
        return false;
      }
      // Without tools a call is text, but not reasoning.
      if (!this.#calls.hasTools) {
        this.#text.leaveForCall();
        return false;
      }
      if (yield* this.#call()) return true;
      cursor.at = from + mark.length;
      onText(from, cursor.at);
    }
  }

  /** Reads a call or a list of calls; false, and nothing read, without one. */
  *#call(): Reading<boolean> {
    const cursor = this.#cursor;
    const from = cursor.at;
    for (const { syntax, opens, bare } of this.#rereadable > 0 ? this.#marks.syntaxes : []) {
      cursor.at = from;
      cursor.keptFrom = from;
      if (yield* this.#passOpens(opens)) {
        if (yield* this.#attempt(readCallBody(cursor, this.#calls, syntax), syntax.closes)) return true;
      } else if ((yield* cursor.markHere(bare)) !== undefined) {
        const body = readCallBody(cursor, this.#calls, syntax);
        const isCertain = this.#text.isBlank && syntax.body.kind !== 'python';
        const lone = { body, ends: this.#marks.ends, isLine: this.#text.isLineStart };
        if (yield* this.#attempt(isCertain ? body : readLoneCall(cursor, this.#calls, lone))) return true;
      }
    }
    cursor.at = from;
    cursor.keptFrom = undefined;
    return false;
  }

  /** Reads calls, and charges for what is to be read again. A call that is broken off is passed up to its mark. */
  *#attempt(body: Reading<boolean>, closes: readonly string[] = []): Reading<boolean> {
    const cursor = this.#cursor;
    const { kept } = cursor;
    cursor.furthest = kept;
    const hasCall = yield* body;
    cursor.keptFrom = undefined;
    if (hasCall && this.#calls.isBroken) yield* cursor.until(new Marks(closes.length > 0 ? closes : ['\n']));
    this.#calls.isBroken = false;
    this.#rereadable -= Math.max(0, cursor.furthest - (hasCall ? cursor.at : kept) - MAX_FREE);
    return hasCall;
  }

  /** An answer that is a JSON object may be a call, whatever the family: the prompt may ask for it. */
  *#bareJson(): Reading {
    const cursor = this.#cursor;
    if (!this.#calls.hasTools || this.#rereadable <= 0) return;
    const from = cursor.at;
    cursor.keptFrom = from;
    yield* cursor.passSpace();
    const starts = this.#format.held?.bare ?? OBJECT;
    if (starts.includes(yield* cursor.peek()) && (yield* this.#attempt(readJsonCalls(cursor, this.#calls))))
      return yield* this.#afterCall();
    cursor.at = from;
    cursor.keptFrom = undefined;
  }

  *#passOpens(opens: Marks): Reading<boolean> {
    for (let isOpened = false; ; isOpened = true) {
      const mark = yield* this.#cursor.markHere(opens);
      if (mark === undefined) return isOpened;
      this.#cursor.at += mark.length;
      yield* this.#cursor.passSpace();
    }
  }

  /** Between calls, or after the last one. */
  *#afterCall(): Reading {
    const cursor = this.#cursor;
    for (;;) {
      yield* cursor.passSpace();
      const from = cursor.at;
      // Between objects without marks.
      if (/[,;]/.test(yield* cursor.peek())) {
        cursor.keptFrom = from;
        cursor.at += 1;
        yield* cursor.passSpace();
      }
      const mark = yield* cursor.markHere(this.#marks.after);
      if (mark !== undefined && this.#marks.closes.has(mark)) cursor.at += mark.length;
      else if (mark === undefined && (yield* cursor.peek()) === '{') {
        cursor.keptFrom = from;
        if (yield* this.#attempt(readJsonCalls(cursor, this.#calls))) continue;
        cursor.at = from;
        return;
      } else if (mark === undefined || !(yield* this.#call())) {
        cursor.at = from;
        cursor.keptFrom = undefined;
        return;
      }
      cursor.keptFrom = undefined;
    }
  }

  /** Reads the header of a message, and the message if it is not text. */
  *#message(mark: string): Reading {
    const cursor = this.#cursor;
    const from = cursor.at;
    cursor.keptFrom = from;
    const isHeader = (yield* cursor.until(MESSAGE_MARK, { max: MAX_HEADER })) === MESSAGE;
    const header = cursor.slice(from);
    cursor.at = isHeader ? cursor.at + MESSAGE.length : from + mark.length;
    cursor.keptFrom = undefined;
    if (!isHeader) return this.#text.write(from, cursor.at);
    this.#text.leave();
    const route = routeOf(header);
    if (route.kind === 'reasoning') {
      this.#text.leaveMark(from, cursor.at);
      return yield* this.#reasoning();
    }
    if (route.kind !== 'call') return;
    yield* cursor.passSpace();
    cursor.keptFrom = cursor.at;
    const isJson = (yield* cursor.peek()) === '{';
    if (isJson && this.#calls.tool(route.name)) yield* streamArguments(cursor, this.#calls, route.name);
    else if (!isJson) yield* this.#call();
    cursor.keptFrom = undefined;
    // Any other text to a tool, and any text to an unknown one, is dropped.
    yield* cursor.until(MESSAGE_OVER);
  }
}
